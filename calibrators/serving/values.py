"""The values that answers are made of: described numbers, enclosures and the baseline of a risk."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Literal

from epsilond.accountants.curve.enclosure import Interval
from epsilond.accountants.guarantee import delta_ends, log10_ends
from epsilond.accountants.json_types import JsonObject, JsonRecord
from epsilond.accountants.quantities import Quantity

UNBOUNDED = "unbounded"


@dataclass(frozen=True)
class Served:
    """The JSON schema of an answered value: its description, and whether it may be the string "unbounded".

    Attributes:
        description: meaning of the value, with its unit.
        may_be_unbounded: whether an infinity is possible, which becomes the string.
        of_unit: the description where the protected unit is known, with {unit} for "record" or "client".
    """

    @classmethod
    def like(cls, quantity: Quantity) -> Served:
        """Describe a field of an answer that has the same meaning as a quantity of requests."""
        return cls(quantity.description, of_unit=quantity.of_unit)

    description: str
    may_be_unbounded: bool = False
    of_unit: str = ""

    def __get_pydantic_core_schema__(self, source: object, handler: Callable[[object], JsonRecord]) -> JsonRecord:
        """Return the schema of the type without null, because an absent field is left out of an answer."""
        schema = dict(handler(source))
        # The schema of `X | None` contains that of X.
        return dict(schema["schema"]) if schema["type"] == "nullable" else schema

    def __get_pydantic_json_schema__(self, schema: object, handler: Callable[[object], JsonRecord]) -> JsonRecord:
        """Return the JSON schema of the type with the description and, if possible, the alternative "unbounded"."""
        plain = handler(schema)
        if self.may_be_unbounded:
            plain = {"anyOf": [plain, {"enum": [UNBOUNDED, f"-{UNBOUNDED}"], "type": "string"}]}
        texts = {"description": self.description, "x-of-unit": self.of_unit}
        return {**plain, **{name: text for name, text in texts.items() if text}}


CONTRIBUTION_NORM = Served(
    "bound on the ℓ2 norm of one protected contribution to the quantity to which the noise is "
    "added. The noise has standard deviation noise_multiplier × contribution_norm per coordinate. "
    "guarantee.sensitivity is contribution_norm for the relations add-or-remove-one and "
    "zero-out-one, and 2 × contribution_norm for replace-one"
)
"""Description of the factor between noise_std and noise_multiplier, which is the same in every answer."""
Number = Annotated[float, Served('a number; "unbounded" or "-unbounded" if it is infinite', may_be_unbounded=True)]
Objective = Literal["population", "empirical", "personalized"]
"""Objective of a risk: expected loss of a model, its mean loss on the data at hand, or the loss of personal models."""
OBJECTIVE = Served(
    "loss that the risk is about. population: expected loss of the model. empirical: mean loss on "
    "the data at hand. personalized: mean over clients of the expected loss of the client's own "
    "model. Risks of different objectives cannot be compared"
)


@dataclass(frozen=True)
class Ends:
    """A lower and an upper bound, between which the true value is."""

    lower: Number
    upper: Number

    @classmethod
    def of(cls, interval: Interval) -> Ends:
        """Return the enclosure with the bounds of an interval."""
        return cls(interval.lower, interval.upper)

    @classmethod
    def delta(cls, natural_log_delta: Interval) -> Ends:
        """Return δ from log δ, rounded outward; below the doubles the bounds are 0 and the least positive double."""
        return cls.of(delta_ends(natural_log_delta))

    @classmethod
    def log10(cls, natural_log_delta: Interval) -> Ends:
        """Return log10 δ from log δ, rounded outward. Its value −inf, for δ = 0, becomes "-unbounded" in JSON."""
        return cls.of(log10_ends(natural_log_delta))


def number_of(value: float | str) -> float:
    """Return a number from its JSON form, in which an infinity is the string "unbounded" or "-unbounded"."""
    if isinstance(value, int | float):
        return float(value)
    return -math.inf if value.startswith("-") else math.inf


@dataclass(frozen=True, kw_only=True)
class Baseline:
    """A bound on the risk of the initial model, before any training, to compare other bounds with."""

    value: Number
    theorem: Annotated[
        str | None,
        Served(
            "id of the theorem that proves the bound. Absent: epsilond.excess-risk-of-the-start, or the "
            "given initial_gap"
        ),
    ] = None
    formula: Annotated[str, Served("formula of the bound; its symbols are those of the request's quantities")]

    @classmethod
    def from_json(cls, members: JsonObject) -> Baseline:
        """Read a baseline from its JSON form."""
        return cls(**{**members, "value": number_of(members["value"])})

    def __str__(self) -> str:
        return f"{self.formula} = {self.value:.6g}"

    def covers(self, bound: float) -> bool:
        """Decide whether a bound is no better than the baseline, and therefore vacuous."""
        return bound >= self.value


BASELINE = Served("bound on the same risk of the initial model, before any training")
VACUOUS = Served("true: the bound is not below the baseline and carries no information")


@dataclass(frozen=True, kw_only=True)
class Caution:
    """Something the caller should know before relying on the answer."""

    code: str
    message: str
