"""Choice of one candidate by noisy scores."""
