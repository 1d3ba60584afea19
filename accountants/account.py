"""The certified account of a spec: every applicable theorem is tried, and the best bound is returned."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, get_args

from epsilond.accountants.attempts import Attempt
from epsilond.accountants.curve.search import PROBES
from epsilond.accountants.errors import ConditionViolated, NoCertificate
from epsilond.accountants.guarantee import Guarantee, Setting
from epsilond.accountants.json_types import JsonRecord
from epsilond.accountants.quantities import Observer, Relation, base_unit, require_unit
from epsilond.accountants.rule import Case, Effort, Refusal
from epsilond.accountants.specs import Spec, Subsampled
from epsilond.accountants.theorems import RULES
from epsilond.accountants.theorems.composition.least_of import least
from epsilond.accountants.verdict import Verdict

if TYPE_CHECKING:
    from epsilond.accountants.curve.curve import Curve
    from epsilond.accountants.quantities import ProtectedUnit
    from epsilond.accountants.specs import Spec

LIKELY_OBSERVERS: tuple[Observer, ...] = (
    "released-models",
    "shuffled-server",
    "final-model",
    "other-clients",
    "server",
)
"""Observers in the order in which they are proposed to a caller whose own observer has no proof."""

_KINDS = {rule.kind for rule in RULES}
_RULES_OF = {kind: tuple(rule for rule in RULES if rule.kind == kind) for kind in _KINDS}


def _family(spec: Spec) -> str:
    """Return the name under which the rules for a spec are listed: its kind, or "shuffled-epochs".

    Shuffled epochs have rules of their own, because other sampling draws a fresh batch in each round.

    Args:
        spec: the description of a run.

    Returns:
        The name, a key of `_RULES_OF`.
    """
    is_shuffled = isinstance(spec, Subsampled) and spec.sampling == "shuffled-epochs"
    return "shuffled-epochs" if is_shuffled else spec.kind


@dataclass(frozen=True)
class Considered(Attempt):
    """A theorem that was tried, with the curve that it gave.

    Attributes:
        curve: bounds on δ by this theorem; None if it does not apply.
    """

    curve: Curve | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Account:
    """A guarantee, and every theorem that was tried for it.

    Attributes:
        guarantee: the certified privacy curve with its derivation.
        considered: the theorems in the order in which they were tried, including those that do not apply.
    """

    guarantee: Guarantee
    considered: tuple[Considered, ...]


@dataclass
class _Accountant:
    """The state of one request for a guarantee, in which equal inner specs are computed once.

    Attributes:
        effort: limit on the work of a composition.
        root: the spec of the request, which may contain other specs.
        probes: values of ε at which several bounds are compared.
        considered: the theorems that were tried so far.
        accounted: the guarantees that were computed so far, by spec and setting.
        at_efforts: accountants of the same request with other efforts.
    """

    effort: Effort
    root: Spec
    probes: tuple[float, ...] = PROBES
    considered: list[Considered] = field(default_factory=list)
    accounted: dict[tuple[Spec, Setting], Guarantee] = field(default_factory=dict)
    at_efforts: dict[Effort, _Accountant] = field(default_factory=dict)

    def at_effort(self, effort: Effort | None) -> _Accountant:
        """Return an accountant of the same request with another effort.

        Args:
            effort: limit on the work of a composition; None for that of this accountant.

        Returns:
            The accountant, which is stored. It is this one if the effort is the same.
        """
        if effort is None or effort == self.effort:
            return self
        if effort not in self.at_efforts:
            self.at_efforts[effort] = _Accountant(effort, self.root, self.probes, self.considered)
        return self.at_efforts[effort]

    def account(self, spec: Spec, setting: Setting) -> Guarantee:
        """Return the guarantee of a mechanism in a setting, from the stored ones if it was computed before.

        Args:
            spec: description of the whole mechanism, or of one inside it.
            setting: the neighbouring relation, the protected unit and the observer.

        Returns:
            The guarantee: a certified privacy curve with its derivation.

        Raises:
            ConditionViolated: no rule applies.
        """
        key = (spec, setting)
        if key not in self.accounted:
            self.accounted[key] = self._prove(spec, setting)
        return self.accounted[key]

    def _prove(self, spec: Spec, setting: Setting) -> Guarantee:
        """Return the guarantee of a mechanism by the rules for its kind, each of which applies one theorem.

        The rules are tried in order. A rule that applies ends the search, unless its bound may be combined with those
        of later rules (`combines`). The least of all bounds is then returned.

        Args:
            spec: description of the whole mechanism, or of one inside it.
            setting: the neighbouring relation, the protected unit and the observer.

        Returns:
            The guarantee of the only rule that applies, or the least of several.

        Raises:
            ConditionViolated: no rule applies. The error has the reason of each.
        """
        refusals: list[Considered] = []
        guarantees: list[Guarantee] = []
        for rule in _RULES_OF.get(_family(spec), ()):
            case = Case(setting, self.effort, self.at_effort(rule.inner_effort).account, self.root)
            outcome = rule.apply(spec, case)
            if isinstance(outcome, Refusal):
                refusal = Considered(rule.theorem.id, applies=Verdict.NO, reason=outcome.reason)
                refusals.append(refusal)
                self._note(refusal)
                continue
            self._note(Considered(rule.theorem.id, applies=Verdict.YES, curve=outcome.curve))
            guarantees.append(outcome)
            if not rule.combines:
                break

        if len(guarantees) == 1:
            return guarantees[0]
        if guarantees:
            return least(guarantees, self.probes)
        message = f"no theorem covers {spec.kind} under {setting.relation} against the observer {setting.observer}"
        if len(refusals) == 1:
            message += f": {refusals[0].reason}"
        raise ConditionViolated(message, considered=tuple(refusals))

    def _note(self, attempt: Considered) -> None:
        """Store a theorem that was tried, unless an equal entry is stored already.

        Args:
            attempt: the theorem, with its curve or the reason why it does not apply.
        """
        if attempt not in self.considered:
            self.considered.append(attempt)


def account(
    spec: Spec,
    *,
    relation: Relation,
    unit: ProtectedUnit = "record",
    observer: Observer = "server",
    effort: Effort = "default",
    only_at: float | None = None,
) -> Account:
    """Return the certified privacy guarantee of a mechanism, for a neighbouring relation, a unit and an observer.

    Guarantees: the upper bound of the guarantee is at least the true δ at every ε, at every effort. The answer depends
    only on the arguments.

    Args:
        spec: the description of the mechanism, which may be composed of others.
        relation: the neighbouring relation.
        unit: the unit of protection: a record or a client, or the part of either in one window of time.
        observer: the observer against whom the guarantee is stated.
        effort: limit on the work of a composition.
        only_at: an ε in nats at which the least of several bounds is wanted. The answer holds at every ε, but may not
            be the least at others. By default bounds are compared at `PROBES`.

    Returns:
        The guarantee, with all theorems that were tried for it.

    Raises:
        ConditionViolated: no theorem covers some part of the spec under this relation. `considered` gives the reason
            for each theorem, and `nearest` another observer or relation that a theorem covers.
        BeyondBudget: the work would exceed the fixed budget.
    """
    accountant = _Accountant(effort, spec, PROBES if only_at is None else (only_at,))
    base = unit if isinstance(unit, str) else base_unit(require_unit(unit))
    setting = Setting(relation=relation, unit=base, observer=observer)
    try:
        guarantee = accountant.account(spec, setting)
    except ConditionViolated as violation:
        raise _with_nearest(violation, spec, setting) from None
    return Account(guarantee, tuple(accountant.considered))


def _with_nearest(violation: ConditionViolated, spec: Spec, setting: Setting) -> ConditionViolated:
    """Return an error that proposes another observer or, failing that, another relation that a theorem covers.

    Args:
        violation: the error for the requested setting.
        spec: the description of a run.
        setting: the requested relation, unit and observer.

    Returns:
        The error with the first proposal that a theorem covers; the given error if there is none.
    """
    changes: list[JsonRecord] = [{"observer": observer} for observer in LIKELY_OBSERVERS]
    changes += [{"relation": relation} for relation in get_args(Relation)]
    for change in changes:
        try:
            _Accountant("coarse", spec).account(spec, replace(setting, **change))
        except NoCertificate:
            continue
        ((name, value),) = change.items()
        message = f"ask for the {name} {value}, which is covered: {violation.message}"
        return ConditionViolated(message, nearest=change, considered=violation.considered)
    return violation
