"""docs/experiments.md: the papers' experiments, from answers that are stored next to the page's figures."""
