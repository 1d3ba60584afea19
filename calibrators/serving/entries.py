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
    """Group the interpretations ("readings") of theorems that agree, in the order of the first members.

    Args:
        readings: evaluated readings of one or several theorems.

    Returns:
        Lists in which every two readings agree. A reading joins the first list with which it agrees.
    """
    groups: list[list[PrintedReading]] = []
    for reading in readings:
        matching = [group for group in groups if all(_agree(reading, member) for member in group)]
        if matching:
            matching[0].append(reading)
        else:
            groups.append([reading])
    return groups


def _agree(first: PrintedReading, second: PrintedReading) -> bool:
    """Decide whether two interpretations of a theorem prescribe the same run, with equal claims and guarantees."""
    have_same_values = _shared_values(first) == _shared_values(second)
    return have_same_values and _have_same_parameters(first.parameters, second.parameters)


def _shared_values(reading: PrintedReading) -> tuple[object, ...]:
    """Return the values, apart from parameters, that interpretations must share to be one entry of an answer."""
    claims = reading.claims
    privacy = tuple(getattr(claims, name) for name in PRIVACY_FIELDS)
    return (reading.theorem, reading.status, reading.reason, privacy, reading.true)


def _have_same_parameters(first: Mapping[str, float], second: Mapping[str, float]) -> bool:
    """Decide whether two interpretations of a theorem prescribe equal parameters.

    A parameter that only one of them has does not differ, unless it is one of `ALWAYS_SHARED`. Orders of the risk may
    differ.

    Args:
        first: parameters of one interpretation, by name.
        second: those of the other.

    Returns:
        True if no parameter differs.
    """
    shared = (set(first) & set(second)) - set(RISK_ORDERS)
    same_names = all((name in first) == (name in second) for name in ALWAYS_SHARED)
    return same_names and all(first[name] == second[name] for name in shared)


@dataclass(frozen=True)
class _Entry:
    """The readings of one entry, and the parts of the answer that the entry does not repeat.

    Attributes:
        group: readings of one theorem that prescribe the same run; at least one.
        problem: the request.
        target: the requested (ε, δ).
        risk: the certified risk of the answer, if there is one.
    """

    group: Sequence[PrintedReading]
    problem: object
    target: TargetAnswer
    risk: Risk | None

    @property
    def entry(self) -> PrintedEntry:
        """Entry of the answer: common parameters, claims and conditions of several readings, and their differences.

        A reading is one interpretation of a theorem as a paper prints it. Readings that agree are served as one entry,
        so that the answer does not repeat them.
        """
        # The parts that all readings share.
        first = self.group[0]
        prescribed = self._prescribed
        claims = self._common_claims
        conditions = self._common(_open_conditions)

        # The readings that differ from the shared parts.
        details = [self._details(reading, prescribed, claims, conditions) for reading in self.group]
        differences = [reading for reading in details if reading != ReadingDetails(reading=reading.reading)]
        return PrintedEntry(
            theorem=first.theorem,
            readings=tuple(reading.reading for reading in self.group),
            status=first.status,
            reason=first.reason,
            parameters=prescribed,
            claims=PrintedClaims(**claims) if claims else None,
            true=_served_truth(first.true),
            conditions=tuple(conditions.values()) or None,
            by_reading=_drop_repeated_statements(differences, conditions) or None,
        )

    @property
    def _prescribed(self) -> dict[str, float]:
        """Parameters that the readings (interpretations of one theorem) prescribe, by name.

        One reading that has a parameter suffices, because readings of an entry never differ in it. Claimed orders of
        the risk (`RISK_ORDERS`) may differ, and are left out if they do. Parameters of `NOT_SERVED` and values of the
        request are left out, too.
        """
        # All parameters of any reading, without those that differ, are requested or are never served.
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
        """Claims that all readings make, by name, with the objective and the baseline of any claimed risk."""
        common = self._common(self._claims)
        if "excess_risk" not in common:
            common.pop("vacuous", None)
        for reading in self.group:
            claims = self._claims(reading)
            common |= {name: claims[name] for name in ("objective", "baseline") if name in claims}
        return common

    def _common(self, members_of: Callable[[PrintedReading], Mapping[str, T]]) -> dict[str, T]:
        """Return the named members that are equal in all readings (interpretations) of the entry.

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
        """Return the parts of one reading (interpretation) that the other readings of its entry do not share.

        Readings that agree are served as one entry, so that shared parts are written once.

        Args:
            reading: the reading (interpretation) of the theorem.
            prescribed: the common parameters.
            claims: the common claims.
            conditions: the common conditions that do not hold, by id.

        Returns:
            The parts that only this reading has; a field is None if all of it is shared.
        """
        # The orders of the risk, claims and conditions that the readings do not share.
        own_parameters = {
            name: round_to_digits(value, DIGITS, up=True)
            for name, value in reading.parameters.items()
            if name in RISK_ORDERS and name not in prescribed
        }
        own_claims = {name: value for name, value in self._claims(reading).items() if name not in claims}
        own_conditions = tuple(
            condition for name, condition in _open_conditions(reading).items() if name not in conditions
        )

        # The common parameters that this reading does not prescribe.
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
        """Return the ε, δ and excess risk that a paper's theorem claims in one reading (interpretation), by name.

        Claims that repeat the rest of the answer are left out. These are an (ε, δ) equal to the target, and the
        objective and baseline of the certified risk. A claimed excess risk is rounded up to `DIGITS` digits.

        Args:
            reading: one of the readings that the entry of the answer combines.

        Returns:
            The claims that the entry has to state.
        """
        # All claims of the reading by name.
        claims = reading.claims
        members: JsonRecord = {}
        for field in fields(claims):
            value = getattr(claims, field.name)
            if value is not None:
                members[field.name] = value

        # Leave out those that repeat the target, or the objective and the baseline of the certified risk.
        if self._claims_target(claims):
            for name in PRIVACY_FIELDS:
                members.pop(name, None)
        if self.risk is not None:
            for name in ("objective", "baseline"):
                if name in members and members[name] == getattr(self.risk, name):
                    del members[name]

        if claims.excess_risk is not None:
            members["excess_risk"] = round_to_digits(claims.excess_risk, DIGITS, up=True)
        return members

    def _claims_target(self, claims: Claims) -> bool:
        """Decide whether a reading claims exactly the target."""
        return all(getattr(claims, name) == getattr(self.target, name) for name in PRIVACY_FIELDS)


def _open_conditions(reading: PrintedReading) -> dict[str, ConditionAnswer]:
    """Return the conditions that fail or are undecidable, by id."""
    return {condition.id: _round_sides(condition) for condition in reading.conditions if condition.holds != Verdict.YES}


def _round_sides(condition: ConditionAnswer) -> ConditionAnswer:
    """Round the two numbers that a condition compares away from each other: the smaller down, the larger up.

    After rounding, the numbers still show which one is larger. Numbers that are equal, or integers, are not rounded.

    Args:
        condition: the evaluated condition; its sides are None if they cannot be computed.

    Returns:
        A copy with rounded sides, or the condition itself.
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
    """Leave out the statement of a condition that an earlier condition with the same id has.

    Args:
        details: the parts in which interpretations ("readings") of a theorem differ, in the order of the answer.
        common: the conditions of the whole entry, by id, which come first.

    Returns:
        Copies of the details, in the same order.
    """
    # Conditions are read in the order of the answer, so that the first one of an id keeps its statement.
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


def _served_truth(true: TrueFigures | None) -> TrueAtPrinted | None:
    """Return the certified figures, rounded outward; δ is left out, because log10 δ determines it."""
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
