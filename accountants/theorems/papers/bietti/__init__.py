"""Bietti et al.: the noise of personalised federated learning."""
