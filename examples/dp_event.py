"""Certify what a DpEvent of dp-accounting describes.

python examples/dp_event.py

With dp-accounting installed its own objects are read; without, objects that have the same names and attributes, which
is all that is looked at.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import epsilond

try:
    import dp_accounting

    from epsilond.integrations.dp_accounting import EpsilondAccountant
except ImportError:
    dp_accounting = None

DELTA = 1e-6


def event(name: str, **attributes: Any) -> Any:
    """A DpEvent: dp-accounting's, or one that looks like it."""
    if dp_accounting is not None:
        return getattr(dp_accounting, name)(**attributes)
    return SimpleNamespace(class_name=name, **attributes)


def ledger() -> Any:
    """A thousand steps of training, and a query with Laplace noise."""
    step = event(
        "PoissonSampledDpEvent", sampling_probability=0.01, event=event("GaussianDpEvent", noise_multiplier=1.0)
    )
    training = event("SelfComposedDpEvent", event=step, count=1000)
    return event("ComposedDpEvent", events=[training, event("LaplaceDpEvent", noise_multiplier=10.0)])


def main() -> None:
    """Print ε at δ, in the relation that dp-accounting takes if it is told none."""
    run = epsilond.spec_from_dp_event(ledger(), relation="add-or-remove-one")
    account = epsilond.account(run, relation="add-or-remove-one", unit="record", observer="released-models")
    lower, upper = account.guarantee.curve.epsilon(delta=DELTA)
    print(f"at δ = {DELTA:g} the true ε lies within [{lower:.9f}, {upper:.9f}]")
    if dp_accounting is not None:
        theirs = dp_accounting.pld.PLDAccountant().compose(ledger()).get_epsilon(DELTA)
        print(f"dp-accounting's PLD accountant says {theirs:.9f}")
        ours = EpsilondAccountant(
            dp_accounting.NeighboringRelation.ADD_OR_REMOVE_ONE, unit="record", observer="released-models"
        )
        print(ours.compose(ledger()).statement(delta=DELTA))


if __name__ == "__main__":
    main()
