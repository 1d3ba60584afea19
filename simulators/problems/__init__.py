"""Learning problems with exactly known constants."""
