"""Membership inference on noisy trainings: what attackers prove of ε, beside what is certified."""
