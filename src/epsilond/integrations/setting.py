"""The setting of a guarantee as keyword arguments, and the curve of steps in a setting."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, TypedDict

from epsilond.accountants.quantities import Observer, ProtectedUnit, Relation
from epsilond.integrations.counted import run_of
from epsilond.questions.account import account

if TYPE_CHECKING:
    from epsilond.accountants.guarantee import PrivacyCurve
    from epsilond.accountants.specs import Spec


class StatedSetting(TypedDict):
    """Setting of a guarantee, that is, its neighbouring relation, protected unit and adversary.

    Attributes:
        relation: relation of the two data sets that the guarantee compares, such as "add-or-remove-one".
        unit: protected unit: a record, a client, or the contributions of a client in a window of time.
        observer: the adversary, named by its observations, such as "released-models".
    """

    relation: Relation
    unit: ProtectedUnit
    observer: Observer


def find_curve(parts: Iterable[tuple[Spec, int]], setting: StatedSetting) -> PrivacyCurve | None:
    """Return the certified privacy curve of several mechanisms, each with its number of runs.

    Args:
        parts: pairs of a mechanism (spec) and its number of runs.
        setting: neighbouring relation, protected unit and observer.

    Returns:
        The curve δ(ε) of all runs together. None if nothing was run.

    Raises:
        NoCertificate: no theorem covers a part in this setting.
    """
    run = run_of(parts)
    if run is None:
        return None
    return account(run, **setting).guarantee.curve
