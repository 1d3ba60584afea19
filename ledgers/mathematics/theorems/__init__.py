"""Budgets that are spent over time by choices that depend on what was released: what holds, and what does not."""
