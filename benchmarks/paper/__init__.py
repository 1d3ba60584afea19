"""The methods paper: its figures and every number in it, computed, drawn and filled into docs/paper/index.md."""
