"""A guarantee: a curve, for a stated relation, unit and observer, with the derivation that proves it."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, ParamSpec, TypeVar, get_args

import numpy as np

from epsilond.accountants.curve.curve import Curve
from epsilond.accountants.curve.enclosure import Interval
from epsilond.accountants.errors import Fault, InvalidInput
from epsilond.accountants.quantities import (
    ANY_EPSILON,
    DELTA,
    LOG10_DELTA,
    OBSERVER,
    RELATION,
    UNIT,
    Observer,
    ProtectedUnit,
    Relation,
    Unit,
    WindowedUnit,
    base_unit,
)
from epsilond.accountants.quantities.units import Window
from epsilond.accountants.quantity import check_value
from epsilond.accountants.target import natural_log_delta

if TYPE_CHECKING:
    from epsilond.accountants.theorem import Condition, Step


Tightness = Literal["proved", "witnessed", "unknown"]
_WORDS = {"relation": get_args(Relation), "unit": get_args(Unit), "observer": get_args(Observer)}


@dataclass(frozen=True, kw_only=True)
class Setting:
    """The subject of a privacy statement: the neighbouring relation, the unit of protection and the observer.

    Guarantees can be combined only if they are about the same setting.

    Attributes:
        relation: the neighbouring relation, such as "replace-one".
        unit: the protected unit, a record or a client.
        observer: the adversary, named after the messages or models that it sees.
        window: the window of time to which the unit is restricted; None for the whole record or client.
    """

    relation: Relation
    unit: Unit = "record"
    observer: Observer = "server"
    window: Window | None = None

    def __post_init__(self) -> None:
        """Reject an unknown word. A relation that is misread could halve a sensitivity.

        Raises:
            InvalidInput: the relation, the unit or the observer is not one of the allowed words.
        """
        for name, words in _WORDS.items():
            if getattr(self, name) not in words:
                raise InvalidInput.at(f"/{name}", "is not one of the allowed values", allowed=", ".join(words))

    @classmethod
    def of(cls, *, relation: Relation, unit: ProtectedUnit, observer: Observer) -> Setting:
        """Return the setting of a protected unit, which may have a window.

        Args:
            relation: the neighbouring relation.
            unit: the protected unit: a record or a client, or the part of either within one window of time.
            observer: the adversary.

        Returns:
            The setting, that is, the relation, the protected unit and the observer.
        """
        window = unit.window if isinstance(unit, WindowedUnit) else None
        return cls(relation=relation, unit=base_unit(unit), observer=observer, window=window)

    @property
    def protected_unit(self) -> ProtectedUnit:
        """The unit of protection with its window, if it has one."""
        return self.unit if self.window is None else WindowedUnit(of=self.unit, window=self.window)

    def same_as(self, other: Setting) -> None:
        """Raise an error if another setting differs, because guarantees about different settings cannot be combined.

        Args:
            other: setting of the guarantee that is combined with one in this setting.

        Raises:
            InvalidInput: relation, protected unit or observer differ. The message names the values.
        """
        for name in ("relation", "protected_unit", "observer"):
            ours, theirs = getattr(self, name), getattr(other, name)
            if ours != theirs:
                field_name = name.removeprefix("protected_")
                raise InvalidInput.at(f"/{field_name}", f"cannot combine {ours} with {theirs}")


P = ParamSpec("P")
T = TypeVar("T")


def require_setting(function: Callable[P, T]) -> Callable[P, T]:
    """Wrap a function so that a missing relation, unit or observer is reported with the allowed choices.

    Args:
        function: takes `relation`, `unit` and `observer` as keywords without defaults.

    Returns:
        A function with the same arguments and result. If a keyword is missing, it raises `InvalidInput` with one fault
        for each, in place of Python's `TypeError`.
    """
    needed = {"relation": RELATION, "unit": UNIT, "observer": OBSERVER}

    @functools.wraps(function)
    def call(*arguments: P.args, **keywords: P.kwargs) -> T:
        """Call the function if the setting is complete."""
        missing = [name for name in needed if keywords.get(name) is None]
        if missing:
            raise InvalidInput(*(Fault(f"/{name}", "is required", needed[name].allowed) for name in missing))
        return function(*arguments, **keywords)

    return call


@dataclass(frozen=True, kw_only=True)
class Guarantee:
    """A certified privacy curve, that is, bounds on δ at every ε, with the derivation that proves it.

    It holds for a setting, that is, a neighbouring relation, a protected unit and an observer. Theorems take and return
    only this type.

    Guarantees: at every ε ≥ 0 the upper bound of `curve` is at least the true δ of every pair of neighbours in
    `setting`, if the `declared` conditions hold. The lower bound is at most the largest of these δ.

    Attributes:
        setting: the neighbouring relation, the protected unit and the observer.
        curve: bounds on δ at every ε.
        derivation: the theorem that proves the curve, with the derivations that it uses.
        declared: conditions on the data or the program that the library cannot check, and the caller declares.
    """

    setting: Setting
    curve: Curve
    derivation: Step
    declared: tuple[Condition, ...] = field(default=())

    @property
    def tight(self) -> Tightness:
        """Evidence that the upper bound is tight.

        `proved`: some neighbours attain the bound. `witnessed`: some neighbours give a lower bound. `unknown`: there is
        no lower bound.
        """
        if self.curve.tight:
            return "proved"
        return "witnessed" if self.curve.witnesses else "unknown"

    def theorems(self) -> tuple[str, ...]:
        """Return the ids of all theorems that the derivation uses, conclusion first, without repetition.

        The derivation is a tree of steps. It is read level by level from its root, the conclusion.

        Returns:
            The ids, each once.
        """
        identifiers: dict[str, None] = {}  # a set that keeps the order
        pending = [self.derivation]
        while pending:
            step = pending.pop(0)
            identifiers.setdefault(step.theorem)
            pending.extend(step.premises)
        return tuple(identifiers)


# A privacy curve for callers: ε and δ by name, in the units of every request and answer -----------------------------
#
# Internally, curves use natural logarithms. Here a δ is given as `delta` or as `log10_delta`. All numbers are passed by
# name.
LOG_10 = math.log(10.0)
_ARGUMENTS = {"epsilon": ANY_EPSILON, "delta": DELTA, "log10_delta": LOG10_DELTA}


@dataclass(frozen=True)
class PrivacyCurve:
    """Bounds on a mechanism's ε and δ: the curve gives ε at a δ, and δ at an ε.

    Every answer is an `Interval(lower, upper)` that encloses the truth over all neighbours of the guarantee's relation.
    ε is in nats and δ is a probability. The value `log10_delta` is its base-10 logarithm, for a δ below every double.

    Example:
        >>> import epsilond
        >>> step = epsilond.Gaussian(noise_multiplier=1.0)
        >>> account = epsilond.account(step, relation="replace-one", unit="record", observer="released-models")
        >>> curve = account.guarantee.curve
        >>> print(f"{curve.epsilon(delta=1e-5).upper:.4f} {curve.delta(epsilon=1.0).upper:.4f}")
        9.9973 0.5099
    """

    natural: Curve
    """Curve in natural logarithms, the units of the mathematics."""

    def epsilon(self, *, delta: float | None = None, log10_delta: float | None = None) -> Interval:
        """Return bounds on the smallest ε ≥ 0 with δ(ε) at most the requested δ.

        Args:
            delta: the requested δ, in (0, 1).
            log10_delta: its base-10 logarithm, in [−1e9, 0), in place of `delta`.

        Returns:
            Lower and upper bound on ε, in nats. The upper bound is math.inf if none is proved.

        Raises:
            InvalidInput: both or neither are given, `delta` is outside (0, 1), or `log10_delta` outside [−1e9, 0).
        """
        arguments = {"delta": delta, "log10_delta": log10_delta}
        given_arguments = {name: value for name, value in arguments.items() if value is not None}
        numbers = _check_arguments(**given_arguments)
        log_delta = natural_log_delta(numbers.get("delta"), numbers.get("log10_delta"))
        return self.natural.epsilon(log_delta)

    def delta(self, *, epsilon: float) -> Interval:
        """Return bounds on δ at an ε ≥ 0 [nat], as a probability.

        Below the range of doubles the bounds are 0 and the least positive double.

        Args:
            epsilon: ε, in nats, from 0 to 1e9.

        Returns:
            Lower and upper bound on δ, from 0 to 1.

        Raises:
            InvalidInput: `epsilon` is negative, above 1e9 or not a number.
        """
        numbers = _check_arguments(epsilon=epsilon)
        return delta_ends(self.natural.log_delta(numbers["epsilon"]))

    def log10_delta(self, *, epsilon: float) -> Interval:
        """Return bounds on log10 δ at an ε ≥ 0 [nat].

        The value −math.inf is a δ of zero. As a lower bound it may also mean that nothing is known.

        Args:
            epsilon: ε, in nats, from 0 to 1e9.

        Returns:
            Lower and upper bound on the base-10 logarithm of δ.

        Raises:
            InvalidInput: `epsilon` is negative, above 1e9 or not a number.
        """
        numbers = _check_arguments(epsilon=epsilon)
        return log10_ends(self.natural.log_delta(numbers["epsilon"]))


def _check_arguments(**arguments: object) -> dict[str, float]:
    """Check the ε or δ at which a privacy curve is evaluated, and convert each to a double.

    Args:
        arguments: values by name: `epsilon`, `delta` or `log10_delta`.

    Returns:
        The numbers by name.

    Raises:
        InvalidInput: an argument is an array, is not a number, or is out of range.
    """
    faults: list[Fault] = []
    numbers: dict[str, float] = {}
    for name, value in arguments.items():
        if isinstance(value, np.ndarray):
            raise InvalidInput.at(f"/{name}", "is one number: ask for each by itself")
        # `check_value` accepts numbers of Python only, and scalars of numpy are convenient for callers.
        number = value.item() if isinstance(value, np.generic) else value
        fault = check_value(f"/{name}", number, float, _ARGUMENTS[name])
        if fault is not None:
            faults.append(fault)
        elif isinstance(number, int | float):
            numbers[name] = float(number)
    if faults:
        raise InvalidInput(*faults)
    return numbers


def delta_ends(log_delta: Interval) -> Interval:
    """Convert bounds on ln δ to bounds on δ, rounded outward.

    Args:
        log_delta: bounds on ln δ, at most 0.

    Returns:
        Bounds on δ. Below the range of doubles they are 0 and the least positive double. The upper bound is 0 only if
        that on ln δ is −inf.
    """
    # The exponential has an error of less than one unit in the last place, which one step to the next double covers.
    lower = math.nextafter(math.exp(log_delta.lower), 0.0)
    if log_delta.upper == -math.inf:
        return Interval(lower, 0.0)
    upper = math.nextafter(math.exp(log_delta.upper), 1.0)
    return Interval(lower, min(upper, 1.0))


def log10_ends(log_delta: Interval) -> Interval:
    """Convert bounds on ln δ to bounds on log10 δ, rounded outward.

    Args:
        log_delta: bounds on ln δ, at most 0.

    Returns:
        Bounds on log10 δ, at most 0. The value −inf does not change.
    """
    # `LOG_10` exceeds ln 10 by less than half a unit in the last place, and the quotient is rounded once. Both errors
    # may raise the lower bound, so it takes two steps down. For the upper bound the error of `LOG_10` is safe.
    quotient = log_delta.lower / LOG_10
    lower = math.nextafter(math.nextafter(quotient, -math.inf), -math.inf)
    upper = log_delta.upper / LOG_10
    if upper == -math.inf:
        return Interval(lower, upper)
    return Interval(lower, min(math.nextafter(upper, 0.0), 0.0))
