"""The query of an account: the ε or δ at which the guarantee is returned, and the requested measures of an attacker."""

from __future__ import annotations

from typing import Annotated

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.quantities import ANY_EPSILON, DELTA, LOG10_DELTA, RENYI_ORDER, Quantity, request
from epsilond.accountants.quantities.risks import LEAST_FALSE_POSITIVES

MOST_POINTS, MOST_RATES = 1000, 100
"""Largest number of points of the curve, and of figures of an attacker. One such figure is a search on the curve."""
FALSE_POSITIVE_RATE = Quantity(
    symbol="α", ge=LEAST_FALSE_POSITIVES, lt=1, description="false positive rate α of a test"
)
PRIOR = Quantity(symbol="π", gt=0, lt=1, description="attacker's prior probability π of one of two neighbours")
SIGNED_EPSILON = Quantity(symbol="ε", unit="nat", ge=-1e9, le=1e9, description="ε of any sign, natural logarithms")


@request
class Query:
    """The values of ε or δ at which the guarantee is returned. Give at most one of the first six members.

    δ is returned for an ε, and ε for a δ. Without any of the six, δ is returned at ε = 0. The other members request
    figures of an attacker, and divergences. They may be combined.
    """

    epsilon: Annotated[float | None, ANY_EPSILON] = None
    delta: Annotated[float | None, DELTA] = None
    log10_delta: Annotated[float | None, LOG10_DELTA] = None
    epsilons: Annotated[
        tuple[float, ...] | None, Quantity(description="list of ε, at most 1000, at each of which δ is returned")
    ] = None
    deltas: Annotated[
        tuple[float, ...] | None, Quantity(description="list of δ, at most 1000, at each of which ε is returned")
    ] = None
    log10_deltas: Annotated[
        tuple[float, ...] | None,
        Quantity(description="list of base-10 logarithms of δ, at most 1000, at each of which ε is returned"),
    ] = None
    false_positive_rates: Annotated[
        tuple[float, ...] | None,
        Quantity(
            description="list of false positive rates, at most 100. trade_off of the answer has the largest true "
            "positive rate at each"
        ),
    ] = None
    priors: Annotated[
        tuple[float, ...] | None,
        Quantity(
            description="list of prior probabilities of one of two neighbours, at most 100. bayes_errors of the answer "
            "has the attacker's least error at each"
        ),
    ] = None
    orders: Annotated[
        tuple[float, ...] | None,
        Quantity(
            description="list of Rényi orders above 1, at most 100. renyi_divergences of the answer has the divergence "
            "at each"
        ),
    ] = None
    signed_epsilons: Annotated[
        tuple[float, ...] | None,
        Quantity(
            description="list of ε of any sign, at most 100. directions of the answer has δ of each direction at each"
        ),
    ] = None

    def check(self) -> None:
        """Check that a request gives points of the privacy curve in at most one form, and that all values are in range.

        The privacy curve is δ as a function of ε, and a point of it is given by one of the two numbers. Figures are
        other quantities, such as rates of an attacker.

        Raises:
            InvalidInput: points are given in two forms, nothing is requested, a list is empty or too long, or a value
                is out of range.
        """
        points = [name for name in _DOMAINS if getattr(self, name) is not None]
        figures = [name for name in _FIGURES if getattr(self, name) is not None]
        if len(points) > 1 or not (points or figures):
            raise InvalidInput.at("", "give exactly one of " + ", ".join(_DOMAINS))
        for name in points:
            self._check_values(name, _DOMAINS[name], most=MOST_POINTS)
        for name in figures:
            self._check_values(name, _FIGURES[name], most=MOST_RATES)

    def _check_values(self, name: str, domain: Quantity, *, most: int) -> None:
        """Check how many values a list of the request has, and that each value is in range.

        Args:
            name: name of the member.
            domain: the quantity with the range of each value.
            most: largest number of values.

        Raises:
            InvalidInput: there is no value, there are too many, or one is out of range.
        """
        values = _as_tuple(getattr(self, name))
        if not 1 <= len(values) <= most:
            raise InvalidInput.at(f"/{name}", "has too few or too many values", allowed=f"1 to {most}")
        for index, value in enumerate(values):
            if isinstance(value, bool) or not domain.contains(value):
                raise InvalidInput.at(f"/{name}/{index}", "is out of range", allowed=domain.allowed)

    @property
    def name(self) -> str:
        """Name of the member that gives points of the privacy curve; `epsilon` if none is present."""
        return next((name for name in _DOMAINS if getattr(self, name) is not None), "epsilon")

    @property
    def values(self) -> tuple[float, ...]:
        """The value or values of the member that gives points of the privacy curve; ε = 0 if none is present."""
        value = getattr(self, self.name)
        return (0.0,) if value is None else _as_tuple(value)

    @property
    def listed(self) -> bool:
        """True if the member is a list of points; the names of lists end with s."""
        return self.name.endswith("s")


def _as_tuple(value: float | tuple[float, ...]) -> tuple[float, ...]:
    """Return several values as a tuple, and one value as a tuple of it."""
    return tuple(value) if isinstance(value, tuple | list) else (value,)


_DOMAINS = {
    "epsilon": ANY_EPSILON,
    "delta": DELTA,
    "log10_delta": LOG10_DELTA,
    "epsilons": ANY_EPSILON,
    "deltas": DELTA,
    "log10_deltas": LOG10_DELTA,
}
_FIGURES = {
    "false_positive_rates": FALSE_POSITIVE_RATE,
    "priors": PRIOR,
    "orders": RENYI_ORDER,
    "signed_epsilons": SIGNED_EPSILON,
}
FIGURES = tuple(_FIGURES)
"""Names of the members that request figures of an attacker, and divergences."""
