"""Requests drawn from the domains that their own fields declare: any class whose quantities have ranges."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, Literal, get_args, get_origin, get_type_hints

from hypothesis import strategies as st
from typing_extensions import TypeAliasType

from epsilond.accountants.quantities import LARGEST_COUNT, Quantity, Tagged, quantity_of

ANYTHING = Quantity(description="", ge=-1e300, le=1e300)
LEAST, LARGEST = 1e-300, 1e300
USUAL = (1e-4, 1e5)
"""Where runs live; the whole of each domain is drawn from as well, but there most of what is drawn is refused."""
MOST_CHANGES = 4


def requests(cls: type, example: Mapping[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Bodies: the example with a few fields drawn anew or left out, or every field drawn."""
    return st.one_of(changed(cls, example), changed(cls, example), objects(cls)).map(with_one_delta)


def with_one_delta(body: dict[str, Any]) -> dict[str, Any]:
    """δ is given in one way only; both at once are refused, which tells nothing."""
    return {name: value for name, value in body.items() if name != "delta" or "log10_delta" not in body}


@st.composite
def changed(draw: st.DrawFn, cls: type, example: Mapping[str, Any]) -> dict[str, Any]:
    """The example with up to so many fields drawn anew, or left out where they may be."""
    hints = get_type_hints(cls, include_extras=True)
    known = {field.name: field for field in fields(cls)}
    names = draw(st.lists(st.sampled_from(sorted(known)), unique=True, min_size=1, max_size=MOST_CHANGES))
    body = dict(example)
    for name in names:
        optional = known[name].default is not MISSING or known[name].default_factory is not MISSING
        if optional and draw(st.integers(0, 3)) == 0:
            body.pop(name, None)
        else:
            body[name] = draw(values(hints[name]))
    return body


@st.composite
def nearby(draw: st.DrawFn, cls: type, example: Mapping[str, Any]) -> dict[str, Any]:
    """Draw a body whose numbers are those of the example times factors, so that conditions hold more often.

    Args:
        draw: hypothesis' function.
        cls: request class.
        example: fields of the class.
    """
    hints = get_type_hints(cls, include_extras=True)
    reach = draw(st.sampled_from((0.1, 1.0, 4.0)))
    factors = st.floats(-reach, reach).map(lambda exponent: 10.0**exponent)
    body = dict(example)
    for name, value in example.items():
        _, quantity = quantity_of(hints[name])
        if isinstance(value, bool | str) or draw(st.integers(0, 3)) == 0:
            continue
        if isinstance(value, int | float):
            body[name] = draw(st.one_of(factors.map(_scaling(value, quantity)), _next_to_one(quantity, value)))
        elif isinstance(value, list | tuple) and value and all(isinstance(each, float) for each in value):
            length = draw(st.integers(1, 2 * len(value)))
            body[name] = [draw(st.sampled_from(value)) * draw(factors) for _ in range(length)]
    return with_one_delta(body)


def _scaling(value: float, quantity: Quantity | None) -> Callable[[float], float]:
    """Return the map from a factor to the scaled value, or to the value itself outside the quantity's range."""

    def scale(factor: float) -> float:
        scaled = round(value * factor) if isinstance(value, int) else value * factor
        return scaled if quantity is None or quantity.contains(scaled) else value

    return scale


def _next_to_one(quantity: Quantity | None, value: float) -> st.SearchStrategy[float]:
    """Return the strategy of numbers next to 1 in the quantity's range, where formulas cancel."""
    if isinstance(value, int):
        return st.just(value)
    numbers_near = (1.0 - 1e-9, 1.0 - 2.0**-50, 1.0, 1.0 + 2.0**-50, 1.0 + 1e-9)
    return st.sampled_from([number for number in numbers_near if quantity and quantity.contains(number)] or [value])


@st.composite
def objects(draw: st.DrawFn, cls: type) -> dict[str, Any]:
    """Every field drawn; of those that may be absent, some are."""
    hints = get_type_hints(cls, include_extras=True)
    body = {}
    for field in fields(cls):
        optional = field.default is not MISSING or field.default_factory is not MISSING
        if not optional or draw(st.integers(0, 2)) == 0:
            body[field.name] = draw(values(hints[field.name]))
    return body


