"""Selection of the best of several runs."""
