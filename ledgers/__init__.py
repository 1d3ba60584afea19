"""Privacy budgets that are kept over time: their entries, and the moves that change them."""
