"""Measured excess risk beside its bounds."""
