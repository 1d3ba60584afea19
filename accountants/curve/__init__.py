"""Privacy curves: profiles, pairs of distributions with what is known of them, and ε(δ)."""
