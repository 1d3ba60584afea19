"""Lowy and Razaviyayn: what the printed noise truly gives, in the tables of `benchmarks.tightness`."""

from __future__ import annotations

import math
from collections.abc import Mapping

from benchmarks import tightness
from benchmarks.paper.exhibit import Exhibit, Measured, Words
from benchmarks.tightness import Run
from epsilond.accountants.curve.enclosure import Interval
from epsilond.accountants.theorems.papers.lowy_razaviyayn.noise import noise_std
from scripts.pages.markdown import table
from scripts.pages.svg import Axis, Plot, decades

THEOREM = tuple(run for run in tightness.ALGORITHM_1 if "K_min" not in run.name)
"""The rows that meet the theorem's condition on the batch size."""
SAMPLING = "without-replacement"


def by_theorem(run: Run) -> Measured:
    """The true ε at the noise of Theorem 2.1, and that noise over the least certified."""
    told = {"samples_per_client": run.samples, "rounds": run.rounds, "epsilon": run.epsilon}
    printed = noise_std(lipschitz=1.0, log_delta=math.log(run.delta), **told) * run.batch  # type: ignore[arg-type]
    least = tightness.least_noise_multiplier(run, SAMPLING, 0.1 * printed)
    return _row(run, printed) | {"over_least": printed / least}


def by_experiments(run: Run) -> Measured:
    """Measure the true ε at the noise of Appendix H, with the least batch size that it prescribes."""
    run = tightness.with_batch_of_appendix_h(run)
    return _row(run, tightness.noise_multiplier_of_appendix_h(run))


def _row(run: Run, noise: float) -> Measured:
    true = tightness.true_epsilon(run, noise, SAMPLING)
    return {
        "run": [run.name.partition(",")[0] if run.name.startswith("A") else run.name, *run[1:6]],
        "noise": noise,
        "true": [true.lower, true.upper],
    }


def measure(short: bool) -> Measured:
    """Both tables."""
    most = 2 if short else None
    return {
        "theorem": [by_theorem(run) for run in THEOREM[:most]],
        "experiments": [by_experiments(run) for run in tightness.EXPERIMENTS[:most]],
    }


def words(measured: Measured) -> Words:
    """Tables, and the extremes."""
    theorem, experiments = measured["theorem"], measured["experiments"]
    ratios = [one["over_least"] for one in theorem]
    above = [one for one in experiments if one["true"][0] > one["run"][4]]
    factors = [one["true"][0] / one["run"][4] for one in above]
    shares = [one["true"][1] / one["run"][4] for one in theorem]
    worst = max(above, key=lambda one: one["true"][0] / one["run"][4])
    return {
        "table": table(
            ("data", "n", "batch", "target ε", "noise multiplier", "true ε"),
            (_line(one, one in above) for one in experiments),
        ),
        "rounds": str(experiments[0]["run"][3]),
        "runs": str(len(theorem)),
        "least_ratio": f"{min(ratios):.1f}",
        "largest_ratio": f"{max(ratios):.1f}",
        "largest_share": f"{100 * max(shares):.1f}",
        "above": f"{len(above)} of {len(experiments)}",
        "worst_factor": f"{max(factors):.2f}",
        "worst_target": f"{worst['run'][4]:g}",
        "worst_true": tightness.bracket(Interval(*worst["true"])),
    }


def _line(one: Measured, above: bool) -> tuple[str, ...]:
    name, samples, batch, _, target, _ = one["run"]
    true = tightness.bracket(Interval(*one["true"])) + (" above" if above else "")
    return name, str(samples), str(batch), f"{target:g}", f"{one['noise']:.4g}", true.replace(" ", "&nbsp;")


def figures(measured: Measured) -> Mapping[str, Plot]:
    """A row for each run: the ε that is claimed, and what is so."""
    rows = [*measured["theorem"], *measured["experiments"]]
    names = [_name(one) for one in rows]
    count = len(rows)
    plot = Plot(
        "Claimed and true ε at the printed noise",
        "For each run a diamond at the claimed ε and a bar over the certified interval of the true ε. At the noise of "
        "Theorem 2.1 every bar is far left of its diamond; at the noise of Appendix H it is left of it on MNIST, and "
        "right of it for insurance from ε = 2 on.",
        Axis("ε at the run's δ (nats), one record replaced", 1e-3, 100.0, decades(-3, 2), "log"),
        Axis("", 0.0, count + 1.0, [(count - place, name) for place, name in enumerate(names)]),
        height=110.0 + 22.0 * count,
        left=226.0,
    )
    for place, one in enumerate(rows):
        level, target, (low, high) = count - place, one["run"][4], one["true"]
        above = low > target
        plot.thin((high, level), (target, level))
        plot.dot((target, level), 5, "diamond")
        plot.bar((low, level), (high, level), 1 if above else 0)
    plot.key("claimed", 5, "diamond")
    plot.key("true, within the claim", 0)
    plot.key("true, above the claim", 1)
    return {"printed": plot}


def _name(one: Measured) -> str:
    name, samples, batch, rounds, epsilon, _ = one["run"]
    if name.startswith("A"):
        return f"{name}: n = {samples}, K = {batch}, R = {rounds}"
    return f"H: {name}, ε = {epsilon:g}"


EXHIBIT = Exhibit(
    name="printed",
    about="true ε at the noise of Lowy and Razaviyayn's Theorem 2.1 and Appendix H",
    measure=measure,
    words=words,
    figures=figures,
)
