"""The calibrator one-pass-accelerated-mb-sgd."""
