"""What one released model of projected SGD shows: every bound that applies, of which `account` takes the least.

Composition counts every model as seen. Contraction counts the kernels behind the record's only use. Shifted
interpolation counts how far two runs drift apart. The hybrid stops counting distances at some step behind the last use
and counts kernels from there on. It needs what contraction needs: after that step both runs go through the same
kernels (the record is in no later batch, and which records are in them is fixed or averaged over), each on a bounded
domain (a projection in every step) and on its own image of it, θ and δ at the same ε, in both orders of the pair. With
fresh batches, or full ones, no step is behind the last use.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from epsilond.accountants.curve.curve import Curve
from epsilond.accountants.curve.enclosure import Interval
from epsilond.accountants.curve.pair import Pair
from epsilond.accountants.guarantee import Guarantee, Setting
from epsilond.accountants.numerics.factor_sums import CHUNK, log_sum, theta_of_many
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF
from epsilond.accountants.profiles.bound import Bound, bound_pair
from epsilond.accountants.profiles.gaussian import gaussian_pair
from epsilond.accountants.rule import Case, Refusal, Rule
from epsilond.accountants.specs import Composed, Repeated
from epsilond.accountants.theorem import Condition, Source, Status, Theorem
from epsilond.accountants.theorems.hidden_states.contraction import LEMMA_2
from epsilond.accountants.theorems.hidden_states.differing_steps import MOST_PLACES, DifferingSteps
from epsilond.accountants.theorems.hidden_states.projected_contraction import (
    ANY_LOSSES,
    CONVEX_LOSSES,
    FRESH_NOISE,
    LIPSCHITZ_LOSSES,
    PROJECTED,
    SECRET_ORDER,
    SMOOTH_LOSSES,
    steps_small,
)
from epsilond.accountants.theorems.hidden_states.projected_run import ProjectedRun
from epsilond.accountants.theorems.hidden_states.projected_sgd_instances import pulled
from epsilond.accountants.theorems.hidden_states.shift_then_contract import (
    HYBRID,
    Contracted,
    EqualSteps,
    Interpolated,
    places,
)
from epsilond.accountants.theorems.hidden_states.shifted_interpolation import (
    FIXED_ORDER,
    HIDDEN,
    INTERPOLATION,
    LEAST_SQUARE,
    OUTWARD,
)
from epsilond.accountants.theorems.hidden_states.shifted_interpolation_sampled import (
    SAMPLED,
    best_window,
    sampled_step,
    windowed,
)
from epsilond.accountants.theorems.papers.asoodeh.one_pass import THEOREM_2
from epsilond.accountants.theorems.sampling.subsampling import ZEROED_IS_REPLACED
from epsilond.accountants.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable

    from epsilond.accountants.specs import ProjectedSgd

MOST_NOISES = 64
"""Most different noises of a run with fresh batches that are composed."""

COMPOSED = Theorem(
    id="epsilond.hidden-is-composed",
    title="One model shows no more than all of them",
    statement=(
        "A released model is computed from the messages of all steps: it is protected as their composition is, "
        "averaged over the record's place where that is secret"
    ),
    source=Source("epsilond", "post-processing and joint convexity"),
    status=Status.PROVED,
)


@dataclass(frozen=True)
class EveryModel(Bound):
    """All uses of the record composed, averaged over its place."""

    run: ProjectedRun

    @cached_property
    def groups(self) -> tuple[np.ndarray[tuple[int, ...], np.dtype[np.float64]], ...]:
        """μ of each group of places, rounded up, and the log of its share of all n records.

        Places beyond the steps of a run shorter than one pass are never used. A sum of k squares is within k units of
        roundoff, and each square within 16. The root halves both.
        """
        run = self.run
        total = math.log(run.clients)
        if run.noise_schedule.constant is not None:
            last = replace(run, first_stop=run.steps) if run.steps > run.period else run
            kinds, share = places(last)
            mu = [math.sqrt(kind.uses) * run.largest_sensitivity * OUTWARD for kind in kinds]
            counts = [float(kind.before(np.asarray([kind.last + 1.0]))[0]) for kind in kinds]
            return np.asarray(mu), np.log(counts) + share
        passes = -(-run.steps // run.period)
        uses, _ = run.shifts(1, run.steps)
        squares = uses**2
        if passes > 1:
            padded = np.append(squares, np.zeros(passes * run.period - run.steps))
            squares = padded.reshape(passes, run.period).sum(axis=0)
        squares = np.maximum(np.sort(squares), LEAST_SQUARE) * (1.0 + passes * UNIT_ROUNDOFF)
        return np.sqrt(squares) * OUTWARD, np.full(squares.shape, math.log(run.participants) - total)

    @property
    def worst_mu(self) -> float:
        """μ of the worst place."""
        return float(self.groups[0].max())

    def log_bound(self, epsilon: float) -> Interval:
        """Both ends of the logarithm of the mean over places."""
        mu, shares = self.groups
        parts = [theta_of_many(epsilon, mu[first : first + CHUNK]) for first in range(0, mu.size, CHUNK)]
        value, error = (np.concatenate(each) for each in zip(*parts, strict=True))
        lower, upper = (log_sum(value + shares + sign * (error + 1e-14)) for sign in (-1.0, 1.0))
        return Interval(lower, min(upper, 0.0))


# Rules --------------------------------------------------------------------------------------------------------------
def uncovered(theorem: Theorem, spec: ProjectedSgd, case: Case) -> Refusal | None:
    """Refuse what none of these theorems speaks of."""
    if case.setting.observer != "final-model":
        return Refusal(theorem, "speaks of the released model alone; for anyone who sees more, ask for the composition")
    if case.setting.relation == "add-or-remove-one":
        return Refusal(theorem, "batches of fixed size from n or n − 1 records: no valid pair is known")
    most = ProjectedRun.of(spec, case.setting.relation).most_accounted
    if spec.steps > most:
        return Refusal(theorem, f"{spec.steps} steps of changing size or noise are more than {most}")
    return None


def fixed_batches(theorem: Theorem, spec: ProjectedSgd) -> Refusal | None:
    """Refuse batches that are drawn afresh."""
    if spec.batches == "without-replacement" and spec.participants < spec.clients:
        return Refusal(theorem, "every step draws its batch afresh, so that no step is behind the record's last use")
    return None


def single_pass(theorem: Theorem, spec: ProjectedSgd) -> Refusal | None:
    """Refuse a run that uses a record twice."""
    if spec.steps <= spec.period:
        return None
    return Refusal(theorem, f"T ≤ n/m fails, {spec.steps} > {spec.period}: a record is used more than once")


def smooth_and_convex(theorem: Theorem, spec: ProjectedSgd, run: ProjectedRun) -> Refusal | None:
    """Refuse losses that are not convex and smooth, and steps beyond 2/β."""
    if not spec.convex:
        return Refusal(theorem, "needs convex losses")
    if spec.smoothness is None:
        return Refusal(theorem, "needs smooth losses: the gradient has no Lipschitz constant")
    sides = steps_small(run)
    if sides.holds != Verdict.YES:
        return Refusal(theorem, f"η_t ≤ 2/β at every t fails, {sides.left:g} > {sides.right:g}")
    return None


def of_run(spec: ProjectedSgd, case: Case) -> ProjectedRun:
    """The run of a spec whose batches are fixed or shuffled; full batches are one place for all."""
    run = ProjectedRun.of(spec, case.setting.relation)
    return replace(run, known_order=True) if run.period == 1 and run.clients == run.participants else run


def guaranteed(case: Case, theorem: Theorem, run: ProjectedRun, upper: Pair, *declared: Condition) -> Guarantee:
    """The guarantee of one bound."""
    kernels = (LEMMA_2.because(),) if theorem in {THEOREM_2, ANY_LOSSES, HYBRID} else ()
    plans = (INTERPOLATION.because(),) if theorem is HYBRID else ()
    step = theorem.because(*plans, *kernels, steps=run.steps, batches_in_a_pass=run.period, sensitivity=run.sensitivity)
    return Guarantee(
        setting=case.setting,
        curve=Curve(upper),
        derivation=step,
        declared=(LIPSCHITZ_LOSSES, FRESH_NOISE, *declared, FIXED_ORDER if run.known_order else SECRET_ORDER),
    )


def every_model(spec: ProjectedSgd, case: Case) -> Guarantee | Refusal:
    """The composition of all steps."""
    if refusal := uncovered(COMPOSED, spec, case):
        return refusal
    run = of_run(spec, case)
    if fixed_batches(COMPOSED, spec) is None:
        bound = EveryModel(run)
        upper = gaussian_pair(bound.worst_mu) if run.known_order else bound_pair(bound)
        found = guaranteed(case, COMPOSED, run, upper)
        return replace(found, curve=Curve(found.curve.upper, pulled(spec, case.setting.relation)))
    noises, counts = np.asarray([spec.noise_schedule.constant or 0.0]), np.asarray([spec.steps])
    if spec.noise_schedule.constant is None:
        noises, counts = np.unique(spec.noise_schedule.at(1, spec.steps), return_counts=True)
    if noises.size > MOST_NOISES:
        return Refusal(COMPOSED, f"{noises.size} different noises are more than the {MOST_NOISES} that are composed")
    steps = tuple(
        Repeated(times=int(count), mechanism=sampled_step(run, float(noise)))
        for noise, count in zip(noises, counts, strict=True)
    )
    inner = case.account(Composed(mechanisms=steps), case.setting)
    step = COMPOSED.because(inner.derivation, steps=spec.steps)
    declared = (*inner.declared, LIPSCHITZ_LOSSES, FRESH_NOISE)
    curve = Curve(inner.curve.upper, pulled(spec, case.setting.relation))
    return Guarantee(setting=case.setting, curve=curve, derivation=step, declared=declared)


def one_pass(spec: ProjectedSgd, case: Case) -> Guarantee | Refusal:
    """Theorem 2 and Corollary 3 of Asoodeh et al., where their conditions hold at every step."""
    run = of_run(spec, case)
    refusal = (
        uncovered(THEOREM_2, spec, case)
        or fixed_batches(THEOREM_2, spec)
        or single_pass(THEOREM_2, spec)
        or smooth_and_convex(THEOREM_2, spec, run)
    )
    if refusal:
        return refusal
    bound = Contracted(replace(run, whole_ball=True))
    return guaranteed(case, THEOREM_2, run, bound_pair(bound), CONVEX_LOSSES, SMOOTH_LOSSES, PROJECTED)


def any_losses(spec: ProjectedSgd, case: Case) -> Guarantee | Refusal:
    """The same with every image's diameter as it is, whatever the losses and step sizes."""
    run = of_run(spec, case)
    refusal = uncovered(ANY_LOSSES, spec, case) or fixed_batches(ANY_LOSSES, spec) or single_pass(ANY_LOSSES, spec)
    if refusal:
        return refusal
    if spec.strong_convexity == 0.0 and smooth_and_convex(ANY_LOSSES, spec, run) is None:
        return Refusal(ANY_LOSSES, f"{THEOREM_2.id} says the same: every image has the diameter 2ρ")
    declared = (CONVEX_LOSSES,) if spec.convex else ()
    smooth = (SMOOTH_LOSSES,) if spec.smoothness is not None else ()
    return guaranteed(case, ANY_LOSSES, run, bound_pair(Contracted(run)), *declared, *smooth, PROJECTED)


