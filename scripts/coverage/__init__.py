"""The numbered statements of the five papers with the places where they are served, for docs/coverage.md."""
