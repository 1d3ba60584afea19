"""The calibrator mb-sgd."""
