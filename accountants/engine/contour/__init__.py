"""The contour engine: compositions of losses with known transforms."""