def values(annotation: Any) -> st.SearchStrategy[Any]:
    """What a field of this annotation may hold, in its JSON form."""
    if isinstance(annotation, TypeAliasType):
        return values(annotation.__value__)
    bare, quantity = quantity_of(annotation)
    tagged = any(isinstance(item, Tagged) for item in getattr(annotation, "__metadata__", ()))
    if bare is bool:
        return st.booleans()
    if bare in (float, int):
        return numbers(quantity or ANYTHING, whole=bare is int)
    if get_origin(bare) is Literal:
        return st.sampled_from(get_args(bare))
    if get_origin(bare) is tuple:
        return st.lists(values(get_args(bare)[0]), min_size=0, max_size=3)
    if isinstance(bare, type) and is_dataclass(bare):
        return st.deferred(lambda: objects(bare))
    if isinstance(bare, TypeAliasType):
        return values(bare)
    if tagged or get_args(bare):
        return st.one_of(*map(values, get_args(bare)))
    raise TypeError(f"nobody has said how {annotation} is drawn")


def numbers(quantity: Quantity, *, whole: bool) -> st.SearchStrategy[float]:
    """Numbers of a quantity's range, even in their logarithms, and its ends."""
    low = quantity.ge if quantity.ge is not None else quantity.gt
    high = quantity.le if quantity.le is not None else quantity.lt
    top = LARGEST_COUNT if whole else LARGEST
    low, high = -top if low is None else low, top if high is None else high
    ends = [end for end in (low, high) if quantity.contains(end)]
    choices = [_spread(max(low, 0.0), high, USUAL), _spread(max(low, 0.0), high, (LEAST, LARGEST))] if high > 0 else []
    if low < 0:
        choices.append(_spread(max(-high, 0.0), -low, (LEAST, LARGEST)).map(lambda value: -value))
    choices = [choices[0], *choices] + ([st.sampled_from(ends)] if ends else [])
    drawn = st.one_of(*choices)
    return (drawn.map(round) if whole else drawn).filter(quantity.contains)


def _spread(low: float, high: float, within: tuple[float, float]) -> st.SearchStrategy[float]:
    """Even in the logarithm between two ends, as far as they are within the others."""
    bottom, top = math.log(max(low, within[0])), math.log(min(high, within[1]))
    if bottom >= top:
        bottom, top = math.log(max(low, LEAST)), math.log(min(high, LARGEST))
    return st.floats(bottom, top).map(lambda logarithm: min(max(math.exp(logarithm), low), high))


# Extremes -----------------------------------------------------------------------------------------------------------
SMALLEST, BIGGEST = 2.3e-308, 1.7e308
INNER: tuple[float, ...] = (1e-300, 1e-150, 1e-30, 1e-6, 0.5, 1, 2, 3, 1e3, 1e8, 1e12, 1e100, 1e150)
"""Where formulas have turned: squares that vanish or overflow, counts that fill the memory, the smallest counts."""


def ends(annotation: Any) -> list[float]:
    """The ends of a numeric field's domain, what lies next to an end that is not part of it; none of other fields."""
    bare, quantity = quantity_of(annotation)
    if bare not in (int, float) or quantity is None:
        return []
    whole = bare is int
    low = quantity.ge if quantity.ge is not None else quantity.gt
    high = quantity.le if quantity.le is not None else quantity.lt
    low = (-LARGEST_COUNT if whole else -BIGGEST) if low is None else low
    high = (LARGEST_COUNT if whole else BIGGEST) if high is None else high
    beside = [low + 1, high - 1] if whole else [low or SMALLEST, math.nextafter(low, high), math.nextafter(high, low)]
    return _within(quantity, [low, high, *beside], whole=whole)


def corners(annotation: Any) -> list[float]:
    """The ends, and what lies between at which formulas have turned."""
    bare, quantity = quantity_of(annotation)
    found = ends(annotation)
    return [*found, *_within(quantity, INNER, whole=bare is int, but=found)] if found and quantity else []


def _within(quantity: Quantity, values: Iterable[float], *, whole: bool, but: Sequence[float] = ()) -> list[float]:
    found: list[float] = []
    for value in (int(each) if whole else float(each) for each in values):
        survives = value == 0 or abs(value) >= SMALLEST
        if quantity.contains(value) and survives and value not in (*found, *but):
            found.append(value)
    return found


def extremes(
    cls: type, example: Mapping[str, Any], of: Callable[[Any], list[float]]
) -> dict[str, list[dict[str, float]]]:
    """For each numeric field of a class, the changes that put it at each of its extremes."""
    hints = get_type_hints(cls, include_extras=True)
    found = {name: [{name: value} for value in of(hint)] for name, hint in hints.items()}
    other = {"delta": "log10_delta", "log10_delta": "delta"}
    return {name: changes for name, changes in found.items() if changes and other.get(name) not in example}
