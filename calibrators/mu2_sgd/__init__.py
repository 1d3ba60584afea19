"""The calibrator mu2-sgd."""
