"""One file for each kind of figure, and one for what they share."""
