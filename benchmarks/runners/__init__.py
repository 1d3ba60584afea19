"""One runner for each accountant, started with that accountant's interpreter, so that it imports nothing else.

A runner reads questions from standard input and writes results to standard output, one JSON object a line.
"""
