"""The pure mathematics of a budget that is held over time: states, charges, and the moves between states."""
