"""How an attack takes part in a random batch."""
