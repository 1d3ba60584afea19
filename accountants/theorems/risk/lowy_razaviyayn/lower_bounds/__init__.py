"""Lower bounds on the excess risk of private federated learning (Lowy and Razaviyayn 2023)."""
