"""What is said of a proof, a signature or a document that does not hold."""

from __future__ import annotations

from epsilond.accountants.errors import EpsilondError


class NotVerified(EpsilondError, ValueError):
    """What is claimed does not follow from what was given; the message says what does not."""


class KeysUnusable(EpsilondError, ValueError):
    """The keys that should sign cannot: they are missing, retired, another's, or open to be read by others."""


class Malformed(NotVerified):
    """A text that is not of the form it must have, so that nothing it says was looked at."""
