"""Terms of binomial probabilities, each with relative accuracy."""
