"""Tightness of printed statements and of our own bounds: tables of certified brackets, from our own functions.

python -m benchmarks.tightness            write the tables of docs/tightness.md (minutes)
python -m benchmarks.tightness --short    print the first rows of each table (seconds)
"""

from __future__ import annotations

import functools
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from typing import Any, NamedTuple

from benchmarks.environments import ROOT
from benchmarks.tables import as_markdown, parser, write_section
from epsilond.accountants import VERSION
from epsilond.accountants.account import account
from epsilond.accountants.composition.product import composed_pair
from epsilond.accountants.curve.enclosure import Interval
from epsilond.accountants.guarantee import Guarantee
from epsilond.accountants.profiles.gaussian import gaussian_pair
from epsilond.accountants.quantities import Relation, Sampling
from epsilond.accountants.rule import Effort
from epsilond.accountants.specs import Gaussian, Repeated, Spec, Subsampled
from epsilond.accountants.target import Target
from epsilond.accountants.theorems.mechanisms import gaussian_calibration as classical
from epsilond.accountants.theorems.papers.lowy_razaviyayn import experiments
from epsilond.accountants.theorems.papers.lowy_razaviyayn.noise import minimal_batch_size, noise_std
from epsilond.accountants.theorems.papers.lowy_razaviyayn.shuffled_round import ShuffledRound
from epsilond.accountants.theorems.sampling.multiplicities import multiplicities
from epsilond.accountants.theorems.sampling.with_replacement import dominating_pair
from epsilond.accountants.theorems.shuffling.clones import ClonesBound, response_bound
from epsilond.accountants.theorems.shuffling.finite import response_instance
from epsilond.accountants.theorems.shuffling.tails import scaled_pair
from epsilond.calibrators.search import smallest_noise

WRITTEN = ROOT / "docs" / "tightness.md"
SHORT = 2


class Run(NamedTuple):
    """A run of Algorithm 1 of Lowy and Razaviyayn, noisy mini-batch SGD, with its target.

    Attributes:
        name: name in tables.
        samples: number n of records of a client.
        batch: number K of records in a batch.
        rounds: number R of rounds.
        epsilon: target ε, in nats.
        delta: target δ.
        margin: the constant L of the noise over the largest norm of a gradient. Appendix H takes L = 2 max‖x‖ for the
            logistic loss, which is twice that norm, and the clipping threshold for the squared loss.
    """

    name: str
    samples: int
    batch: int
    rounds: int
    epsilon: float
    delta: float
    margin: float = 1.0

    @property
    def target(self) -> dict[str, Any]:
        """The arguments that the paper's formulas share."""
        shared = {"samples_per_client": self.samples, "rounds": self.rounds, "epsilon": self.epsilon}
        return {**shared, "log_delta": math.log(self.delta)}


def largest_epsilon(delta: float) -> float:
    """Return 2 ln(2/δ), the largest ε of the main text."""
    return 2.0 * math.log(2.0 / delta)


ALGORITHM_1 = (
    Run("A1", 1000, 6, 100, 1.0, 1e-5),
    Run("A2", 1000, 100, 100, 1.0, 1e-5),
    Run("A3", 1000, 1000, 100, 1.0, 1e-5),
    Run("A4, ε at its limit", 100, 88, 2, largest_epsilon(1e-5), 1e-5),
    Run("A5", 1, 1, 1, 1.0, 1e-6),
    Run("A6", 10, 10, 1, 1.0, 0.01),
    Run("A7", 60_000, 25, 10_000, 1.0, 1e-8),
    Run("A8", 500, 1, 1000, 0.1, 1e-6),
    Run("A9", 10_000, 38, 10_000, 8.0, 1e-6),
    Run("A10", 50, 4, 10, 4.0, 1e-4),
    Run("A11, ε at its limit", 20, 12, 3, largest_epsilon(1e-3), 1e-3),
    Run("A12, δ = 1/2", 5, 3, 1, largest_epsilon(0.5), 0.5),
    Run("A13", 1238, 29, 35, 3.0, 1238.0**-2),
    Run("A14", 1238, 173, 35, 18.0, 1238.0**-2),
    Run("A15, K < K_min", 1000, 1, 1, 1.0, 1e-6),
    Run("A16, K = K_min/4", 1000, 12, 1, 1.0, 1e-6),
)
EXPERIMENTS = tuple(
    Run(name, n, 0, 35, epsilon, float(n) ** -2, margin)
    for name, n, margin, targets in (
        ("MNIST", 1238, 2.0, (0.75, 1.5, 3.0, 6.0, 12.0, 18.0)),
        ("insurance, N = 3", 356, 1.0, (1.0, 2.0, 3.0)),
        ("insurance, N = 5", 214, 1.0, (3.0,)),
    )
    for epsilon in targets
)
TARGETS = {
    1e-5: (0.1, 1.0, 5.0, 10.0, 46.05, 8.0 * math.log(1e5)),
    1e-2: (1.0, 8.0 * math.log(1e2)),
    1e-8: (1.0,),
    1e-12: (1.0,),
}
GAUSSIAN = tuple((delta, epsilon) for delta, targets in TARGETS.items() for epsilon in targets)
# fmt: off
SHUFFLED = (
    (1000, 1, 0.5, 1e-6), (1000, 1, 1.0, 1e-4), (10_000, 1, 0.1, 1e-6), (10_000, 1, 1.0, 1e-6), (10_000, 1, 3.0, 1e-6),
    (100_000, 1, 1.0, 1e-8), (100_000, 1, 4.0, 1e-8), (10_000, 10, 0.1, 1e-6), (100_000, 100, 0.01, 1e-6),
    (100_000, 5, 0.5, 1e-6), (100_000, 5, 0.2, 1e-6), (1_000_000, 1, 1.0, 1e-8),
)
# fmt: on
"""Clients, records of each, local ε and δ."""


