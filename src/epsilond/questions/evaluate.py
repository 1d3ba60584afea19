"""A theorem's formula at given inputs."""

from __future__ import annotations

from epsilond.accountants.theorem import Evaluation, Reading, Theorem
from epsilond.accountants.theorems import THEOREMS
from epsilond.reading import read
from epsilond.spelling import named


def theorem(theorem_id: str) -> Theorem:
    """The theorem of that id.

    Raises:
        InvalidInput: there is none; the message proposes near ids.
    """
    return named(theorem_id, {each.id: each for each in THEOREMS}, at="/id", noun="theorem")


def evaluate(theorem_id: str, /, reading: Reading = "printed", **inputs: object) -> Evaluation:
    """A theorem's formula at given inputs, its conditions there, its status and its errata.

    Example:
        >>> import epsilond
        >>> release = {"epsilon": 1.0, "noise_multiplier": 4.0, "relation": "add-or-remove-one"}
        >>> epsilond.evaluate("balle-wang-2018.8", **release).status
        <Status.PROVED: 'proved'>

    Raises:
        InvalidInput: no such theorem, reading or input, or the theorem is a rule between guarantees without a formula.
    """
    chosen = theorem(theorem_id)
    return chosen.evaluate(read(chosen.inputs, inputs) if chosen.inputs is not None else None, reading)
