"""Errors of proofs, signatures and documents that do not hold."""

from __future__ import annotations

from epsilond.accountants.errors import EpsilondError


class NotVerified(EpsilondError, ValueError):
    """A claim does not follow from the evidence. The message names the part that fails."""


class KeysUnusable(EpsilondError, ValueError):
    """The signing keys cannot sign: they are missing, retired, of another log, or readable by other users."""


class Malformed(NotVerified):
    """A text does not have its required form. None of its content was examined."""
