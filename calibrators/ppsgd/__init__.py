"""The calibrator ppsgd."""
