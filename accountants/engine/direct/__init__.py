"""A few different steps of the sampled Gaussian, convolved directly on a fine lattice."""
