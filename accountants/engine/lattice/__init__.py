"""The lattice engine: compositions of any laws that are known by their tails."""
