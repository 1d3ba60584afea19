"""The commands, a family a file. Each file has `add(main)`, and `epsilond/cli.py` is the list of them."""
