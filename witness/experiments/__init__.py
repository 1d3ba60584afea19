"""The papers' experiments, one file each. `witness/presets.py` has the list of them."""
