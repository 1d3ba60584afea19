"""Parts of the integral for E[S₊], the mean positive part of a sum S: the tilted sum, and the period of its rule."""
