"""The books of a budget that is held over time: what was promised and spent, kept so that nobody can rewrite it."""
