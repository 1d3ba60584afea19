"""The calibrator gaussian."""
