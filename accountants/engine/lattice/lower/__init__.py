"""Steps of the construction of a dominated lattice distribution: its lattice points, and the ends of the loss."""
