"""The calibrator qtdl."""
