"""Risk bounds: what a run's excess risk is at most and at least."""
