"""Lowy and Razaviyayn: the true ε at the printed noise, in the tables of `benchmarks.tightness`."""

from __future__ import annotations

from collections.abc import Mapping

from benchmarks import tightness
from benchmarks.paper.exhibit import Measured, Words
from benchmarks.tightness import Run
from epsilond.accountants.curve.enclosure import Interval
from scripts.pages.markdown import table
from scripts.pages.svg import Axis, Plot, decades

THEOREM = tuple(run for run in tightness.ALGORITHM_1 if "K_min" not in run.name)
"""The rows that meet the theorem's condition on the batch size."""
SAMPLING = "without-replacement"


def by_theorem(run: Run) -> Measured:
    """Compute the true ε at the noise of Theorem 2.1, and that noise over the least certified."""
    printed = tightness.printed_noise_multiplier(run)
    least = tightness.least_noise_multiplier(run, SAMPLING, 0.1 * printed)
    return _row(run, printed) | {"over_least": printed / least}


def by_experiments(run: Run) -> Measured:
    """Compute the true ε at the noise of Appendix H, with the least batch size that it prescribes."""
    run = tightness.with_batch_of_appendix_h(run)
    return _row(run, tightness.noise_multiplier_of_appendix_h(run))


def _row(run: Run, noise: float) -> Measured:
    """Return the numbers of a run, its noise multiplier and the enclosure of its true ε.

    The member `run` has the name, records, batch size, rounds, target ε and δ.
    """
    name = run.name.partition(",")[0] if run.name.startswith("A") else run.name
    return {"run": [name, *run[1:6]], "noise": noise, "true": list(tightness.true_epsilon(run, noise, SAMPLING))}


def _target(row: Measured) -> float:
    """Return the target ε of a row."""
    return float(row["run"][4])


def measure(short: bool) -> Measured:
    """Compute both tables."""
    most = 2 if short else None
    theorem = list(map(by_theorem, THEOREM[:most]))
    experiments = list(map(by_experiments, tightness.EXPERIMENTS[:most]))
    return {"theorem": theorem, "experiments": experiments}


def words(measured: Measured) -> Words:
    """Write the texts for the paper on the noise that Lowy and Razaviyayn print: a table, and extreme figures.

    Args:
        measured: for the theorem and for the experiments, the runs with their claimed ε and bounds on the true ε.

    Returns:
        Texts by name.
    """
    theorem = measured["theorem"]
    experiments = measured["experiments"]
    ratios = [row["over_least"] for row in theorem]
    above = [row for row in experiments if row["true"][0] > _target(row)]
    worst = max(above, key=lambda row: row["true"][0] / _target(row))
    head = ("data", "n", "batch", "target ε", "noise multiplier", "true ε")
    shares = [row["true"][1] / _target(row) for row in theorem]
    return {
        "table": table(head, [_line(row, above=row in above) for row in experiments]),
        "rounds": str(experiments[0]["run"][3]),
        "runs": str(len(theorem)),
        "least_ratio": f"{min(ratios):.1f}",
        "largest_ratio": f"{max(ratios):.1f}",
        "largest_share": f"{100 * max(shares):.1f}",
        "above": f"{len(above)} of {len(experiments)}",
        "worst_factor": f"{worst['true'][0] / _target(worst):.2f}",
        "worst_target": f"{_target(worst):g}",
        "worst_true": tightness.bracket(Interval(*worst["true"])),
    }


def _line(row: Measured, *, above: bool) -> tuple[str, ...]:
    name, samples, batch, _, target, _ = row["run"]
    true = tightness.bracket(Interval(*row["true"])) + (" above" if above else "")
    return name, str(samples), str(batch), f"{target:g}", f"{row['noise']:.4g}", true.replace(" ", "&nbsp;")


def figures(measured: Measured) -> Mapping[str, Plot]:
    """Draw a row for each run: the claimed ε as a diamond, and the certified interval of the true ε as a bar.

    Args:
        measured: for the theorem and for the experiments, the runs with their claimed ε and bounds on the true ε.

    Returns:
        The figure by its name. Its height grows with the number of runs.
    """
    rows = [*measured["theorem"], *measured["experiments"]]
    count = len(rows)
    plot = Plot(
        "Claimed and true ε at the printed noise",
        "For each run a diamond at the claimed ε and a bar over the certified interval of the true ε. At the noise of "
        "Theorem 2.1 every bar is far left of its diamond; at the noise of Appendix H it is left of it on MNIST, and "
        "right of it for insurance from ε = 2 on.",
        Axis("ε at the run's δ (nats), one record replaced", 1e-3, 100.0, decades(-3, 2), "log"),
        Axis("", 0.0, count + 1.0, [(count - place, _name(row)) for place, row in enumerate(rows)]),
        height=110.0 + 22.0 * count,
        left=226.0,
    )
    for place, row in enumerate(rows):
        level = count - place
        target = _target(row)
        low, high = row["true"]
        plot.thin((high, level), (target, level))
        plot.dot((target, level), 5, "diamond")
        # A run with more than the claimed ε has another colour.
        plot.bar((low, level), (high, level), 1 if low > target else 0)
    plot.key("claimed", 5, "diamond")
    plot.key("true, within the claim", 0)
    plot.key("true, above the claim", 1)
    return {"printed": plot}


def _name(row: Measured) -> str:
    name, samples, batch, rounds, epsilon, _ = row["run"]
    return f"{name}: n = {samples}, K = {batch}, R = {rounds}" if name[0] == "A" else f"H: {name}, ε = {epsilon:g}"
