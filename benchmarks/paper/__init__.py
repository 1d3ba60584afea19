"""The methods paper docs/paper/index.md: computation of its figures and numbers."""
