"""The calibrator shuffled-mb-sgd."""
