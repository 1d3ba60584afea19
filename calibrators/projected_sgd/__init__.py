"""The calibrator projected-sgd."""
