"""Who asks: keys, addresses, tokens, and what each may do."""
