"""Plain statements of what a guarantee is about, each true by the setting, the spec and the declared conditions."""
