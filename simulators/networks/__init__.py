"""Networks of the papers' experiments, trained by federated algorithms on images; they need torch."""