# Figures ------------------------------------------------------------------------------------------------------------
def run_spec(run: Run, noise_multiplier: float, sampling: Sampling) -> Spec:
    """Return the specification of all releases of one client: Gaussian noise on random batches, once in each round.

    Args:
        run: the run.
        noise_multiplier: standard deviation of the noise of a sum over the bound on one gradient.
        sampling: sampling of the batches.

    Returns:
        The specification, which the accountant takes.
    """
    release = Gaussian(noise_multiplier=noise_multiplier)
    batch = Subsampled(sampling=sampling, batch_size=run.batch, population=run.samples, mechanism=release)
    return Repeated(times=run.rounds, mechanism=batch)


def true_epsilon(run: Run, noise_multiplier: float, sampling: Sampling) -> Interval:
    """Return certified bounds on the true ε of a run at its δ, if one record is replaced.

    Args:
        run: the run.
        noise_multiplier: standard deviation of the noise of a sum over the bound on one gradient.
        sampling: sampling of the batches.

    Returns:
        A lower and an upper bound on ε, in nats.
    """
    spec = run_spec(run, noise_multiplier, sampling)
    return account(spec, relation="replace-one").guarantee.curve.epsilon(math.log(run.delta))


def least_noise_multiplier(run: Run, sampling: Sampling, guess: float) -> float:
    """Return the smallest noise multiplier that is certified for the target of a run.

    Args:
        run: the run.
        sampling: sampling of the batches.
        guess: initial estimate of the noise multiplier.

    Returns:
        The noise multiplier, or the lower end of the search if the subsampling suffices without noise.
    """

    @functools.cache
    def family(noise: float, effort: Effort) -> Guarantee:
        """Return the guarantee of the run at a noise multiplier."""
        return account(run_spec(run, noise, sampling), relation="replace-one", effort=effort).guarantee

    return smallest_noise(family, Target.of(run.epsilon, run.delta, None), guess=guess).noise


def printed_noise_multiplier(run: Run) -> float:
    """Return σK/L of Theorem 2.1."""
    return noise_std(lipschitz=1.0, **run.target) * run.batch


def with_batch_of_appendix_h(run: Run) -> Run:
    """Return the run with the least batch size that Appendix H prescribes."""
    batch = experiments.experimental_batch_size(samples_per_client=run.samples, rounds=run.rounds, epsilon=run.epsilon)
    return run._replace(batch=math.ceil(batch))


def noise_multiplier_of_appendix_h(run: Run) -> float:
    """Return σK over the largest norm of a gradient, for σ of Appendix H."""
    return experiments.experimental_noise_std(lipschitz=run.margin, **run.target) * run.batch


def both_samplings(run: Run, noise: float) -> Iterator[str]:
    """Yield the true ε without and with replacement, and whether its lower bound exceeds the target."""
    samplings: tuple[Sampling, ...] = ("without-replacement", "with-replacement")
    for sampling in samplings:
        true = true_epsilon(run, noise, sampling)
        yield bracket(true) + (" **above**" if true.lower > run.epsilon else "")


