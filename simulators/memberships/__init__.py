"""Membership inference on models trained with noise: canaries, training, and the attacker's scores."""
