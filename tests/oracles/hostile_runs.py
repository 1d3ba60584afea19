"""What a spec puts out, from its words alone: every way of drawing its batches, enumerated.

In exact fractions; or, to look quickly, in doubles made of the mechanisms' exact laws, as `number` says.

Data are a tuple of units (name, value), or of clients (name, records) where clients draw among their records. Values:
"+" and "-" are the two ends of what a record may contribute, "0" contributes nothing, "z" is a zeroed record. Nothing of
the code under test is used but the data of the spec.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations, product
from typing import Any

Law = Mapping[Any, Fraction]
Batch = tuple[Any, ...]
Mechanism = Callable[[Batch], Law]
ONE = Fraction(1)


class ImpossibleError(Exception):
    """No run is like this: a count does not fit, or the reading contradicts the spec."""


def inner(spec: Any) -> tuple[Any, ...]:
    """What a spec is directly made of."""
    if spec.kind == "composed":
        return tuple(spec.mechanisms)
    return (spec.mechanism,) if hasattr(spec, "mechanism") else ()


def everything(spec: Any) -> Iterator[Any]:
    """The spec and all inside it."""
    yield spec
    for part in inner(spec):
        yield from everything(part)


def leaves(spec: Any) -> tuple[Any, ...]:
    """The mechanisms that are run, each once."""
    return tuple(dict.fromkeys(part for part in everything(spec) if not inner(part)))


def draws_again(spec: Any) -> bool:
    """Whether anything inside draws a batch that leaves someone out."""
    return any(part.kind == "subsampled" and part.sampling != "full" for part in everything(spec))


Levels = tuple[Any, ...]
"""A reading: the spec again as (level of this draw, readings of what is inside)."""


def readings(spec: Any, unit: str, above: str = "nothing") -> Iterator[Levels]:
    """All that `level` can mean where it is absent. Below a draw of records only records can be drawn.

    For a client, records that no draw of clients stands above are its own, or everyone's in one pool.
    """
    if spec.kind != "subsampled":
        below = "records" if spec.kind == "shuffled" else above
        yield from ((None, *rest) for rest in product(*(tuple(readings(part, unit, below)) for part in inner(spec))))
        return
    levels: tuple[str, ...]
    if above == "pool":
        levels = ("pool",) if spec.level != "clients" else ()
    elif spec.level == "records" and unit == "client" and above == "nothing":
        levels = ("records", "pool")
    elif spec.level is not None:
        levels = (spec.level,)
    elif unit == "client":
        levels = ("clients",) if above == "nothing" else ("clients", "records")
    else:
        levels = ("records", "clients") if draws_again(spec.mechanism) else ("records",)
    for level in levels:
        if not (above == "records" and level == "clients"):
            yield from ((level, rest) for rest in readings(spec.mechanism, unit, level))


def of_clients(levels: Levels) -> bool:
    """Whether clients are drawn anywhere."""
    return levels[0] == "clients" or any(of_clients(rest) for rest in levels[1:])


def batches(spec: Any, entries: Batch, slack: int) -> Iterator[tuple[Fraction, Batch]]:
    """Every batch with its probability. `slack`: how many more or fewer there are than the spec says."""
    count = len(entries)
    if spec.sampling == "full":
        yield ONE, entries
    elif spec.sampling == "poisson":
        rate = Fraction(spec.rate) if spec.rate is not None else Fraction(spec.batch_size, spec.population)
        if spec.largest_batch is not None:
            if not spec.population - slack <= count <= spec.population:
                raise ImpossibleError
            yield from truncated(entries, rate, spec.largest_batch)
            return
        for taken in product((False, True), repeat=count):
            weight = rate ** sum(taken) * (1 - rate) ** (count - sum(taken))
            if weight:
                yield weight, tuple(entry for entry, drawn in zip(entries, taken, strict=True) if drawn)
    else:
        if spec.batch_size is None or abs(count - spec.population) > slack or count == 0:
            raise ImpossibleError
        if spec.sampling == "without-replacement":
            if spec.batch_size > count:
                raise ImpossibleError
            found = list(combinations(entries, spec.batch_size))
        else:
            found = list(product(entries, repeat=spec.batch_size))
        yield from ((Fraction(1, len(found)), batch) for batch in found)


def sees(observer: str, sampling: str) -> bool:
    """Whether the observer learns which clients are drawn: by their messages, or as all others, who know the number."""
    if sampling == "full":
        return False
    return observer == "server" or (observer == "other-clients" and sampling != "poisson")


def truncated(entries: Batch, rate: Fraction, most: int) -> Iterator[tuple[Fraction, Batch]]:
    """Every Poisson batch, or every subset of it of the largest size."""
    for taken in product((False, True), repeat=len(entries)):
        weight = rate ** sum(taken) * (1 - rate) ** (len(entries) - sum(taken))
        drawn = tuple(entry for entry, is_drawn in zip(entries, taken, strict=True) if is_drawn)
        kept = list(combinations(drawn, min(most, len(drawn))))
        if weight:
            yield from ((weight / len(kept), batch) for batch in kept)


@dataclass
class Run:
    """A spec with concrete mechanisms for its leaves, before an observer."""

    mechanisms: Mapping[Any, Mechanism]
    unit: str
    observer: str
    number: Callable[[Any], Any] = Fraction
    known: dict[Any, Law] = field(default_factory=dict)

    def law(self, spec: Any, levels: Levels, data: Batch, grouped: bool, slack: int = 0) -> Law:
        """The law of all that is put out; `grouped` data are clients with their records."""
        key = (spec, levels, data, grouped, slack)
        if key not in self.known:
            self.known[key] = self._law(spec, levels, data, grouped, slack)
        return self.known[key]

    def _law(self, spec: Any, levels: Levels, data: Batch, grouped: bool, slack: int) -> Law:
        if spec.kind == "subsampled":
            return self._drawn(spec, levels, data, grouped, slack)
        if spec.kind == "composed":
            parts = zip(spec.mechanisms, levels[1:], strict=True)
            return independent([self.law(part, rest, data, grouped, slack) for part, rest in parts])
        if spec.kind == "repeated":
            return independent([self.law(spec.mechanism, levels[1], data, grouped, slack)] * spec.times)
        if spec.kind == "shuffled":
            return self._shuffled(spec, levels, data, grouped)
        if spec.kind == "projected_sgd" and len(data) != spec.clients:
            raise ImpossibleError
        records = tuple(record for _, held in data for record in held) if grouped else data
        law = self.mechanisms[spec](records)
        return law if self.number is Fraction else {outcome: self.number(weight) for outcome, weight in law.items()}

    def _drawn(self, spec: Any, levels: Levels, data: Batch, grouped: bool, slack: int) -> Law:
        level, rest = levels
        if level == "records" and self.unit == "client":
            return self.law(spec.mechanism, rest, data, grouped, slack)  # as many equal records as one likes
        own_data = level in ("records", "pool") or not grouped
        below = slack if spec.sampling == "full" or not own_data else 0
        if level == "records" and grouped:
            own = [
                [(self.number(w), (name, held)) for w, held in batches(spec, records, slack)] for name, records in data
            ]
            found = [(_product(w for w, _ in one), tuple(client for _, client in one)) for one in product(*own)]
        else:
            found = [(self.number(w), batch) for w, batch in batches(spec, data, slack if own_data else 0)]
        shown = level == "clients" and sees(self.observer, spec.sampling)
        total: dict[Any, Any] = {}
        for weight, batch in found:
            seen = tuple(name for name, _ in batch) if shown else ()
            for outcome, chance in self.law(spec.mechanism, rest, batch, grouped, below).items():
                place = (seen, outcome) if shown else outcome
                total[place] = total.get(place, 0) + weight * chance
        return total

    def _shuffled(self, spec: Any, levels: Levels, data: Batch, grouped: bool) -> Law:
        if len(data) != spec.clients:
            raise ImpossibleError
        told = independent([self.law(spec.mechanism, levels[1], (client,), grouped) for client in data])
        if self.observer in ("server", "other-clients"):
            return told
        total: dict[Any, Any] = {}
        for outcome, chance in told.items():
            place: Any = frozenset(Counter(outcome).items())
            total[place] = total.get(place, 0) + chance
        return total


def _product(factors: Iterator[Any]) -> Any:
    total: Any = 1
    for factor in factors:
        total *= factor
    return total


def independent(laws: list[Law]) -> Law:
    """The joint law of independent outcomes."""
    total: dict[Any, Any] = {(): 1}
    for law in laws:
        total = {
            (*before, outcome): chance * weight for before, chance in total.items() for outcome, weight in law.items()
        }
    return total
