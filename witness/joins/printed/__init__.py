"""Noise and bounds as papers print them, for simulated runs: they are compared with certified ones."""
