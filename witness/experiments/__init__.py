"""The papers' experiments, with one file for each; `witness/presets.py` lists them."""
