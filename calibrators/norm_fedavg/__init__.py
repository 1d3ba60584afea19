"""The calibrator norm-fedavg."""
