"""Privacy curves: profiles, pairs of distributions with facts about them, and ε(δ)."""
