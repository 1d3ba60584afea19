"""Parts of the answers about ledgers that take long to compute."""
