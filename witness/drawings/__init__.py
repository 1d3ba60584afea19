"""Drawings of answers, with one file for each kind of figure and one for the shared style."""
