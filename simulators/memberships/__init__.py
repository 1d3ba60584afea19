"""Membership inference on models that were trained with noise: canaries, the training, and what an attacker scores."""
