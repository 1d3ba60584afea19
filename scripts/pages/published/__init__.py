"""docs/published-figures.md: figures of papers, documents and deployments, computed again."""
