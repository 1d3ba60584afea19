"""Witnesses of a log: the service of a second party that cosigns heads, and how a log has its heads cosigned."""
