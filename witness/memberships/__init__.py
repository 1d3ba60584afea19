"""Membership inference on noisy trainings: lower bounds on ε from attacks, compared with the certificate."""
