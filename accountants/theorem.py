"""Theorems as data: the statement, its source, its conditions, and the errors of the printed text.

Only a theorem leads to a guarantee or to the outputs of a printed formula. It takes a spec or guarantees to a
guarantee, or inputs to outputs. Its file holds the `Theorem` object above the function that uses it.
"""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Any, Literal

import numpy as np

from epsilond.accountants.attempts import ConditionResult
from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.formula import FormulaRequest, evaluate_formula, request_of
from epsilond.accountants.json_types import JsonObject
from epsilond.accountants.verdict import Verdict

Reading = Literal["printed", "corrected"]
Outputs = JsonObject
LEAVES_THE_DOUBLES = "these numbers are so far apart that the formula leaves the doubles"


def holds_nan(value: Any) -> bool:
    """Return whether a value is NaN or contains NaN at any depth.

    Args:
        value: a number, text, None, or nested mappings, lists and tuples of these.

    Returns:
        True if the value is NaN, or any number inside it is.
    """
    # Exact types come first, because they are faster to test than subclasses.
    kind = type(value)
    if kind is float:
        return bool(value != value)  # noqa: PLR0124  only NaN differs from itself
    if kind is int or kind is str or kind is bool or value is None:
        return False
    if kind is dict or isinstance(value, Mapping):
        return any(map(holds_nan, value.values()))
    if kind is list or kind is tuple or isinstance(value, list | tuple):
        return any(map(holds_nan, value))
    return isinstance(value, float) and math.isnan(value)


class Status(StrEnum):
    """Whether the statement, read as it is used here, holds."""

    PROVED = "proved"
    REFUTED = "refuted"
    UNPROVED = "unproved"


NEVER_INFINITE = re.compile(r"^lower_|(^|_)(noise_std|noise_multiplier|step_size|shift|scale)(_|$)")
"""Pattern of the names of outputs that are lower bounds or parameters of a run. They are infinite only by overflow."""


def _is_overflow(output: tuple[str, object]) -> bool:
    """Return whether an output is an infinite lower bound, or an infinite parameter of a run.

    Only an overflow has such a result. Other outputs may be infinite: ε = ∞ means that nothing is guaranteed.

    Args:
        output: name and value of the output.
    """
    name, value = output
    is_infinite = isinstance(value, float) and math.isinf(value)
    return is_infinite and NEVER_INFINITE.search(name) is not None


@dataclass(frozen=True)
class Source:
    """The place of a statement in the literature.

    Attributes:
        key: key of the work in the bibliography.
        item: number or name of the statement in the work, such as "Theorem 8".
    """

    key: str
    item: str


@dataclass(frozen=True)
class Sides:
    """Values of both sides of a condition such as left ≤ right, and whether it holds.

    Attributes:
        holds: verdict on the comparison.
        left: value of the left side.
        right: value of the right side.
    """

    holds: Verdict
    left: float
    right: float

    @classmethod
    def at_most(cls, left: float, right: float) -> Sides:
        """Compare the sides of left ≤ right."""
        return cls(Verdict.of(left <= right), left, right)

    @classmethod
    def at_least(cls, left: float, right: float) -> Sides:
        """Compare the sides of left ≥ right."""
        return cls(Verdict.of(left >= right), left, right)

    @classmethod
    def below(cls, left: float, right: float) -> Sides:
        """Compare the sides of left < right."""
        return cls(Verdict.of(left < right), left, right)

    @classmethod
    def above(cls, left: float, right: float) -> Sides:
        """Compare the sides of left > right."""
        return cls(Verdict.of(left > right), left, right)


