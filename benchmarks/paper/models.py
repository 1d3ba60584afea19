"""Number of models within one budget: by a sum of ε, by the ledger, and by a plan that is fixed beforehand."""

from __future__ import annotations

import functools
import itertools
import tempfile
from collections.abc import Callable, Mapping
from decimal import Decimal
from pathlib import Path

import epsilond
from benchmarks.paper.exhibit import Measured, Words
from scripts.pages.markdown import table
from scripts.pages.svg import Axis, Plot, whole

DELTA = 1e-6
STEPS = 1000
RATE = 0.01
STEP = epsilond.Subsampled(sampling="poisson", rate=RATE, mechanism=epsilond.Gaussian(noise_multiplier=1.0))
MODEL = epsilond.Repeated(times=STEPS, mechanism=STEP)
TARGETS = (2.5, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0)
SHORT = (3.0,)
HEAD = ("target ε", "sum of ε", "ledger, each model chosen by the outputs before", "plan fixed beforehand")


@functools.cache
def epsilon(models: int, delta: float) -> float:
    """Return the certified upper bound on ε [nat] of a number of models in a plan that is fixed beforehand."""
    run = epsilond.Repeated(times=models * STEPS, mechanism=STEP)
    account = epsilond.account(run, relation="add-or-remove-one", unit="record", observer="server")
    return account.guarantee.curve.epsilon(delta=delta).upper


def largest(fits: Callable[[int], bool]) -> int:
    """Return the largest number of models that fits."""
    return next(models for models in itertools.count() if not fits(models + 1))


def count_in_plan(target: float) -> int:
    """Return the largest number of models with an exact composition within the target."""
    return largest(lambda models: epsilon(models, DELTA) <= target)


def count_by_sum(target: float) -> int:
    """Return the largest number of models with a sum of ε, at equal shares of δ, within the target."""
    return largest(lambda models: models * epsilon(1, DELTA / models) <= target)


def count_in_ledger(target: float) -> Measured:
    """Count the models that a ledger admits for a target ε, each committed before the next one is chosen.

    Args:
        target: ε of the ledger, in nats, at `DELTA`.

    Returns:
        `models`: their number;
        `capacity`, `used`: budget and use of Gaussian differential privacy, in units of μ²;
        `nearest`: smallest noise multiplier with which one more model would fit.
    """
    setting = {"unit": "record", "relation": "add-or-remove-one", "observer": "server"}
    budget = {"epsilon": target, "delta": DELTA, "slots": ["gdp"], "sealed": True}
    with tempfile.TemporaryDirectory() as folder, epsilond.ledger(Path(folder) / "ledger.db") as books:
        ledger = books.open(name="models", dataset="people", **setting, **budget)
        count = 0
        try:
            # Reserve and commit one model after another, until the ledger refuses.
            while True:
                with ledger.reserve(f"model {count + 1}", spec=MODEL, slot="gdp") as run:
                    run.commit(STEPS)
                count += 1
        except epsilond.LedgerExhausted as refused:
            nearest = refused.nearest["smallest_noise_multiplier"]
        slot = ledger.show().slots[0]
        capacity, used = (float(Decimal(slot[part]["mu_squared"])) for part in ("capacity", "used"))
    return {"models": count, "capacity": capacity, "used": used, "nearest": nearest}


def measure(short: bool) -> Measured:
    """Count the models of a budget by a sum of ε, by a ledger, and by a plan that is fixed beforehand.

    Args:
        short: whether only a few targets are used, for tests.

    Returns:
        `targets`: the counts at each target ε;
        `one`: ε of one model;
        `plan`: at the last target, the largest number that fits and one more, each with its ε.
    """
    targets = SHORT if short else TARGETS
    rows = []
    for target in targets:
        row = {"epsilon": target, "summed": count_by_sum(target), "fixed": count_in_plan(target)}
        rows.append(row | count_in_ledger(target))
    last = rows[-1]["fixed"]
    plan = [[models, epsilon(models, DELTA)] for models in (last, last + 1)]
    return {"targets": rows, "one": epsilon(1, DELTA), "plan": plan}


def words(measured: Measured) -> Words:
    """Write the texts for the paper on the number of models.

    Args:
        measured: the numbers that `measure` returns.

    Returns:
        Texts by name: a table of all targets, and the figures of the largest target.
    """
    rows = measured["targets"]
    last = rows[-1]
    lost = [row["fixed"] - row["models"] for row in rows]
    (fitting_models, fitting_epsilon), (excess_models, excess_epsilon) = measured["plan"]
    cells = ([f"{row[name]:g}" for name in ("epsilon", "summed", "models", "fixed")] for row in rows)
    return {
        "table": table(HEAD, cells),
        "delta": f"{DELTA:g}",
        "rate": f"{RATE:g}",
        "one": f"{measured['one']:.4f}",
        "target": f"{last['epsilon']:g}",
        "ledger": str(last["models"]),
        "summed": str(last["summed"]),
        "fits": str(fitting_models),
        "at": f"{fitting_epsilon:.3f}",
        "more": str(excess_models),
        "beyond": f"{excess_epsilon:.3f}",
        "capacity": f"{last['capacity']:.4f}",
        "used": f"{last['used']:.4f}",
        "nearest": f"{last['nearest']:.3g}",
        "most_lost": str(max(lost)),
        "without_loss": f"{lost.count(0)} of {len(lost)}",
    }


def figures(measured: Measured) -> Mapping[str, Plot]:
    """Draw the number of models over the target ε: by a fixed plan, by a ledger, and by a sum of ε.

    Args:
        measured: the numbers that `measure` returns.

    Returns:
        The figure by its name.
    """
    rows = measured["targets"]
    top = max(row["fixed"] for row in rows)
    plot = Plot(
        "How many models one budget holds",
        "Models of a thousand steps each over the target ε: a sum of ε holds few, the ledger nearly as many as a plan "
        "that is fixed beforehand.",
        Axis("target ε at δ = 1e-6 (nats)", rows[0]["epsilon"], rows[-1]["epsilon"], whole(range(3, 9))),
        Axis(f"models of {STEPS} steps, rate {RATE:g}, σ = C", 0.0, top + 1.0, whole(range(0, top + 2, 2))),
    )
    for name, series, mark in (("fixed", 5, "diamond"), ("models", 0, "dot"), ("summed", 1, "dot")):
        points = [(row["epsilon"], row[name]) for row in rows]
        plot.line(points, series, dashed=name == "fixed")
        for point in points:
            plot.dot(point, series, mark)
    plot.key("plan fixed beforehand", 5, "diamond")
    plot.key("ledger, fully adaptive", 0)
    plot.key("sum of ε", 1)
    return {"models": plot}
