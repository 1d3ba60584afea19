"""`python -m epsilond` is the command line. Worker processes import this file too, and must not start it."""

from epsilond.cli import main

if __name__ == "__main__":
    main()
