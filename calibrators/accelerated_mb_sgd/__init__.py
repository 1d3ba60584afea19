"""The calibrator accelerated-mb-sgd."""
