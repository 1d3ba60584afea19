"""A theorem's formula at given inputs."""

from __future__ import annotations

from epsilond.accountants.theorem import Evaluation, Reading, Theorem
from epsilond.accountants.theorems import THEOREMS
from epsilond.reading import read
from epsilond.spelling import choose_by_name


def theorem(theorem_id: str) -> Theorem:
    """Return a theorem by its id.

    Args:
        theorem_id: id of the theorem, as the list of theorems has it.

    Returns:
        The theorem, with its statement, its source and, if it has one, its formula.

    Raises:
        InvalidInput: there is no such theorem; the message proposes similar ids.
    """
    choices = {choice.id: choice for choice in THEOREMS}
    return choose_by_name(theorem_id, choices, at="/id", noun="theorem")


def evaluate(theorem_id: str, /, reading: Reading = "printed", **inputs: object) -> Evaluation:
    """Evaluate a theorem's formula at given inputs, and return its outputs, conditions, status and errata.

    Args:
        theorem_id: id of the theorem.
        reading: `printed` for the formula as the paper has it, with its known errors; otherwise a corrected version.
        **inputs: inputs of the formula, by name.

    Returns:
        The evaluation. Its conditions say whether the theorem holds at these inputs.

    Example:
        >>> import epsilond
        >>> release = {"epsilon": 1.0, "noise_multiplier": 4.0, "relation": "add-or-remove-one"}
        >>> epsilond.evaluate("balle-wang-2018.8", **release).status
        <Status.PROVED: 'proved'>

    Raises:
        InvalidInput: unknown theorem, reading or input, or the theorem is a rule between guarantees without a formula.
    """
    chosen = theorem(theorem_id)
    request: object = None
    if chosen.inputs is not None:
        request = read(chosen.inputs, inputs)
    return chosen.evaluate(request, reading)
