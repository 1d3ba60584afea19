"""Requests and responses: bodies, credentials, problems, logs of requests."""
