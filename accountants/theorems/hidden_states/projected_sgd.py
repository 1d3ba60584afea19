"""Rules for the released model of projected SGD; `account` uses the least of the bounds that apply.

Composition treats every model as observed. Contraction counts the kernels after the record's only use. Shifted
interpolation bounds the distance between the two runs. The hybrid switches from distances to kernels at a step after
the last use. It has the premises of contraction. After this step both runs go through the same kernels: the record is
in no later batch, and the other records of the batches are fixed or averaged over. Each kernel acts on a bounded
domain, as every step ends with a projection, and on its own image of it. θ and δ have the same ε, in both directions of
the pair. With fresh batches, or full batches, no step is after the last use.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from epsilond.accountants.curve.curve import Curve
from epsilond.accountants.curve.pair import Pair
from epsilond.accountants.guarantee import Guarantee, Setting
from epsilond.accountants.profiles.bound import bound_pair
from epsilond.accountants.profiles.gaussian import gaussian_pair
from epsilond.accountants.rule import Case, Refusal, Rule
from epsilond.accountants.specs import Composed, Repeated
from epsilond.accountants.theorem import Condition, Source, Status, Theorem
from epsilond.accountants.theorems.hidden_states.composed_steps import ComposedSteps
from epsilond.accountants.theorems.hidden_states.contraction import LEMMA_2
from epsilond.accountants.theorems.hidden_states.differing_steps import MOST_PLACES, DifferingSteps
from epsilond.accountants.theorems.hidden_states.projected_checks import (
    check_setting,
    fixed_batches,
    run_for,
    single_pass,
    smooth_and_convex,
)
from epsilond.accountants.theorems.hidden_states.projected_contraction import (
    ANY_LOSSES,
    CONVEX_LOSSES,
    FRESH_NOISE,
    LIPSCHITZ_LOSSES,
    PROJECTED,
    SECRET_ORDER,
    SMOOTH_LOSSES,
)
from epsilond.accountants.theorems.hidden_states.projected_run import ProjectedRun
from epsilond.accountants.theorems.hidden_states.projected_sgd_instances import released_model_instances
from epsilond.accountants.theorems.hidden_states.shift_then_contract import (
    HYBRID,
    ContractionBound,
    EqualSteps,
    InterpolationBound,
)
from epsilond.accountants.theorems.hidden_states.shifted_interpolation import (
    FIXED_ORDER,
    HIDDEN,
    INTERPOLATION,
)
from epsilond.accountants.theorems.hidden_states.shifted_interpolation_sampled import (
    SAMPLED,
    best_window,
    dominating_mechanism,
    sampled_step,
)
from epsilond.accountants.theorems.papers.asoodeh.one_pass import THEOREM_2
from epsilond.accountants.theorems.sampling.subsampling import ZEROED_IS_REPLACED

if TYPE_CHECKING:
    from collections.abc import Callable

    from epsilond.accountants.specs import ProjectedSgd

MOST_NOISES = 64
"""Largest number of different noises of a run with fresh batches, each of which is composed."""

COMPOSED = Theorem(
    id="epsilond.hidden-is-composed",
    title="One model shows no more than all of them",
    statement=(
        "A released model is computed from the messages of all steps. The composition of the messages "
        "therefore bounds its privacy loss. Where the record's place is secret, the bound is averaged over it"
    ),
    source=Source("epsilond", "post-processing and joint convexity"),
    status=Status.PROVED,
)


# Rules --------------------------------------------------------------------------------------------------------------
def make_guarantee(case: Case, theorem: Theorem, run: ProjectedRun, upper: Pair, *declared: Condition) -> Guarantee:
    """Return the guarantee of a run of projected SGD, with its derivation and the conditions that the caller declares.

    Args:
        case: the requested neighbouring relation, protected unit and observer.
        theorem: the theorem that gives the bound.
        run: the run under the requested relation.
        upper: the dominating pair, two distributions with a hockey-stick divergence that bounds δ.
        declared: conditions of this theorem beyond Lipschitz losses, fresh noise, and a fixed or secret order of the
            batches.

    Returns:
        The guarantee for the requested relation, unit and observer, without lower bounds.
    """
    # The theorems that this one is based on.
    used_theorems = []
    if theorem is HYBRID:
        used_theorems.append(INTERPOLATION.because())
    if theorem in {THEOREM_2, ANY_LOSSES, HYBRID}:
        used_theorems.append(LEMMA_2.because())
    step = theorem.because(*used_theorems, steps=run.steps, batches_in_a_pass=run.period, sensitivity=run.sensitivity)
    order = FIXED_ORDER if run.known_order else SECRET_ORDER
    return Guarantee(
        setting=case.setting,
        curve=Curve(upper),
        derivation=step,
        declared=(LIPSCHITZ_LOSSES, FRESH_NOISE, *declared, order),
    )


def every_model(spec: ProjectedSgd, case: Case) -> Guarantee | Refusal:
    """Return the guarantee of composing the messages of all steps, which bounds the released model too; or a refusal.

    The released model is computed from these messages, so it reveals no more than they do.

    Args:
        spec: the projected SGD run.
        case: the requested neighbouring relation, protected unit and observer, and the limit on the work.

    Returns:
        The guarantee. It is a refusal, which says why the theorem does not apply, for relations and observers that are
        not covered, and for runs with too many different steps or noises.
    """
    if refusal := check_setting(COMPOSED, spec, case):
        return refusal
    has_fixed_batches = fixed_batches(COMPOSED, spec) is None
    if has_fixed_batches:
        return _compose_fixed_batches(spec, case)
    return _compose_fresh_batches(spec, case)


def _compose_fixed_batches(spec: ProjectedSgd, case: Case) -> Guarantee:
    """Return the guarantee of composing the steps that use a record, for batches that are fixed before the run.

    Args:
        spec: the projected SGD run.
        case: the requested neighbouring relation, protected unit and observer, and the limit on the work.

    Returns:
        The guarantee, with lower bounds on δ where runs in one dimension that attain them are known.
    """
    run = run_for(spec, case)
    bound = ComposedSteps(run)
    # If the order is secret, the bound is averaged over the batches that a record may be in.
    upper = gaussian_pair(bound.worst_mu) if run.known_order else bound_pair(bound)
    guarantee = make_guarantee(case, COMPOSED, run, upper)
    attained = released_model_instances(spec, case.setting.relation)
    return replace(guarantee, curve=Curve(guarantee.curve.upper, attained))


def _compose_fresh_batches(spec: ProjectedSgd, case: Case) -> Guarantee | Refusal:
    """Return the guarantee of composing all steps, each on a fresh random batch.

    Args:
        spec: the projected SGD run.
        case: the requested neighbouring relation, protected unit and observer, and the limit on the work.

    Returns:
        The guarantee, or a refusal if the steps have more than `MOST_NOISES` different noises.
    """
    run = run_for(spec, case)
    noise_counts = _count_noises(spec)
    if len(noise_counts) > MOST_NOISES:
        reason = f"{len(noise_counts)} different noises are more than the {MOST_NOISES} that are composed"
        return Refusal(COMPOSED, reason)
    # Compose the steps, grouped by their noise.
    steps = tuple(Repeated(times=count, mechanism=sampled_step(run, noise)) for noise, count in noise_counts.items())
    inner = case.account(Composed(mechanisms=steps), case.setting)
    step = COMPOSED.because(inner.derivation, steps=spec.steps)
    declared = (*inner.declared, LIPSCHITZ_LOSSES, FRESH_NOISE)
    curve = Curve(inner.curve.upper, released_model_instances(spec, case.setting.relation))
    return Guarantee(setting=case.setting, curve=curve, derivation=step, declared=declared)


def _count_noises(spec: ProjectedSgd) -> dict[float, int]:
    """Count the steps of a run with each noise.

    Args:
        spec: the projected SGD run.

    Returns:
        The number of steps by the standard deviation of a client's noise, in increasing order of the noise.
    """
    constant = spec.noise_schedule.constant
    if constant is not None:
        return {float(constant): spec.steps}
    noises, counts = np.unique(spec.noise_schedule.at(1, spec.steps), return_counts=True)
    return dict(zip(noises.tolist(), counts.tolist(), strict=True))


def one_pass(spec: ProjectedSgd, case: Case) -> Guarantee | Refusal:
    """Return the guarantee of Theorem 2 of Asoodeh, Diaz and Calmon 2021, or a refusal if a condition fails.

    It bounds δ of the released model of a single pass of projected SGD over convex and smooth losses.

    Args:
        spec: the projected SGD run.
        case: the requested neighbouring relation, protected unit and observer, and the limit on the work.

    Returns:
        The guarantee. It is a refusal, which says why the theorem does not apply, if a condition on the setting, the
        batches or the losses fails.
    """
    run = run_for(spec, case)
    refusal = (
        check_setting(THEOREM_2, spec, case)
        or fixed_batches(THEOREM_2, spec)
        or single_pass(THEOREM_2, spec)
        or smooth_and_convex(THEOREM_2, spec, run)
    )
    if refusal:
        return refusal
    bound = ContractionBound(replace(run, whole_ball=True))
    return make_guarantee(case, THEOREM_2, run, bound_pair(bound), CONVEX_LOSSES, SMOOTH_LOSSES, PROJECTED)


def any_losses(spec: ProjectedSgd, case: Case) -> Guarantee | Refusal:
    """Return the guarantee of a single pass of projected SGD for arbitrary losses and step sizes; or a refusal.

    Each step after the record's use contracts the hockey-stick divergence of the two runs by a factor. The factor
    depends on a bound on the diameter of the step's image, the set of models that the step can reach before its noise.

    Args:
        spec: the projected SGD run.
        case: the requested neighbouring relation, protected unit and observer, and the limit on the work.

    Returns:
        The guarantee. It is a refusal, which says why the theorem does not apply, for longer runs and for other
        observers, relations and batches. It also is a refusal if Theorem 2 of Asoodeh et al. gives the same bound.
    """
    run = run_for(spec, case)
    refusal = check_setting(ANY_LOSSES, spec, case) or fixed_batches(ANY_LOSSES, spec) or single_pass(ANY_LOSSES, spec)
    if refusal:
        return refusal
    if spec.strong_convexity == 0.0 and smooth_and_convex(ANY_LOSSES, spec, run) is None:
        return Refusal(ANY_LOSSES, f"{THEOREM_2.id} says the same: every image has the diameter 2ρ")
    # Name the properties of the losses on which the guarantee depends.
    declared = []
    if spec.convex:
        declared.append(CONVEX_LOSSES)
    if spec.smoothness is not None:
        declared.append(SMOOTH_LOSSES)
    return make_guarantee(case, ANY_LOSSES, run, bound_pair(ContractionBound(run)), *declared, PROJECTED)


def _make_interpolated_steps(theorem: Theorem, spec: ProjectedSgd, case: Case) -> EqualSteps | DifferingSteps | Refusal:
    """Return the steps of a projected SGD run, for bounds by shifted interpolation: noise hides the effect of a record.

    Args:
        theorem: the theorem that the refusal names.
        spec: the projected SGD run.
        case: the requested neighbouring relation, protected unit and observer, and the limit on the work.

    Returns:
        `EqualSteps` if step size and noise are constant, otherwise `DifferingSteps`; or a refusal if the run is not
        covered.
    """
    run = run_for(spec, case)
    refusal = (
        check_setting(theorem, spec, case) or fixed_batches(theorem, spec) or smooth_and_convex(theorem, spec, run)
    )
    if refusal:
        return refusal
    # Several passes, or a release at a random one of `stops` steps, are covered only for equal steps, never together.
    if run.stops > 1 and run.steps > run.period:
        return Refusal(theorem, "a random release is covered in a single pass only")
    if run.constant:
        return EqualSteps(run)
    if run.stops > 1 or run.steps > run.period:
        return Refusal(theorem, "with changing steps or noise, only the last model of a single pass is covered")
    if run.steps > MOST_PLACES:
        return Refusal(theorem, f"{run.steps} steps of changing size or noise are more than {MOST_PLACES}")
    return DifferingSteps(run)


def interpolation(spec: ProjectedSgd, case: Case) -> Guarantee | Refusal:
    """Return the guarantee of a run of projected SGD by shifted interpolation, or the reason why there is none.

    Take two runs on neighbouring data. Each use of the record in which the data differ moves the models apart. The
    proof adds a third run, which starts with one of them and gets to the other one by a small shift in each step. The
    noise of the step hides its shift. If the record may be in several batches, the bound is averaged over them. If it
    can be in one batch only, the guarantee is Gaussian differential privacy.

    Args:
        spec: the projected SGD run.
        case: the requested neighbouring relation, protected unit and observer.

    Returns:
        The guarantee; or a `Refusal`, with a reason, if the relation, the observer or the run is not covered.
    """
    steps = _make_interpolated_steps(INTERPOLATION, spec, case)
    if isinstance(steps, Refusal):
        return steps
    single_mu = steps.single_mu if isinstance(steps, EqualSteps) else None
    if single_mu is not None:
        upper = gaussian_pair(single_mu)
    else:
        upper = bound_pair(InterpolationBound(steps, contracted=False))
    declared = (CONVEX_LOSSES, SMOOTH_LOSSES, PROJECTED, HIDDEN)
    return make_guarantee(case, INTERPOLATION, steps.run, upper, *declared)


def hybrid(spec: ProjectedSgd, case: Case) -> Guarantee | Refusal:
    """Return the guarantee by shifted interpolation up to some step, followed by contraction; or a refusal.

    Two runs on neighbouring data have models at some distance. Up to a step after the last use of the record, the noise
    of all steps hides this distance. Each later step multiplies δ by a contraction factor below 1. The best step to
    change the method is chosen.

    Args:
        spec: the projected SGD run.
        case: the requested neighbouring relation, protected unit and observer, and the limit on the work.

    Returns:
        The guarantee. It is a refusal, which says why the theorem does not apply, for relations, observers and runs
        that are not covered, and for full batches.
    """
    steps = _make_interpolated_steps(HYBRID, spec, case)
    if isinstance(steps, Refusal):
        return steps
    has_full_batches = spec.period == 1 and spec.participants == spec.clients
    if has_full_batches:
        return Refusal(HYBRID, "every step uses every record, so that no step is behind the last use")
    bound = InterpolationBound(steps, contracted=True)
    return make_guarantee(case, HYBRID, steps.run, bound_pair(bound), CONVEX_LOSSES, SMOOTH_LOSSES, PROJECTED, HIDDEN)


def sampled_batches(spec: ProjectedSgd, case: Case) -> Guarantee | Refusal:
    """Return the guarantee of a run of projected SGD with fresh batches, by composing its last steps; or a refusal.

    A part of the noise of these last steps hides the effect of the earlier steps. The number of last steps is chosen by
    an estimate from the central limit theorem; any number gives a valid bound.

    Args:
        spec: the projected SGD run.
        case: the requested neighbouring relation, protected unit and observer, and the limit on the work.

    Returns:
        The guarantee. It is a refusal if the theorem does not cover the run, or if the composition of all steps is
        estimated to be better.
    """
    run = run_for(spec, case)
    refusal = check_setting(SAMPLED, spec, case) or smooth_and_convex(SAMPLED, spec, run)
    if refusal:
        return refusal
    has_fixed_batches = fixed_batches(SAMPLED, spec) is None
    if has_fixed_batches:
        return Refusal(SAMPLED, "the batches are not drawn afresh in every step")
    if not run.constant or run.stops > 1 or run.steps < 2:
        return Refusal(SAMPLED, "covers the last model of two or more equal steps")

    # The theorem is for the replacement of a record. Zeroing a record is a special case.
    replacing = ProjectedRun.of(spec, "replace-one")
    window = best_window(replacing)
    if not window.helps:
        return Refusal(
            SAMPLED,
            f"no last part of the run promises to beat composing all of it: μ² about {window.expected_square:.3g} "
            f"against {window.composed_square:.3g}",
        )

    setting = Setting(relation="replace-one", unit=case.setting.unit, observer=case.setting.observer)
    inner = case.account(dominating_mechanism(replacing, window), setting)
    step = SAMPLED.because(inner.derivation, steps=window.steps, share=window.share, shift_mu=window.shift_mu)
    if case.setting.relation != "replace-one":
        step = ZEROED_IS_REPLACED.because(step)
    declared = (*inner.declared, LIPSCHITZ_LOSSES, CONVEX_LOSSES, SMOOTH_LOSSES, PROJECTED, FRESH_NOISE, HIDDEN)
    return Guarantee(setting=case.setting, curve=Curve(inner.curve.upper), derivation=step, declared=declared)


def _make_rule(theorem: Theorem, apply: Callable[[ProjectedSgd, Case], Guarantee | Refusal]) -> Rule:
    """Return the rule of a theorem for projected SGD. Its bound is combined with the bounds of the other rules.

    Args:
        theorem: the theorem.
        apply: function from a spec and a case to the guarantee or a refusal.

    Returns:
        The rule, which `account` applies to specifications of projected SGD.
    """
    return Rule(theorem, "projected_sgd", apply, combines=True)


THEOREMS: tuple[Theorem, ...] = (COMPOSED,)
RULES: tuple[Rule, ...] = (
    _make_rule(COMPOSED, every_model),
    _make_rule(THEOREM_2, one_pass),
    _make_rule(ANY_LOSSES, any_losses),
    _make_rule(INTERPOLATION, interpolation),
    _make_rule(HYBRID, hybrid),
    _make_rule(SAMPLED, sampled_batches),
)
