"""Plain statements about a guarantee, each implied by the setting, the spec and the declared conditions."""
