"""Bietti et al.: generalisation of personalised federated learning."""
