"""The mathematics of privacy and its certification: pure functions of numbers, no I/O, no clock, no globals."""

from epsilond.accountants.numerics.compiled import load_kernel

VERSION = "0.3.0"
"""The project's version."""
ENGINE_VERSION = f"{VERSION}+{'kernel' if load_kernel() else 'python'}"
"""Version of everything that can change a number: the project's version, and whether the compiled kernel is used."""
