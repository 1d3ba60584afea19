"""The commands, a family a file. Each file has `add(main)`, and `src/epsilond/cli.py` is the list of them."""
