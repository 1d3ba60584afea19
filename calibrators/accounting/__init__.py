"""Parts of accounts: the points at which the curve is read, and figures of attackers."""
