"""account(spec) → what can be proved of it: every applicable theorem is tried, the best is kept, and why is said."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from accountants.errors import ConditionViolated
from accountants.guarantee import Guarantee, Refusal, Setting
from accountants.rule import Case, Effort
from accountants.theorems import RULES
from accountants.theorems.joined import least

if TYPE_CHECKING:
    from accountants.curve import Curve
    from accountants.quantities import Observer, Relation, Unit


@dataclass(frozen=True)
class Considered:
    """A theorem that was tried: whether it applies, why not, and the curve it gave."""

    theorem: str
    applies: bool
    reason: str | None = None
    curve: Curve | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Account:
    """The guarantee, and every theorem that was tried on the way."""

    guarantee: Guarantee
    considered: tuple[Considered, ...]


@dataclass
class _Accountant:
    """Walks a spec once; equal inner specs are accounted for once."""

    effort: Effort
    considered: list[Considered] = field(default_factory=list)
    known: dict[tuple[Any, Setting], Guarantee] = field(default_factory=dict)

    def account(self, spec: Any, setting: Setting) -> Guarantee:
        key = (spec, setting)
        if key not in self.known:
            self.known[key] = self._proved(spec, setting)
        return self.known[key]

    def _proved(self, spec: Any, setting: Setting) -> Guarantee:
        """The first bound, as rules of a kind stand best first or exclude one another; the least of those that join."""
        case = Case(setting, self.effort, self.account)
        reasons, found = [], []
        for rule in RULES:
            if rule.kind != spec.kind:
                continue
            outcome = rule.apply(spec, case)
            if isinstance(outcome, Refusal):
                self._note(Considered(rule.theorem.id, applies=False, reason=outcome.reason))
                reasons.append(f"{rule.theorem.id}: {outcome.reason}")
                continue
            self._note(Considered(rule.theorem.id, applies=True, curve=outcome.curve))
            found.append(outcome)
            if not rule.joins:
                break
        if found:
            return found[0] if len(found) == 1 else least(found)
        raise ConditionViolated(
            f"no theorem covers {spec.kind} under {setting.relation}: " + "; ".join(reasons or ["none is known"])
        )

    def _note(self, tried: Considered) -> None:
        if tried not in self.considered:
            self.considered.append(tried)


def account(
    spec: Any,
    *,
    relation: Relation,
    unit: Unit = "record",
    observer: Observer = "server",
    effort: Effort = "default",
) -> Account:
    """What can be proved of a spec, for a stated relation, unit and observer.

    Guarantees: the guarantee's upper end is at least the true δ at every ε, at every effort. Law: the answer depends
    on nothing but the arguments.

    Raises:
        ConditionViolated: no theorem covers some part of the spec under this relation; the message says why of each.
        BeyondBudget: the work would exceed the fixed budget.
    """
    accountant = _Accountant(effort)
    guarantee = accountant.account(spec, Setting(relation=relation, unit=unit, observer=observer))
    return Account(guarantee, tuple(accountant.considered))
