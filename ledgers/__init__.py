"""Budgets of privacy that are kept over time: what stands in the books, and how it is moved."""