def _steps(theorem: Theorem, spec: ProjectedSgd, case: Case) -> EqualSteps | DifferingSteps | Refusal:
    """The steps of a run that shifted interpolation covers."""
    run = of_run(spec, case)
    refusal = uncovered(theorem, spec, case) or fixed_batches(theorem, spec) or smooth_and_convex(theorem, spec, run)
    if refusal:
        return refusal
    if run.stops > 1 and run.steps > run.period:
        return Refusal(theorem, "a random release is covered in a single pass only")
    if run.constant:
        return EqualSteps(run)
    if run.stops > 1 or run.steps > run.period:
        return Refusal(theorem, "with changing steps or noise, only the last model of a single pass is covered")
    if run.steps > MOST_PLACES:
        return Refusal(theorem, f"{run.steps} steps of changing size or noise are more than {MOST_PLACES}")
    return DifferingSteps(run)


def interpolated(spec: ProjectedSgd, case: Case) -> Guarantee | Refusal:
    """The best plan for every place; exactly Gaussian if there is one place only."""
    steps = _steps(INTERPOLATION, spec, case)
    if isinstance(steps, Refusal):
        return steps
    mu = steps.single_mu if isinstance(steps, EqualSteps) else None
    upper = bound_pair(Interpolated(steps, contracted=False)) if mu is None else gaussian_pair(mu)
    declared = (CONVEX_LOSSES, SMOOTH_LOSSES, PROJECTED, HIDDEN)
    return guaranteed(case, INTERPOLATION, steps.run, upper, *declared)


