"""Profiles in closed form: δ(ε) of concrete distributions, and their amplification by subsampling."""
