"""Transforms of privacy losses, with their quadrature errors bounded."""
