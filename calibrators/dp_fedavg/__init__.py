"""The calibrator dp-fedavg."""
