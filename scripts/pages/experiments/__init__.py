"""docs/experiments.md: the papers' experiments, from answers that are stored beside the page's figures."""
