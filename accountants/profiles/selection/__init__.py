"""Pairs of mechanisms that choose one of several candidates by their scores."""
