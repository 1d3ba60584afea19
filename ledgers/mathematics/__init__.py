"""The pure mathematics of a budget that is kept over time: states, charges, and the moves between states."""
