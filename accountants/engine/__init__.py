"""The composition engines. Only `accountants.composition` imports them."""
