"""Plans: one problem, every algorithm side by side."""
