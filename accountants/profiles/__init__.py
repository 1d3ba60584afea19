"""Profiles in closed form: δ(ε) of concrete laws, and what amplification makes of a profile."""
