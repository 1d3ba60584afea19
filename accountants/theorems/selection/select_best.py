"""The best of a random number of runs, as in tuning. The proofs are in `profiles/selection/best_of_runs.py`."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated

import numpy as np

from epsilond.accountants.composition.renyi_product import ORDERS
from epsilond.accountants.curve.curve import Curve
from epsilond.accountants.curve.least import least_of
from epsilond.accountants.guarantee import Guarantee
from epsilond.accountants.kinds.declared.approximate import approximate_pair
from epsilond.accountants.numerics.outward import round_up
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF
from epsilond.accountants.profiles.declared.points import ProfilePoint, points_pair
from epsilond.accountants.profiles.declared.renyi_bounds import bounds_at, renyi_pair
from epsilond.accountants.profiles.gaussian import gaussian_pair
from epsilond.accountants.profiles.selection.best_of_runs import RunsDistribution, SelectionGain
from epsilond.accountants.profiles.selection.best_of_runs_attained import attained_selection_pairs
from epsilond.accountants.profiles.selection.best_of_runs_renyi import BestOfRunsRenyi, selected_renyi
from epsilond.accountants.profiles.thinned import thin
from epsilond.accountants.quantities import Epsilon, NoiseMultiplier, RenyiOrder, request
from epsilond.accountants.rule import Case, Rule
from epsilond.accountants.specs import PoissonRepetitions, SelectBest
from epsilond.accountants.specs.selection.repetitions import MEAN_FROM_ONE, SHAPE, NegativeBinomialRepetitions
from epsilond.accountants.theorem import Condition, Outputs, Source, Status, Theorem

if TYPE_CHECKING:
    from epsilond.accountants.curve.pair import Pair
    from epsilond.accountants.numerics.special import FloatArray
    from epsilond.accountants.specs.selection.repetitions import Repetitions

_LOG_DELTAS = (-46.0, -30.0, -20.0, -14.0, -10.0, -5.0, -1.0)
"""Values of log δ, from 1e-20 up. The base profile is evaluated up to the ε of the first one that it attains."""
_GRID_POINTS = 200
"""Number of positive ε at which the base profile is evaluated. Between them its bound is linear in e^ε."""
_LARGEST_EPSILON = 600.0
"""Largest ε [nat] of the grid, whose exponential is far below the largest double."""


def runs_distribution(repetitions: Repetitions) -> RunsDistribution:
    """Return the distribution of the number of runs: Poisson, or negative binomial and at least 1."""
    if isinstance(repetitions, PoissonRepetitions):
        return RunsDistribution(repetitions.mean, math.inf)
    return RunsDistribution(repetitions.mean, repetitions.shape, repetitions.odds)


def epsilon_grid(base: Pair) -> FloatArray:
    """Return the values of ε at which a privacy profile is evaluated, increasing from 0 and dense near 0.

    The last one is the ε at which δ is 1e-20 or, if no ε has this δ, the next δ of `_LOG_DELTAS`. It is at most
    `_LARGEST_EPSILON`.

    Args:
        base: dominating pair of one run, two distributions with a hockey-stick divergence that bounds δ.

    Returns:
        An array of `_GRID_POINTS` + 1 values, in nats.
    """
    epsilons = (base.upper_epsilon(log_delta) for log_delta in _LOG_DELTAS)
    first_finite = next((epsilon for epsilon in epsilons if epsilon < math.inf), 1.0)  # 1 if no δ is attained
    smallest_last = 1e-6  # any positive number keeps the grid increasing
    last = min(max(first_finite, smallest_last), _LARGEST_EPSILON)

    # The power 1.5 makes the grid dense near 0.
    fractions = np.arange(_GRID_POINTS + 1.0) / _GRID_POINTS
    return np.asarray(last * fractions**1.5)


def selected_pair(base: Pair, runs: RunsDistribution) -> Pair:
    """Return two distributions that dominate the choice of the best of a random number of runs of a mechanism.

    Dominating means that their hockey-stick divergence bounds δ. The result is the least of up to three bounds. They
    follow from the privacy profile of one run, from its Rényi divergences, and from its pure ε if it has one.

    Args:
        base: dominating pair of one run.
        runs: distribution of the number of runs.

    Returns:
        The dominating pair of the best run, in both directions.
    """
    epsilons = epsilon_grid(base)
    # The privacy loss that the choice adds, in each direction of the pair.
    gains = [SelectionGain(runs, base.forward, base.backward, epsilons)]
    if not base.symmetric:
        gains.append(SelectionGain(runs, base.backward, base.forward, epsilons))
    loss = max(gain.supremum(1.0, 1.0) for gain in gains)
    pairs = [_profile_bound(base, runs, loss, epsilons)]
    bounds = bounds_at(ORDERS, lambda order: selected_renyi(base, runs, gains, order))
    if bounds.orders:
        formula = BestOfRunsRenyi(base, runs, tuple(gains), loss, bounds)
        pairs.append(replace(renyi_pair(bounds), formula=formula))
    if base.plateau is not None and base.plateau.delta == 0:
        pairs.append(approximate_pair(selected_pure_epsilon(base.plateau.epsilon, runs, loss), 0.0))
    return least_of(pairs)


def _profile_bound(base: Pair, runs: RunsDistribution, loss: float, epsilons: FloatArray) -> Pair:
    """Return a bound on δ of the best of a random number of runs, by the privacy profile of one run.

    The bound is δ'(ε + H) = E[K] δ(ε). Here K is the random number of runs, δ the profile of one run, and H the privacy
    loss that choosing the best run adds.

    Args:
        base: dominating pair of one run.
        runs: distribution of the number K of runs.
        loss: upper bound on H, in nats.
        epsilons: the values of ε at which the base profile is evaluated.

    Returns:
        A pair of distributions with this profile, which is an upper bound in both directions.
    """
    # δ times the mean number of runs, rounded up in proportion to its logarithm.
    log_deltas = base.log_delta(epsilons).upper + math.log(runs.mean)
    magnitudes = np.abs(np.where(np.isneginf(log_deltas), 0.0, log_deltas))
    slack = 8 * UNIT_ROUNDOFF * (1.0 + magnitudes)
    selected_log_deltas = np.minimum(log_deltas + slack, 0.0)

    # ε plus the added loss, rounded up.
    selected_epsilons = (epsilons + loss) * (1.0 + 2 * UNIT_ROUNDOFF)
    points = map(ProfilePoint, selected_epsilons.tolist(), selected_log_deltas.tolist())
    return points_pair(list(points))


def selected_pure_epsilon(epsilon: float, runs: RunsDistribution, loss: float) -> float:
    """Compute the pure ε of choosing the best of a random number of runs of a purely private mechanism, rounded up.

    Args:
        epsilon: pure privacy parameter ε of one run, in nats.
        runs: distribution of the number of runs; its shape is infinite if it is Poisson.
        loss: upper bound, in nats, on the privacy loss that choosing the best run adds.

    Returns:
        ε plus the smaller of two bounds on the added loss, in nats.
    """
    is_poisson = math.isinf(runs.shape)
    if is_poisson:
        rounding_margin = 1.0 + 8 * UNIT_ROUNDOFF  # for the products and the hyperbolic tangent
        added_loss = Fraction(runs.mean * math.tanh(0.5 * epsilon) * rounding_margin)
    else:
        added_loss = (1 + Fraction(runs.shape)) * Fraction(epsilon)
    return round_up(Fraction(epsilon) + min(added_loss, Fraction(loss)))


@request
class SelectionInputs:
    """Gaussian runs under add-or-remove-one, the number of runs, and a Rényi order.

    The number is negative binomial with the parameter `shape`, or Poisson distributed if there is no shape.
    """

    order: RenyiOrder
    noise_multiplier: NoiseMultiplier
    mean: Annotated[float, MEAN_FROM_ONE]
    shape: Annotated[float | None, SHAPE] = None

    def check(self) -> None:
        """Check the number of runs, as for the spec `select_best`.

        Raises:
            InvalidInput: the mean is too large for the shape.
        """
        if self.shape is not None:
            NegativeBinomialRepetitions(mean=self.mean, shape=self.shape)


def selected_gaussian_divergence(inputs: SelectionInputs) -> Outputs:
    """Compute an upper bound on the Rényi divergence of the best of a random number of Gaussian runs.

    Args:
        inputs: noise multiplier of a run, order of the divergence, and mean and shape of the number of runs. The number
            is Poisson distributed if the shape is None, and negative binomial otherwise.

    Returns:
        `renyi_divergence`, in nats.
    """
    if inputs.shape is None:
        repetitions: Repetitions = PoissonRepetitions(mean=inputs.mean)
    else:
        repetitions = NegativeBinomialRepetitions(mean=inputs.mean, shape=inputs.shape)
    base = gaussian_pair(1.0 / inputs.noise_multiplier)
    runs = runs_distribution(repetitions)
    gains = [SelectionGain(runs, base.forward, base.backward, epsilon_grid(base))]
    return {"renyi_divergence": selected_renyi(base, runs, gains, inputs.order)}


@request
class PureSelectionInputs:
    """A pure guarantee of one run, and the shape of a negative binomial number of runs."""

    epsilon: Epsilon
    shape: Annotated[float, SHAPE]


def pure_selection(inputs: PureSelectionInputs) -> Outputs:
    """Compute the pure ε of the best of a random number of pure runs, (2 + η) ε, rounded up.

    The number of runs is negative binomial with shape η (Corollary 3 of Papernot and Steinke 2022).

    Args:
        inputs: pure ε of one run, in nats, and the shape η.

    Returns:
        `epsilon` of the best run, in nats.
    """
    factor = 2 + Fraction(inputs.shape)
    return {"epsilon": round_up(factor * Fraction(inputs.epsilon))}


ONLY_THE_BEST = Condition(
    "only-the-best-is-seen",
    "the number of runs is drawn independently of the data and kept secret. Only the best output is seen; what is best "
    "is a fixed order of outputs, with ties broken by independent random numbers",
)
SELECTION = Theorem(
    id="papernot-steinke-2022.lemma-7",
    title="The best of a random number of runs, by Rényi divergences and profiles",
    statement=(
        "With f(x) = E[x^K] for the number K of runs, e^{(a−1) D_a} of the best run is at most f(0) plus that of one "
        "run times the supremum of f′(q)^a f′(q′)^{1−a}. Here q and q′ are the probabilities of a test under one run "
        "on two neighbours, which the profile of one run limits. With H the supremum of log f′(q)/f′(q′), δ of the "
        "best run at ε + H is at most E[K] times that of one run at ε"
    ),
    source=Source(
        "papernot2022tuning",
        "Lemma 7; the profile bound and the proofs: accountants/profiles/selection/best_of_runs.py",
    ),
    status=Status.PROVED,
    conditions=(ONLY_THE_BEST,),
    inputs=SelectionInputs,
    formula=selected_gaussian_divergence,
    examples=(
        {"order": 4.0, "noise_multiplier": 2.0, "mean": 10.0, "shape": 1.0},
        {"order": 2.0, "noise_multiplier": 1.0, "mean": 10.0},
    ),
)
PURE_SELECTION = Theorem(
    id="papernot-steinke-2022.corollary-3",
    title="The best of a random number of pure runs",
    statement=(
        "The best of a negative binomial number of runs of shape η, each ε-private, is (2 + η) ε-private. A geometric "
        "number has η = 1 (Liu and Talwar 2019, Theorem 3.5)"
    ),
    source=Source("papernot2022tuning", "Corollary 3; proof in accountants/profiles/selection/best_of_runs.py"),
    status=Status.PROVED,
    conditions=(ONLY_THE_BEST,),
    inputs=PureSelectionInputs,
    formula=pure_selection,
    examples=({"epsilon": 1.0, "shape": 1.0}, {"epsilon": 0.5, "shape": 0.0}),
)


def select_best(spec: SelectBest, case: Case) -> Guarantee:
    """Return the guarantee of running a mechanism a random number of times and publishing the best output only.

    There are two kinds of lower bounds. If all outputs are equally good, the best output is distributed like any of
    them. The bounds on δ of one run are then multiplied by the probability that there is a run. If outputs with a large
    or a small privacy loss are better, the bounds are those of `attained_selection_pairs`. If the number of runs is
    always 1, the guarantee is that of one run.

    Args:
        spec: the runs, and the distribution of their number.
        case: the requested neighbouring relation, protected unit and observer, and the limit on the work.

    Returns:
        The guarantee of the published output, with an upper bound and lower bounds.
    """
    inner = case.account(spec.mechanism, case.setting)
    runs = runs_distribution(spec.repetitions)
    step = SELECTION.because(inner.derivation, mean=runs.mean, kind=spec.repetitions.kind)
    declared = tuple(dict.fromkeys((*inner.declared, ONLY_THE_BEST)))

    # A negative binomial number of runs is at least 1, so it is always 1 if its mean is 1.
    is_poisson = math.isinf(runs.shape)
    if runs.mean == 1.0 and not is_poisson:
        return replace(inner, derivation=step, declared=declared)

    # The probability that there is a run. Only a Poisson number may be 0.
    run_probability = 1.0
    if is_poisson:
        run_probability = -math.expm1(-runs.mean) * (1.0 - 4 * UNIT_ROUNDOFF)  # rounded down

    # Lower bounds from pairs that one run attains, its witnesses.
    upper = selected_pair(inner.curve.upper, runs)
    witnesses: tuple[Pair, ...] = ()
    if run_probability > 0.0:
        witnesses = tuple(thin(witness, run_probability) for witness in inner.curve.witnesses)
        for witness in inner.curve.witnesses:
            witnesses += attained_selection_pairs(witness, runs, epsilon_grid(witness))

    plateau = inner.curve.upper.plateau
    is_pure = plateau is not None and plateau.delta == 0
    if is_pure:
        step = PURE_SELECTION.because(step)
    return Guarantee(setting=case.setting, curve=Curve(upper, witnesses), derivation=step, declared=declared)


THEOREMS: tuple[Theorem, ...] = (SELECTION, PURE_SELECTION)
RULES: tuple[Rule, ...] = (Rule(SELECTION, "select_best", select_best, inner_effort="default"),)
