"""Audits: what attacks on a running mechanism prove of its ε."""