def algorithm_1(run: Run) -> Iterator[str]:
    """Yield the cells of a row of the first table: a run at the printed noise of Theorem 2.1.

    Args:
        run: the run.

    Yields:
        Name, n, K, least K of the theorem, R, ε, δ, printed noise multiplier, and the true ε without and with
        replacement. The last cell is the printed noise over the smallest certified noise without replacement.
    """
    printed = printed_noise_multiplier(run)
    yield from (run.name, f"{run.samples}", f"{run.batch}", f"{minimal_batch_size(**run.target)}", f"{run.rounds}")
    yield from (f"{run.epsilon:.3g}", f"{run.delta:.2g}", f"{printed:.4g}", *both_samplings(run, printed))
    least = least_noise_multiplier(run, "without-replacement", guess=0.1 * printed)
    yield f"{printed / least:.3g}"


def experiment(run: Run) -> Iterator[str]:
    """Yield the cells of a row of the second table: a run at the noise and the least batch size of Appendix H."""
    run = with_batch_of_appendix_h(run)
    noise = noise_multiplier_of_appendix_h(run)
    yield from (run.name, f"{run.samples}", f"{run.rounds}", f"{run.epsilon:g}", f"{run.batch}", f"{noise:.4g}")
    yield from both_samplings(run, noise)


def one_pass(row: tuple[float, float]) -> Iterator[str]:
    """Yield the cells of a row of the third table: the noise of Theorem 2.3 for one Gaussian release.

    The printed σ² = 32L² ln(1.25/δ)/(εK)² is the form of Bun and Steinke 2016 at sensitivity 2L/K. The proof also has
    8L² in place of 32L², which is half the noise.

    Args:
        row: δ and ε.

    Yields:
        δ and ε; the printed and the least σ at sensitivity 1, and their ratio; the true ε at the printed σ and at half
        of it.
    """
    delta, epsilon = row
    # ε depends only on noise over sensitivity, so that the sensitivity is 1.
    inputs = classical.BUN_STEINKE_GAUSSIAN.request(epsilon=epsilon, delta=delta, sensitivity=1.0)
    outputs = classical.BUN_STEINKE_GAUSSIAN.evaluate(inputs).outputs
    printed, exact = outputs["noise_std"], outputs["upper_exact_noise_std"]
    yield from (f"{delta:g}", f"{epsilon:.4g}", f"{printed:.4g}", f"{exact:.4g}", f"{printed / exact:.3g}")
    for noise in (printed, 0.5 * printed):
        true = gaussian_pair(1.0 / noise).epsilon(math.log(delta))
        yield f"{true.upper:.4g}" + (" **above**" if true.lower > epsilon else "")


def shuffle_row(row: tuple[int, int, float, float]) -> Iterator[str]:
    """Yield the cells of a row of the fourth table: ε of a shuffled round by three upper bounds and a lower bound.

    Args:
        row: number of clients, records of each, ε of a local report, and δ.

    Yields:
        The row; ε as printed, by clones, and by randomised responses; the lower bound; printed ε over that by clones.
    """
    clients, samples, local, delta = row
    log_delta = math.log(delta)
    theorem = ShuffledRound(clients=clients, samples_per_client=samples, local_epsilon=local, local_log_delta=-math.inf)
    printed = theorem.epsilon(log_delta)
    # Clones: another client's report looks like the victim's with probability e^{−nε₀}, for n records.
    clones = scaled_pair(ClonesBound(clients, math.exp(-samples * local), local)).epsilon(log_delta).upper
    yield from (f"{clients}", f"{samples}", f"{local:g}", f"{delta:g}", f"{printed:.4g}", f"{clones:.4g}")
    # Randomised responses: only for one record of each client.
    if samples == 1:
        yield f"{scaled_pair(response_bound(clients, local, 2)).epsilon(log_delta).upper:.4g}"
        yield f"{response_instance(clients, local, 2).epsilon(log_delta).lower:.4g}"
    else:
        yield from ("–", "–")
    yield f"{printed / clones:.3g}"


class Batches(NamedTuple):
    """Repeated Gaussian releases on batches of fixed size."""

    sampling: Sampling
    relation: Relation
    population: int
    batch: int
    noise_multiplier: float
    rounds: int


BATCHES = tuple(
    Batches(sampling, relation, 1000, batch, noise_multiplier, rounds)
    for sampling, relation in (
        ("without-replacement", "replace-one"),
        ("without-replacement", "zero-out-one"),
        ("with-replacement", "replace-one"),
        ("with-replacement", "zero-out-one"),
    )
    for batch, noise_multiplier in ((10, 2.0), (100, 1.0), (500, 2.0))
    for rounds in (1, 10, 1000)
)
BATCH_LOG_DELTA = math.log(1e-5)


