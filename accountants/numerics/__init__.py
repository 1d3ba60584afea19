"""Special functions, sums and searches in double arithmetic, each with a stated accuracy."""
