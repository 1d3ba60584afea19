"""Parts of the choice of a lattice of losses: the requirements, the lattice unit, and the bounds of the cells."""
