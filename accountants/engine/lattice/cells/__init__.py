"""From a law of losses to laws on a lattice, one above it and one below."""
