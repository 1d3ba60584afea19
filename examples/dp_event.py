"""Certify the ε of a DpEvent of dp-accounting.

python examples/dp_event.py

The events are dp-accounting's if it is installed, and otherwise objects with the same names and attributes.
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
    """Return a DpEvent of dp-accounting, or an object with its name and attributes."""
    if dp_accounting is not None:
        return getattr(dp_accounting, name)(**attributes)
    return SimpleNamespace(class_name=name, **attributes)


def ledger() -> Any:
    """Return the event of a thousand steps of training and a query with Laplace noise."""
    step = event(
        "PoissonSampledDpEvent", sampling_probability=0.01, event=event("GaussianDpEvent", noise_multiplier=1.0)
    )
    training = event("SelfComposedDpEvent", event=step, count=1000)
    return event("ComposedDpEvent", events=[training, event("LaplaceDpEvent", noise_multiplier=10.0)])


def main() -> None:
    """Print ε at δ, in the default relation of dp-accounting."""
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
