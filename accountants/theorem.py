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
    """Return whether a value, or any value inside it, is not a number (NaN).

    Exact types are tested first, because this is faster for the usual values.

    Args:
        value: a number, text, None, or nested mappings, lists and tuples of these.

    Returns:
        True if any number inside the value is NaN.
    """
    kind = type(value)
    if kind is float:
        return bool(value != value)  # noqa: PLR0124  only NaN differs from itself
    # The usual values without parts.
    if kind is int or kind is str or kind is bool or value is None:
        return False
    # Containers are searched at any depth.
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
"""Names of outputs that are lower bounds or parameters of a run. An infinite value there is an overflow."""


def _is_overflow(output: tuple[str, object]) -> bool:
    """Return whether an output is infinite although it may not be.

    An infinite ε says that nothing is guaranteed. A lower bound or a parameter of a run may not be infinite.

    Args:
        output: name and value of the output.

    Returns:
        True for an infinite lower bound or an infinite parameter of a run.
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
    """The two sides of a checked condition, such as left ≤ right, and whether it holds.

    Attributes:
        holds: whether the comparison is true.
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
    """A condition of a theorem.

    A *checked* condition has a test, which the library evaluates. Without a test the caller *declares* the condition (a
    property of the data or the loss), unless it is `undecidable`.

    Attributes:
        id: name of the condition.
        statement: the condition in words.
        test: function that returns both sides of a checked condition from the inputs of the formula; None without a
            test.
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
        """True if the library checks the condition itself."""
        return self.test is not None

    def at(self, inputs: object, outputs: Outputs | None = None) -> ConditionResult:
        """Evaluate the condition at inputs, and at the formula's outputs there if it concerns them.

        A condition without a test is `undecidable`, never `yes`.

        Args:
            inputs: request of the formula.
            outputs: outputs of the formula at the request; not needed unless `of_outputs`.

        Returns:
            The id and statement of the condition, whether it holds, and the left and right side if it has a test.
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
    """One step of a derivation: a theorem that is applied to inputs.

    Attributes:
        theorem: id of the theorem.
        inputs: numbers and words to which the theorem is applied, by name.
        premises: earlier steps, of which the theorem uses the conclusions.
    """

    theorem: str
    inputs: JsonObject
    premises: tuple[Step, ...] = ()

    def __hash__(self) -> int:
        """Return a hash that ignores the values of the inputs, which need not be hashable."""
        return hash((self.theorem, tuple(self.inputs), self.premises))


@dataclass(frozen=True)
class Evaluation:
    """The outputs of a theorem's formula at inputs, with its conditions there.

    Attributes:
        outputs: numbers and words by name.
        conditions: whether each condition of the theorem holds at the inputs.
        status: whether the theorem is proved, refuted or unproved.
        errata: errors of the printed text.
        reading: version of the formula that was evaluated: "printed" as in the source, or "corrected" by an erratum.
    """

    outputs: Outputs
    conditions: tuple[ConditionResult, ...]
    status: Status
    errata: tuple[Erratum, ...]
    reading: Reading


@dataclass(frozen=True, kw_only=True)
class Theorem:
    """A statement with its source, conditions, errata and status.

    Attributes:
        id: name, which never changes its meaning. A corrected statement gets a new name.
        title: short title.
        statement: the statement in words and formulas.
        source: place of the statement in the literature or in the project's documents.
        status: whether it is proved, refuted or unproved.
        conditions: conditions under which it holds.
        errata: errors of the printed text.
        constants: whether the statement's numbers are explicit, or hidden inside an O(·).
        inputs: request dataclass of `formula`, from which schema and documents follow. By default it is made from the
            formula's signature (`accountants/formula.py`). None for a theorem that is only about guarantees.
        formula: function from a request to numbers; None for a theorem that is only about guarantees.
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
        """Return a request of the formula, the argument of `evaluate`.

        Args:
            fields: values of the request's fields by name.

        Returns:
            A record of the request class, with checked fields.

        Raises:
            InvalidInput: the theorem has no formula, or no run can have these fields.
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
        """Return the outputs of the formula and the results of all conditions at a request.

        An overflow, a division by zero and a result that is not a number are rejected, because they bound nothing. An
        ε, or a bound on a risk, may be infinite if nothing is guaranteed. A lower bound or a parameter of a run, such
        as a step size, may not.

        Args:
            inputs: request of the formula.
            reading: version of the formula, as printed or as corrected by an erratum.

        Returns:
            The outputs by name, with the results of the conditions, the status and the errata.

        Raises:
            InvalidInput: the theorem has no formula or no such version, or its numbers leave the range of doubles.
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

        # Numbers that are NaN or infinite by overflow bound nothing.
        left_sides = [condition.left for condition in conditions]
        right_sides = [condition.right for condition in conditions]
        if holds_nan([outputs, left_sides, right_sides]) or any(map(_is_overflow, outputs.items())):
            raise InvalidInput.at("", LEAVES_THE_DOUBLES)
        return Evaluation(outputs, conditions, self.status, self.errata, reading)

    @cached_property
    def readings(self) -> tuple[Reading, ...]:
        """Names of the versions of the theorem's formula: `printed` alone, or `printed` and `corrected`.

        `printed` is the formula as the paper prints it, with its known errors. `corrected` is the formula without these
        errors. A formula that has both takes the argument `reading`, which chooses one of them.
        """
        if self.formula is None:
            return ("printed",)
        has_two_versions = "reading" in inspect.signature(self.formula).parameters
        return ("printed", "corrected") if has_two_versions else ("printed",)
