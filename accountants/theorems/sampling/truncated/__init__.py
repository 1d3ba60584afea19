"""Poisson batches of a largest size: of more drawn records, a uniform subset is kept."""
