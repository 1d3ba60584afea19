"""How many models one budget holds: by a sum of ε, by the ledger, and by a plan that nobody may change."""

from __future__ import annotations

import functools
import tempfile
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path

import epsilond
from benchmarks.paper.exhibit import Exhibit, Measured, Words
from scripts.pages.markdown import table
from scripts.pages.svg import Axis, Plot, whole

DELTA = 1e-6
STEPS = 1000
RATE = 0.01
STEP = epsilond.Subsampled(sampling="poisson", rate=RATE, mechanism=epsilond.Gaussian(noise_multiplier=1.0))
MODEL = epsilond.Repeated(times=STEPS, mechanism=STEP)
TARGETS = (2.5, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0)
SHORT = (2.5, 4.0)


@functools.cache
def epsilon(models: int, delta: float) -> float:
    """Of so many models in a plan that is fixed beforehand: the certified upper end."""
    run = epsilond.Repeated(times=models * STEPS, mechanism=STEP)
    return (
        epsilond.account(run, relation="add-or-remove-one", unit="record", observer="server")
        .guarantee.curve.epsilon(delta=delta)
        .upper
    )


def fixed(target: float) -> int:
    """The most models whose exact composition stays within the target."""
    count = 0
    while epsilon(count + 1, DELTA) <= target:
        count += 1
    return count


def summed(target: float) -> int:
    """The most models whose ε at an equal share of δ add up to no more than the target."""
    count = 0
    while (count + 1) * epsilon(1, DELTA / (count + 1)) <= target:
        count += 1
    return count


def held(target: float) -> Measured:
    """What a ledger with one Gaussian slot lets run, each model reserved and committed before the next is chosen."""
    with tempfile.TemporaryDirectory() as folder, epsilond.ledger(Path(folder) / "ledger.db") as books:
        ledger = books.open(
            name="models",
            dataset="people",
            unit="record",
            relation="add-or-remove-one",
            observer="server",
            epsilon=target,
            delta=DELTA,
            slots=["gdp"],
            sealed=True,
        )
        count = 0
        while True:
            try:
                with ledger.reserve(f"model {count + 1}", spec=MODEL, slot="gdp") as run:
                    run.commit(STEPS)
            except epsilond.LedgerExhausted as refused:
                nearest = refused.nearest["smallest_noise_multiplier"]
                break
            count += 1
        slot = ledger.show().slots[0]
        capacity, used = (Decimal(slot[part]["mu_squared"]) for part in ("capacity", "used"))
    return {"models": count, "capacity": float(capacity), "used": float(used), "nearest": nearest}


def measure(short: bool) -> Measured:
    """The counts at each target, and ε of the fixed plan around the last."""
    rows = [
        {"epsilon": target, "summed": summed(target), "fixed": fixed(target)} | held(target)
        for target in (SHORT if short else TARGETS)
    ]
    last = rows[-1]["fixed"]
    return {
        "targets": rows,
        "one": epsilon(1, DELTA),
        "plan": [[models, epsilon(models, DELTA)] for models in (last, last + 1)],
    }


def words(measured: Measured) -> Words:
    """A table, and the largest target's figures."""
    rows, last = measured["targets"], measured["targets"][-1]
    lost = [one["fixed"] - one["models"] for one in rows]
    (fits, at), (more, beyond) = measured["plan"]
    return {
        "table": table(
            ("target ε", "sum of ε", "ledger, each model chosen by the outputs before", "plan fixed beforehand"),
            ((f"{one['epsilon']:g}", str(one["summed"]), str(one["models"]), str(one["fixed"])) for one in rows),
        ),
        "delta": f"{DELTA:g}",
        "rate": f"{RATE:g}",
        "one": f"{measured['one']:.4f}",
        "target": f"{last['epsilon']:g}",
        "ledger": str(last["models"]),
        "summed": str(last["summed"]),
        "fits": str(fits),
        "at": f"{at:.3f}",
        "more": str(more),
        "beyond": f"{beyond:.3f}",
        "capacity": f"{last['capacity']:.4f}",
        "used": f"{last['used']:.4f}",
        "nearest": f"{last['nearest']:.3g}",
        "most_lost": str(max(lost)),
        "without_loss": f"{sum(one == 0 for one in lost)} of {len(lost)}",
    }


def figures(measured: Measured) -> Mapping[str, Plot]:
    """Models over the target."""
    rows = measured["targets"]
    top = max(one["fixed"] for one in rows)
    plot = Plot(
        "How many models one budget holds",
        "Models of a thousand steps each over the target ε: a sum of ε holds few, the ledger nearly as many as a plan "
        "that is fixed beforehand.",
        Axis("target ε at δ = 1e-6 (nats)", rows[0]["epsilon"], rows[-1]["epsilon"], whole(range(3, 9))),
        Axis(f"models of {STEPS} steps, rate {RATE:g}, σ = C", 0.0, top + 1.0, whole(range(0, top + 2, 2))),
    )
    for name, series, mark in (("fixed", 5, "diamond"), ("models", 0, "dot"), ("summed", 1, "dot")):
        points = [(one["epsilon"], one[name]) for one in rows]
        plot.line(points, series, dashed=name == "fixed")
        for point in points:
            plot.dot(point, series, mark)
    plot.key("plan fixed beforehand", 5, "diamond")
    plot.key("ledger, fully adaptive", 0)
    plot.key("sum of ε", 1)
    return {"models": plot}


EXHIBIT = Exhibit(
    name="models",
    about="models of a thousand steps that a budget holds, by three ways of keeping it",
    measure=measure,
    words=words,
    figures=figures,
)
