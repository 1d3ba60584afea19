"""Lowy and Razaviyayn: the noise of federated learning without a trusted server, and with a shuffler."""
