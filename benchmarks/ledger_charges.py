"""Residue charges of a Gaussian slot, each asked fresh: CPU seconds and the cost.

    python -m benchmarks.ledger_charges [--only TEXT] [--nearest]

Each question runs in this process after one that warms up what is imported; no question is asked twice, for the slot
is a little different each time. `--nearest` times the refusal's largest count and smallest noise multiplier as well.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from benchmarks.everyday_specs import (
    ADDED,
    DISCRETE,
    LAPLACE,
    RESPONSE,
    SHUFFLER,
    TRUNCATED,
    Body,
    Setting,
    batch,
    poisson,
    repeated,
    shuffled,
    with_replacement,
)
from epsilond.accountants.guarantee import Setting as Case
from epsilond.accountants.ledger.charges.asked import ChargeRequest
from epsilond.accountants.ledger.nearest import fitting
from epsilond.accountants.ledger.residue import least_cost
from epsilond.accountants.ledger.state import Slot
from epsilond.accountants.ledger.stepped import steps_of
from epsilond.accountants.specs import Spec
from epsilond.reading import read_value

ETA = Decimal("1.6e-8")
ROOM = Decimal("2.3")


def noisy(multiplier: float) -> Body:
    """A Gaussian mechanism."""
    return {"kind": "gaussian", "noise_multiplier": multiplier}


QUESTIONS: dict[str, Setting] = {
    "poisson gaussian q=.01 s=1 T=1000": Setting(repeated(1000, poisson(noisy(1.0))), ADDED),
    "poisson gaussian q=.01 s=1 T=1": Setting(poisson(noisy(1.0)), ADDED),
    "poisson gaussian q=.01 s=1 T=3": Setting(repeated(3, poisson(noisy(1.0))), ADDED),
    "poisson gaussian q=.01 s=1 T=10": Setting(repeated(10, poisson(noisy(1.0))), ADDED),
    "poisson gaussian q=.01 s=1 T=20": Setting(repeated(20, poisson(noisy(1.0))), ADDED),
    "poisson gaussian q=.01 s=5 T=20": Setting(repeated(20, poisson(noisy(5.0))), ADDED),
    "poisson gaussian q=.01 s=20 T=1000": Setting(repeated(1000, poisson(noisy(20.0))), ADDED),
    "poisson gaussian q=.3 s=2 T=5": Setting(repeated(5, poisson(noisy(2.0), 0.3)), ADDED),
    "poisson gaussian q=.01 s=1 T=10, replaced": Setting(repeated(10, poisson(noisy(1.0)))),
    "poisson laplace T=100": Setting(repeated(100, poisson(LAPLACE)), ADDED),
    "laplace T=1": Setting(LAPLACE, ADDED),
    "laplace T=10": Setting(repeated(10, LAPLACE), ADDED),
    "discrete laplace T=1": Setting({**DISCRETE, "decay_rate": 0.1}),
    "discrete laplace T=10": Setting(repeated(10, {**DISCRETE, "decay_rate": 0.1})),
    "truncated discrete laplace T=1": Setting({**TRUNCATED, "decay_rate": 0.1}),
    "randomised response T=1": Setting({**RESPONSE, "epsilon": 0.3}),
    "randomised response T=20": Setting(repeated(20, {**RESPONSE, "epsilon": 0.1})),
    "without replacement T=1": Setting(batch(noisy(2.0))),
    "without replacement T=3": Setting(repeated(3, batch(noisy(2.0)))),
    "without replacement T=1000": Setting(repeated(1000, batch(noisy(4.0)))),
    "with replacement T=1": Setting(with_replacement(noisy(2.0))),
    "with replacement T=10": Setting(repeated(10, with_replacement(noisy(2.0)))),
    "shuffled gaussian T=1": Setting(shuffled(noisy(5.0)), observer=SHUFFLER),
    "shuffled gaussian T=10": Setting(repeated(10, shuffled(noisy(5.0))), observer=SHUFFLER),
    "shuffled randomised response T=10": Setting(repeated(10, shuffled(RESPONSE)), observer=SHUFFLER),
}
"""Jobs of few steps, of much noise, of every sampler; the first is the one of the issue."""


def jobs(only: str) -> Iterator[tuple[str, ChargeRequest]]:
    """The questions whose names contain a text."""
    for name, told in QUESTIONS.items():
        if only in name:
            step, count = steps_of(read_value(Spec, told.spec, at="/spec"))
            setting = Case(relation=told.relation, observer=told.observer)  # type: ignore[arg-type]
            yield name, ChargeRequest(setting=setting, spec=step, count=count)


def fresh(place: int) -> Decimal:
    """A slot that no other question has."""
    return ROOM + Decimal(place) / 1000


def main() -> None:
    """Ask, and print a row for each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="questions whose names contain this")
    parser.add_argument("--nearest", action="store_true", help="also what would fit into a slot of a fiftieth")
    asked = parser.parse_args()
    least_cost(next(jobs("randomised response T=1"))[1].parts, remaining=Decimal(1), eta=ETA)
    for place, (name, job) in enumerate(jobs(asked.only)):
        row: list[Any] = [f"{name:44s}"]
        start = time.process_time()
        parts = job.parts
        row.append(f"account {time.process_time() - start:6.2f} s")
        start = time.process_time()
        try:
            found = least_cost(parts, remaining=fresh(place), eta=ETA)
            cost = f"{found.cost:.10f}" if found is not None else "none"
        except Exception as refused:  # noqa: BLE001  it is what is to be shown
            cost = f"{type(refused).__name__}: {refused}"
        row.append(f"charge {time.process_time() - start:6.2f} s   {cost}")
        if asked.nearest:
            small = fresh(place) / 50
            slot = Slot(
                kind="gdp",
                capacity={"mu_squared": small, "eta": 16 * ETA},
            )
            start = time.process_time()
            told = fitting(ChargeRequest(setting=job.setting, spec=job.spec, count=100 * job.count), slot)
            row.append(f"nearest {time.process_time() - start:6.2f} s   {dict(told)}")
        print("   ".join(row), flush=True)


if __name__ == "__main__":
    main()
