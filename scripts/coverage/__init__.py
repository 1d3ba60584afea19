"""Every numbered statement of the five papers, and where each is served: what docs/coverage.md is made of."""