def hybrid(spec: ProjectedSgd, case: Case) -> Guarantee | Refusal:
    """The best plan to some step behind the last use, kernels from there on."""
    steps = _steps(HYBRID, spec, case)
    if isinstance(steps, Refusal):
        return steps
    if spec.period == 1 and spec.participants == spec.clients:
        return Refusal(HYBRID, "every step uses every record, so that no step is behind the last use")
    bound = Interpolated(steps, contracted=True)
    return guaranteed(case, HYBRID, steps.run, bound_pair(bound), CONVEX_LOSSES, SMOOTH_LOSSES, PROJECTED, HIDDEN)


def sampled(spec: ProjectedSgd, case: Case) -> Guarantee | Refusal:
    """The last steps composed, the distance of before shifted. Searched once, by the central limit."""
    run = of_run(spec, case)
    refusal = uncovered(SAMPLED, spec, case) or smooth_and_convex(SAMPLED, spec, run)
    if refusal:
        return refusal
    if fixed_batches(SAMPLED, spec) is None:
        return Refusal(SAMPLED, "the batches are not drawn afresh in every step")
    if not run.constant or run.stops > 1 or run.steps < 2:
        return Refusal(SAMPLED, "covers the last model of two or more equal steps")
    replaced = ProjectedRun.of(spec, "replace-one")
    window = best_window(replaced)
    if not window.helps:
        return Refusal(
            SAMPLED,
            f"no last part of the run promises to beat composing all of it: μ² about {window.expected_square:.3g} "
            f"against {window.composed_square:.3g}",
        )
    setting = Setting(relation="replace-one", unit=case.setting.unit, observer=case.setting.observer)
    inner = case.account(windowed(replaced, window), setting)
    step = SAMPLED.because(inner.derivation, steps=window.steps, share=window.share, shift_mu=window.shift_mu)
    if case.setting.relation != "replace-one":
        step = ZEROED_IS_REPLACED.because(step)
    declared = (*inner.declared, LIPSCHITZ_LOSSES, CONVEX_LOSSES, SMOOTH_LOSSES, PROJECTED, FRESH_NOISE, HIDDEN)
    return Guarantee(setting=case.setting, curve=Curve(inner.curve.upper), derivation=step, declared=declared)


def _rule(theorem: Theorem, apply: Callable[[ProjectedSgd, Case], Guarantee | Refusal]) -> Rule:
    return Rule(theorem, "projected_sgd", apply, combines=True)


THEOREMS: tuple[Theorem, ...] = (COMPOSED,)
RULES: tuple[Rule, ...] = (
    _rule(COMPOSED, every_model),
    _rule(THEOREM_2, one_pass),
    _rule(ANY_LOSSES, any_losses),
    _rule(INTERPOLATION, interpolated),
    _rule(HYBRID, hybrid),
    _rule(SAMPLED, sampled),
)
