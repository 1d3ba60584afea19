"""Theorems on budgets that are spent over time by choices that depend on earlier outputs, and their counterexamples."""
