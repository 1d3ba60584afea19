"""Measured excess risk, compared with its bounds."""
