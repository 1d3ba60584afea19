"""Das et al.: rounded updates with truncated discrete Laplace noise."""
