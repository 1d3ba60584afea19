"""Passes over the schemas of the OpenAPI document that make it small and readable for client generators."""