@dataclass(frozen=True)
class Condition:
    """Condition of a theorem.

    The library evaluates a condition that has a `test`. Otherwise the caller must know that it holds, because it is a
    property of the data, the loss or the program, unless it is `undecidable`.

    Attributes:
        id: name of the condition.
        statement: the condition in words.
        test: function from the inputs of the formula to both sides of the condition; None if the library cannot
            evaluate it.
        undecidable: True for a statement such as δ = o(1/n) that no finite input can settle.
        of_outputs: True if the condition concerns the formula's outputs. The test then also takes `outputs`.
    """

    id: str
    statement: str
    test: Callable[..., Sides] | None = None
    undecidable: bool = False
    of_outputs: bool = False

    @property
    def checked(self) -> bool:
        """True if the library evaluates the condition."""
        return self.test is not None

    def at(self, inputs: object, outputs: Outputs | None = None) -> ConditionResult:
        """Evaluate the condition for a request of the formula.

        Args:
            inputs: the request.
            outputs: outputs of the formula for the request; used only if `of_outputs` is True.

        Returns:
            The verdict, with the id and statement of the condition, and with both sides if it has a test. The verdict
            on a condition without a test is always `undecidable`.
        """
        if self.test is None:
            return ConditionResult(self.id, self.statement, Verdict.UNDECIDABLE)
        further = {"outputs": outputs} if self.of_outputs else {}
        sides = evaluate_formula(self.test, inputs, **further)
        return ConditionResult(self.id, self.statement, sides.holds, sides.left, sides.right)


class Grade(StrEnum):
    """Kind of finding that an erratum is."""

    PROVED_WRONG = "proved-wrong"
    """A statement, or a step of its proof, is false under every reading that we know."""
    MISPRINT = "misprint"
    """A symbol or factor differs from the one that the text uses elsewhere, or that its own proof gives."""
    UNCLEAR = "unclear"
    """The text can be read in several ways, at least one of which holds."""
    REFINEMENT = "refinement"
    """The printed statement holds; a sharper or wider one holds too."""
    WITHDRAWN = "withdrawn"
    """We found a fault where there is none."""

    @property
    def is_error(self) -> bool:
        """True for a false statement and for a misprint."""
        return self in (Grade.PROVED_WRONG, Grade.MISPRINT)


@dataclass(frozen=True)
class Erratum:
    """Finding about a printed text, with its grade.

    Attributes:
        id: name of the finding, such as E-19.
        grade: kind of the finding.
        printed: what the text says, in our words.
        truth: what we find.
        test: pytest node ID of the test that shows it. Another test checks that it exists.
        place: place in the text, such as "Section 2.2, after (9)"; empty if it is not recorded.
        charitable: the most charitable interpretation of the text, and its consequence; empty if it is not recorded.
    """

    id: str
    grade: Grade
    printed: str
    truth: str
    test: str
    place: str = ""
    charitable: str = ""


@dataclass(frozen=True)
class Step:
    """Step of a derivation: a theorem that is applied to inputs.

    Attributes:
        theorem: id of the theorem.
        inputs: numbers and words to which the theorem is applied, by name.
        premises: earlier steps with conclusions that the theorem uses.
    """

    theorem: str
    inputs: JsonObject
    premises: tuple[Step, ...] = ()

    def __hash__(self) -> int:
        """Return a hash that ignores the values of the inputs, which need not be hashable."""
        return hash((self.theorem, tuple(self.inputs), self.premises))


@dataclass(frozen=True)
class Evaluation:
    """Outputs of a theorem's formula for a request, with the results of the theorem's conditions.

    Attributes:
        outputs: numbers and words by name.
        conditions: result of each condition of the theorem for the request.
        status: whether the theorem is proved, refuted or unproved.
        errata: findings about the printed text.
        reading: version of the formula that was evaluated: "printed" as in the source, or "corrected" by its errata.
    """

    outputs: Outputs
    conditions: tuple[ConditionResult, ...]
    status: Status
    errata: tuple[Erratum, ...]
    reading: Reading


