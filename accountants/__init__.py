"""The mathematics of privacy and its certification: pure functions of numbers, no I/O, no clock, no globals."""

ENGINE_VERSION = "0.3.0"
"""Version of everything that can change a number; equal to the project's version."""
