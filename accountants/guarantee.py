"""A guarantee: a curve, for a stated relation, unit and observer, with the derivation that proves it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, get_args

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.quantities import Observer, Relation, Unit

if TYPE_CHECKING:
    from epsilond.accountants.curve import Curve
    from epsilond.accountants.theorem import Condition, Step, Theorem

Tightness = Literal["proved", "witnessed", "unknown"]


@dataclass(frozen=True, kw_only=True)
class Setting:
    """What a privacy statement is about: which data sets are neighbours, whose data it is, and who looks."""

    relation: Relation
    unit: Unit = "record"
    observer: Observer = "server"

    def __post_init__(self) -> None:
        """Refuse an unknown word: read as another relation, it would halve a sensitivity."""
        for name, known in (("relation", Relation), ("unit", Unit), ("observer", Observer)):
            if getattr(self, name) not in get_args(known):
                raise InvalidInput.at(
                    f"/{name}", "is not one of the allowed values", allowed=", ".join(get_args(known))
                )

    def same_as(self, other: Setting) -> None:
        """Refuse to mix guarantees about different things.

        Raises:
            InvalidInput: naming both settings' values that differ.
        """
        for name in ("relation", "unit", "observer"):
            ours, theirs = getattr(self, name), getattr(other, name)
            if ours != theirs:
                raise InvalidInput.at(f"/{name}", f"cannot combine {ours} with {theirs}")


@dataclass(frozen=True, kw_only=True)
class Guarantee:
    """The only type theorems consume and return.

    Guarantees: at every ε ≥ 0 the upper end of `curve` is at least the true δ of every pair of neighbours in
    `setting`, if the `declared` conditions hold; the lower end is at most the largest of them.
    """

    setting: Setting
    curve: Curve
    derivation: Step
    declared: tuple[Condition, ...] = field(default=())

    @property
    def tight(self) -> Tightness:
        """`proved`: the bound is attained; `witnessed`: an instance gives the lower end; `unknown`: there is none."""
        if self.curve.tight:
            return "proved"
        return "witnessed" if self.curve.witnesses else "unknown"

    def theorems(self) -> tuple[str, ...]:
        """Ids of every theorem the derivation uses, conclusion first, without repeats."""
        found: dict[str, None] = {}
        pending = [self.derivation]
        while pending:
            step = pending.pop(0)
            found.setdefault(step.theorem)
            pending.extend(step.premises)
        return tuple(found)


@dataclass(frozen=True)
class Refusal:
    """Why a theorem gives nothing here: it does not speak of this case, or a condition of it fails."""

    theorem: Theorem
    reason: str
