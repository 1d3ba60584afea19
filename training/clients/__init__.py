"""Sources of gradients: the caller's own functions, or features and targets with a built-in loss."""