def published_epsilon(case: Batches) -> float:
    """Return the upper bound on ε by Balle, Barthe and Gaboardi 2018, Theorem 9 or 10, which are for replace-one.

    Args:
        case: the releases.

    Returns:
        The bound at δ = 10⁻⁵, in nats.
    """
    release = Gaussian(noise_multiplier=case.noise_multiplier)
    # With replacement a record is drawn a random number of times.
    drawn = multiplicities(case.batch, case.population)
    if case.sampling == "without-replacement" or drawn is None:
        batch = Subsampled(sampling=case.sampling, batch_size=case.batch, population=case.population, mechanism=release)
        pair = account(batch, relation="replace-one").guarantee.curve.upper
    else:
        pair = dominating_pair(release, drawn)
    return composed_pair([(pair, case.rounds)], "default").upper_epsilon(BATCH_LOG_DELTA)


def batch_row(case: Batches) -> Iterator[str]:
    """Yield the cells of a row of the last table: the certified ε, and the gap by the published bound and by ours.

    Args:
        case: the releases.

    Yields:
        Sampling, relation, batch size, noise multiplier, rounds, published ε, certified ε, and the relative distance of
        both upper bounds from the certified lower bound.
    """
    release = Gaussian(noise_multiplier=case.noise_multiplier)
    batch = Subsampled(sampling=case.sampling, batch_size=case.batch, population=case.population, mechanism=release)
    spec = batch if case.rounds == 1 else Repeated(times=case.rounds, mechanism=batch)
    certified = account(spec, relation=case.relation).guarantee.curve.epsilon(BATCH_LOG_DELTA)
    published = published_epsilon(case)
    yield from (case.sampling, case.relation, f"{case.batch}", f"{case.noise_multiplier:g}", f"{case.rounds}")
    yield from (f"{published:.4g}", bracket(certified))
    yield from (f"{1.0 - certified.lower / published:.1%}", f"{1.0 - certified.lower / certified.upper:.1%}")


def bracket(interval: Interval) -> str:
    """Return both bounds to four digits, rounded outward."""
    return f"[{_round(interval.lower, ROUND_FLOOR)}, {_round(interval.upper, ROUND_CEILING)}]"


def _round(value: float, direction: str) -> str:
    """Return a number to four digits, rounded in a direction of the module `decimal`."""
    if math.isinf(value):
        return "unbounded"
    return f"{float(Context(prec=4, rounding=direction).create_decimal(value)):.4g}"


# Tables -------------------------------------------------------------------------------------------------------------
class Table(NamedTuple):
    """A table of the document, with rows that are computed one by one.

    Attributes:
        columns: titles of the columns.
        rows: arguments of each row.
        figures: function from the arguments of a row to its cells.
    """

    columns: tuple[str, ...]
    rows: Sequence[tuple[object, ...]]
    figures: Callable[..., Iterator[str]]

    def text(self, most: int | None = None) -> str:
        """Return Markdown, at most so many rows."""
        return as_markdown(self.columns, (list(self.figures(row)) for row in self.rows[:most]))


TRUE = ("true ε, without replacement", "true ε, with")
TABLES = {
    "theorem-2.1": Table(("run", "n", "K", "K_min", "R", "ε", "δ", "z", *TRUE, "σ/σ_min"), ALGORITHM_1, algorithm_1),
    "appendix-h": Table(("data", "n", "R", "target ε", "K", "z", *TRUE), EXPERIMENTS, experiment),
    "theorem-2.3": Table(
        ("δ", "ε", "printed", "exact", "ratio", "true ε at 32L²", "true ε at 8L²"), GAUSSIAN, one_pass
    ),
    "theorem-f.2": Table(
        ("N", "n", "ε₀", "δ", "(39)", "clones", "randomized response", "its lower end", "(39)/clones"),
        SHUFFLED,
        shuffle_row,
    ),
    "batches": Table(
        ("batches", "relation", "K", "z", "T", "published", "true ε", "gap to published", "gap"), BATCHES, batch_row
    ),
}
"""Tables by their markers in the document."""


def main(arguments: list[str] | None = None) -> int:
    """Write the tables into the document, or print their first rows with --short; return the exit code 0."""
    chosen = parser("tightness", __doc__).parse_args(arguments)
    for name, table in TABLES.items():
        if chosen.short:
            print(table.text(SHORT))
        else:
            write_section(name, table.text(), WRITTEN)
    if not chosen.short:
        write_section("made", f"Made by `python -m benchmarks.tightness`, version {VERSION}.", WRITTEN)
    return 0


if __name__ == "__main__":
    sys.exit(main())
