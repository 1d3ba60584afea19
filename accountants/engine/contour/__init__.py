"""The contour engine: compositions whose losses have known transforms."""