@dataclass(frozen=True, kw_only=True)
class Theorem:
    """Mathematical statement with its source, conditions, errata and status, and with its formula if it has one.

    Attributes:
        id: name, which never changes its meaning. A corrected statement gets a new name.
        title: short title.
        statement: the statement in words and formulas.
        source: place of the statement in the literature or in the project's documents.
        status: whether it is proved, refuted or unproved.
        conditions: conditions under which it holds.
        errata: findings about the printed text.
        constants: whether the constants of the statement are explicit, or hidden in an O(·).
        inputs: request dataclass of `formula`, from which schema and documents follow. By default it is made from the
            formula's signature (`accountants/formula.py`). None if there is no formula.
        formula: function from a request to outputs; None for a theorem that is only about guarantees.
        examples: requests for the documents and tests.
    """

    id: str
    title: str
    statement: str
    source: Source
    status: Status
    conditions: tuple[Condition, ...] = ()
    errata: tuple[Erratum, ...] = ()
    constants: Literal["explicit", "hidden"] = "explicit"
    inputs: type | None = None
    formula: Callable[..., Outputs] | None = field(default=None, compare=False)
    examples: tuple[JsonObject, ...] = ()

    def __post_init__(self) -> None:
        """Make the request class from the formula's signature if none is given."""
        if self.inputs is None and self.formula is not None:
            object.__setattr__(self, "inputs", request_of(self.formula))

    def __hash__(self) -> int:
        """Return the hash of the id, which no two theorems share."""
        return hash(self.id)

    def request(self, **fields: object) -> FormulaRequest:
        """Make a request of the formula, the argument of `evaluate`, and check its fields.

        Args:
            fields: values of the request's fields by name.

        Raises:
            InvalidInput: the theorem has no formula, or the value of a field is not allowed.
        """
        if self.inputs is None:
            raise InvalidInput.at("", f"{self.id} is a rule between guarantees and has no formula to evaluate")
        return self.inputs(**fields)

    def because(self, *premises: Step, **inputs: object) -> Step:
        """Return the derivation step that applies this theorem to inputs.

        Args:
            premises: the derivation steps that the theorem uses.
            inputs: numbers and words to which it is applied, by name.

        Returns:
            The step, with the id of this theorem.
        """
        return Step(self.id, inputs, premises)

    def evaluate(self, inputs: object, reading: Reading = "printed") -> Evaluation:
        """Evaluate the formula and all conditions for a request.

        An output may be infinite if it is an upper bound, such as an ε: nothing is guaranteed then. An infinite lower
        bound, an infinite parameter of a run, and NaN are errors.

        Args:
            inputs: request of the formula.
            reading: version of the formula, "printed" as in the source or "corrected" by its errata.

        Returns:
            The outputs by name, with the results of the conditions, the status and the errata.

        Raises:
            InvalidInput: the theorem has no formula or no such version; or the evaluation overflows, divides by zero,
                or gives a NaN or an infinite number where it is an error.
        """
        if self.formula is None:
            raise InvalidInput.at("", f"{self.id} is a rule between guarantees and has no formula to evaluate")
        if reading not in self.readings:
            raise InvalidInput.at("/reading", "this theorem has no such reading", allowed=", ".join(self.readings))
        # Only a formula with two versions takes the argument `reading`.
        version = {"reading": reading} if len(self.readings) > 1 else {}

        # Inputs in range may still overflow together, for example in the square of 1e200.
        try:
            with np.errstate(over="raise", divide="raise", invalid="raise"):
                outputs = evaluate_formula(self.formula, inputs, **version)
                conditions = tuple(condition.at(inputs, outputs) for condition in self.conditions)
        except ArithmeticError:
            raise InvalidInput.at("", LEAVES_THE_DOUBLES) from None

        # Python's own arithmetic does not raise for every NaN and overflow.
        left_sides = [condition.left for condition in conditions]
        right_sides = [condition.right for condition in conditions]
        if holds_nan([outputs, left_sides, right_sides]) or any(map(_is_overflow, outputs.items())):
            raise InvalidInput.at("", LEAVES_THE_DOUBLES)
        return Evaluation(outputs, conditions, self.status, self.errata, reading)

    @cached_property
    def readings(self) -> tuple[Reading, ...]:
        """Names of the versions of the formula: only `printed`, or `printed` and `corrected`.

        `printed` is the formula of the source, with its known errors, and `corrected` the formula without them. A
        formula with both versions takes the argument `reading`.
        """
        if self.formula is None:
            return ("printed",)
        has_two_versions = "reading" in inspect.signature(self.formula).parameters
        return ("printed", "corrected") if has_two_versions else ("printed",)
