"""Group the readings of printed statements that prescribe the same parameters."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, TypeVar

from epsilond.accountants.json_types import JsonObject, JsonRecord
from epsilond.accountants.numerics.outward import round_to_digits
from epsilond.accountants.verdict import Verdict
from epsilond.calibrators.serving.printed import PrintedClaims, PrintedEntry, ReadingDetails, TrueAtPrinted
from epsilond.calibrators.serving.values import Ends

if TYPE_CHECKING:
    from epsilond.calibrators.answer import Risk, TargetAnswer
    from epsilond.calibrators.serving.printed import Claims, ConditionAnswer, PrintedReading, TrueFigures

T = TypeVar("T")

DIGITS = 6
"""Significant digits of figures at printed parameters; two readings that differ by less say the same of a paper."""
RISK_ORDERS = (
    "excess_risk_scale",
    "informal_excess_risk_scale",
    "excess_risk_at_effective_participants",
    "certified_excess_risk",
)
"""Parameters that state a risk. They may differ between readings that prescribe the same run."""
NOT_SERVED = ("noise_multiplier",)
"""Parameters that are left out of entries: the statements prescribe σ, and the multiplier follows from it."""
PRIVACY_FIELDS = ("epsilon", "delta", "log10_delta")
"""Fields of a claim and of a target that state ε and δ."""
ALWAYS_SHARED = ("noise_std", "noise_levels", "batch_size", "rounds", "group")
"""Parameters that readings of one entry must all have, or all lack: a reading without noise prescribes another run."""


def printed_entries(
    readings: Iterable[PrintedReading], *, problem: object, target: TargetAnswer, risk: Risk | None
) -> tuple[PrintedEntry, ...]:
    """Combine interpretations ("readings") of a paper's theorem that prescribe the same parameters into entries.

    Two readings share an entry only if theorem, status, reason, claimed (ε, δ) and certified guarantee are equal and no
    prescribed parameter differs. All other differences are in `by_reading`.

    Args:
        readings: the readings, with every condition.
        problem: the request; an entry does not repeat its values.
        target: the target of the answer, which an entry does not repeat.
        risk: the risk of the answer; an entry does not repeat its objective and baseline.

    Returns:
        The entries, in the order of their first readings.

    Guarantees: no claim, no parameter except `NOT_SERVED`, and no condition that does not hold is lost. For each
    reading they follow from the request, the entry and its member of `by_reading`. `true` has the certified figures.
    Claimed risks are rounded up. The two numbers that a condition compares are rounded away from each other.
    """
    return tuple(_Entry(group, problem, target, risk).entry for group in _group_readings(readings))


def _group_readings(readings: Iterable[PrintedReading]) -> list[list[PrintedReading]]:
    """Group interpretations ("readings") of theorems that prescribe the same run and claim the same (ε, δ).

    Args:
        readings: evaluated readings of one or several theorems.

    Returns:
        Groups in the order of their first readings. A reading is in the first group in which it agrees with all others.
    """
    groups: list[list[PrintedReading]] = []
    for reading in readings:
        matching = [group for group in groups if all(_can_share_entry(reading, member) for member in group)]
        if matching:
            matching[0].append(reading)
        else:
            groups.append([reading])
    return groups


def _can_share_entry(first: PrintedReading, second: PrintedReading) -> bool:
    """Return whether two interpretations of a theorem prescribe the same run, with the same claimed and true (ε, δ)."""
    have_same_values = _shared_values(first) == _shared_values(second)
    return have_same_values and _have_same_parameters(first.parameters, second.parameters)


def _shared_values(reading: PrintedReading) -> tuple[object, ...]:
    """Return all values except for parameters that must be equal in the interpretations of one entry of an answer."""
    claims = reading.claims
    privacy = tuple(getattr(claims, name) for name in PRIVACY_FIELDS)
    return (reading.theorem, reading.status, reading.reason, privacy, reading.true)


def _have_same_parameters(first: Mapping[str, float], second: Mapping[str, float]) -> bool:
    """Return whether two interpretations of a theorem prescribe equal parameters.

    A parameter may be absent from one of them, except for those in `ALWAYS_SHARED`. Orders of the risk may differ.

    Args:
        first: parameters of the first interpretation, by name.
        second: parameters of the second interpretation, by name.
    """
    shared = (set(first) & set(second)) - set(RISK_ORDERS)
    have_same_required = all((name in first) == (name in second) for name in ALWAYS_SHARED)
    return have_same_required and all(first[name] == second[name] for name in shared)


@dataclass(frozen=True)
class _Entry:
    """Builder of one entry of an answer from readings (interpretations) of a theorem that prescribe the same run.

    Attributes:
        group: the readings, at least one.
        problem: the request. The entry does not repeat its values.
        target: the target (ε, δ) of the answer, which the entry does not repeat.
        risk: the certified risk of the answer, or None. The entry does not repeat its objective and baseline.
    """

    group: Sequence[PrintedReading]
    problem: object
    target: TargetAnswer
    risk: Risk | None

    @property
    def entry(self) -> PrintedEntry:
        """Entry of the answer: common parameters, claims and conditions of the readings, and their differences."""
        first = self.group[0]
        prescribed = self._prescribed
        claims = self._common_claims
        conditions = self._common(_open_conditions)

        # A reading without differences is only named in `readings`.
        details = [self._details(reading, prescribed, claims, conditions) for reading in self.group]
        differences = [reading for reading in details if reading != ReadingDetails(reading=reading.reading)]
        return PrintedEntry(
            theorem=first.theorem,
            readings=tuple(reading.reading for reading in self.group),
            status=first.status,
            reason=first.reason,
            parameters=prescribed,
            claims=PrintedClaims(**claims) if claims else None,
            true=_round_certified(first.true),
            conditions=tuple(conditions.values()) or None,
            by_reading=_drop_repeated_statements(differences, conditions) or None,
        )

    @property
    def _prescribed(self) -> dict[str, float]:
        """Parameters that the readings prescribe, by name, also if only some of the readings have them.

        Claimed orders of the risk (`RISK_ORDERS`) are left out if they differ. Parameters in `NOT_SERVED`, and those
        with the value of the request, are left out too.
        """
        union: dict[str, float] = {}
        for reading in self.group:
            union |= reading.parameters
        shared = self._common(lambda reading: reading.parameters)
        prescribed = {}
        for name, value in union.items():
            differs = name in RISK_ORDERS and name not in shared
            is_requested = getattr(self.problem, name, None) == value
            if name not in NOT_SERVED and not differs and not is_requested:
                prescribed[name] = value
        return prescribed

    @property
    def _common_claims(self) -> JsonRecord:
        """Claims that all readings make, by name, and the objective and baseline of the risk of any reading."""
        common = self._common(self._claims)
        if "excess_risk" not in common:
            common.pop("vacuous", None)
        for reading in self.group:
            claims = self._claims(reading)
            common |= {name: claims[name] for name in ("objective", "baseline") if name in claims}
        return common

    def _common(self, members_of: Callable[[PrintedReading], Mapping[str, T]]) -> dict[str, T]:
        """Return those members, by name, that are equal in all readings of the entry.

        Args:
            members_of: function that returns some members of a reading by name, such as its conditions.

        Returns:
            The common members, in the order of the first reading.
        """
        first, *rest = map(members_of, self.group)
        return {
            name: value
            for name, value in first.items()
            if all(name in members and members[name] == value for members in rest)
        }

    def _details(
        self,
        reading: PrintedReading,
        prescribed: Mapping[str, float],
        claims: JsonObject,
        conditions: Mapping[str, ConditionAnswer],
    ) -> ReadingDetails:
        """Return how one reading (interpretation of a theorem) differs from the common parts of its entry.

        Args:
            reading: the reading.
            prescribed: the parameters of the entry, by name.
            claims: the common claims, by name.
            conditions: the common conditions that do not hold, by id.

        Returns:
            The parts that the entry does not have, and the names of its parameters that this reading leaves open. A
            field is None if it has no difference.
        """
        own_parameters = {
            name: round_to_digits(value, DIGITS, up=True)
            for name, value in reading.parameters.items()
            if name in RISK_ORDERS and name not in prescribed
        }
        own_claims = {name: value for name, value in self._claims(reading).items() if name not in claims}
        own_conditions = tuple(
            condition for name, condition in _open_conditions(reading).items() if name not in conditions
        )

        open_names = tuple(name for name in prescribed if name not in reading.parameters)
        return ReadingDetails(
            reading=reading.reading,
            parameters=own_parameters or None,
            leaves_open=open_names or None,
            excess_risk=own_claims.get("excess_risk"),
            vacuous=own_claims.get("vacuous") if "excess_risk" in own_claims else None,
            conditions=own_conditions or None,
        )

    def _claims(self, reading: PrintedReading) -> JsonRecord:
        """Return the ε, δ and excess risk that a reading (interpretation of a theorem) claims, by name.

        Claims that repeat the rest of the answer are left out: the (ε, δ) of the target, and the objective and baseline
        of the certified risk. A claimed excess risk is rounded up to `DIGITS` significant digits.

        Args:
            reading: a reading of the entry.
        """
        claims = reading.claims
        members: JsonRecord = {}
        for field in fields(claims):
            value = getattr(claims, field.name)
            if value is not None:
                members[field.name] = value

        if self._claims_are_target(claims):
            for name in PRIVACY_FIELDS:
                members.pop(name, None)
        if self.risk is not None:
            for name in ("objective", "baseline"):
                if name in members and members[name] == getattr(self.risk, name):
                    del members[name]

        if claims.excess_risk is not None:
            members["excess_risk"] = round_to_digits(claims.excess_risk, DIGITS, up=True)
        return members

    def _claims_are_target(self, claims: Claims) -> bool:
        """Return whether a theorem claims exactly the ε and δ of the target."""
        return all(getattr(claims, name) == getattr(self.target, name) for name in PRIVACY_FIELDS)


def _open_conditions(reading: PrintedReading) -> dict[str, ConditionAnswer]:
    """Return those conditions of a theorem that fail or cannot be decided, by id, with rounded numbers."""
    return {condition.id: _round_sides(condition) for condition in reading.conditions if condition.holds != Verdict.YES}


def _round_sides(condition: ConditionAnswer) -> ConditionAnswer:
    """Round the two numbers that a condition compares, the smaller one down and the larger one up.

    So they still show which one is larger. Equal numbers and integers are not rounded.

    Args:
        condition: the evaluated condition; its sides are None if it has no numbers.

    Returns:
        A copy with rounded sides. If there is nothing to compare, the condition itself.
    """
    left = condition.left
    right = condition.right
    if left is None or right is None or left == right:
        return condition
    rounded_left = _round_side(left, up=left > right)
    rounded_right = _round_side(right, up=right > left)
    return replace(condition, left=rounded_left, right=rounded_right)


def _round_side(value: float, *, up: bool) -> float:
    """Round one side of a condition to `DIGITS` significant digits, up or down; an integer is not rounded.

    Args:
        value: the number on this side.
        up: whether to round up.

    Returns:
        The rounded number.
    """
    if isinstance(value, int):
        return value
    return round_to_digits(value, DIGITS, up=up)


def _drop_repeated_statements(
    details: Iterable[ReadingDetails], common: Mapping[str, ConditionAnswer]
) -> tuple[ReadingDetails, ...]:
    """Leave out the statement of a condition if an earlier condition in the answer has the same id.

    Args:
        details: the parts in which interpretations ("readings") of a theorem differ, in the order of the answer.
        common: the conditions of the whole entry, by id, which come first.

    Returns:
        Copies of the details, in the same order.
    """
    previous_ids = set(common)
    shortened = []
    for reading in details:
        conditions = tuple(
            replace(condition, statement=None) if condition.id in previous_ids else condition
            for condition in reading.conditions or ()
        )
        previous_ids |= {condition.id for condition in conditions}
        shortened.append(replace(reading, conditions=conditions or None))
    return tuple(shortened)


def _round_certified(true: TrueFigures | None) -> TrueAtPrinted | None:
    """Round the certified ε and log10 δ at a paper's parameters outward. δ is left out: log10 δ determines it."""
    if true is None:
        return None
    return TrueAtPrinted(
        epsilon=_round_outward(true.epsilon),
        log10_delta=_round_outward(true.log10_delta),
        log10_one_minus_delta=true.log10_one_minus_delta,
    )


def _round_outward(ends: Ends) -> Ends:
    """Return the enclosure with its lower bound rounded down and its upper bound rounded up."""
    return Ends(round_to_digits(ends.lower, DIGITS, up=False), round_to_digits(ends.upper, DIGITS, up=True))
