"""Learning problems whose constants are known exactly."""
