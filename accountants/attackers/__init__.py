"""Certified figures of an attacker who distinguishes two neighbours, and of divergences, from a privacy curve."""
