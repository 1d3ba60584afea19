"""Where gradients come from: people's own functions, or features and targets with a loss that is given."""
