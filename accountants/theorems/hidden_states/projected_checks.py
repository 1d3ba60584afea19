"""Checks of a run of projected SGD: whether a bound on its released model covers the setting, batches and losses."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from epsilond.accountants.rule import Case, Refusal
from epsilond.accountants.theorems.hidden_states.projected_contraction import check_step_sizes
from epsilond.accountants.theorems.hidden_states.projected_run import ProjectedRun
from epsilond.accountants.verdict import Verdict

if TYPE_CHECKING:
    from epsilond.accountants.specs import ProjectedSgd
    from epsilond.accountants.theorem import Theorem


def check_setting(theorem: Theorem, spec: ProjectedSgd, case: Case) -> Refusal | None:
    """Check whether bounds on the released model of projected SGD apply to a request.

    They do not apply to an observer of more than the released model, or to the relation add-or-remove-one. Runs with
    too many steps of changing size or noise are also rejected, because their privacy curve would take too long.

    Args:
        theorem: the theorem that the refusal names.
        spec: the run.
        case: the requested neighbouring relation, protected unit and observer, and the limit on the work.

    Returns:
        A refusal, which says why the theorem does not apply; None if it may apply.
    """
    if case.setting.observer != "final-model":
        return Refusal(theorem, "covers the released model only; for an observer who sees more, use the composition")
    if case.setting.relation == "add-or-remove-one":
        return Refusal(theorem, "batches of fixed size from n or n − 1 records: no valid pair is known")
    most = ProjectedRun.of(spec, case.setting.relation).most_accounted
    if spec.steps > most:
        return Refusal(theorem, f"{spec.steps} steps of changing size or noise are more than {most}")
    return None


def fixed_batches(theorem: Theorem, spec: ProjectedSgd) -> Refusal | None:
    """Check whether the batches of a run are fixed in advance, instead of drawn anew in every step.

    Args:
        theorem: the theorem that the refusal names.
        spec: the run.

    Returns:
        A refusal if batches are drawn anew; None if they are fixed, or if every batch has all clients.
    """
    draws_anew = spec.batches == "without-replacement" and spec.participants < spec.clients
    if draws_anew:
        return Refusal(theorem, "every step draws its batch afresh, so that no step is behind the record's last use")
    return None


def single_pass(theorem: Theorem, spec: ProjectedSgd) -> Refusal | None:
    """Check whether a run is at most one pass over the clients, so that no record is used twice.

    Args:
        theorem: the theorem that the refusal names.
        spec: the run: T steps, each with a batch of m of the n clients.

    Returns:
        A refusal if T > n/m; None otherwise.
    """
    if spec.steps <= spec.period:
        return None
    return Refusal(theorem, f"T ≤ n/m fails, {spec.steps} > {spec.period}: a record is used more than once")


def smooth_and_convex(theorem: Theorem, spec: ProjectedSgd, run: ProjectedRun) -> Refusal | None:
    """Check whether losses are convex and β-smooth, and all step sizes at most 2/β.

    Under these conditions, a gradient step does not increase the distance of two models.

    Args:
        theorem: the theorem that the refusal names.
        spec: the run.
        run: the same run under the relation of the setting.

    Returns:
        A refusal that states the condition which fails; None if all hold.
    """
    if not spec.convex:
        return Refusal(theorem, "needs convex losses")
    if spec.smoothness is None:
        return Refusal(theorem, "needs smooth losses: the gradient has no Lipschitz constant")
    sides = check_step_sizes(run)
    if sides.holds != Verdict.YES:
        return Refusal(theorem, f"η_t ≤ 2/β at every t fails, {sides.left:g} > {sides.right:g}")
    return None


def run_for(spec: ProjectedSgd, case: Case) -> ProjectedRun:
    """Return the run of a specification under the requested neighbouring relation.

    With full batches, all records are used in the same steps. The order of the batches then counts as known.

    Args:
        spec: the projected SGD run.
        case: the requested neighbouring relation, protected unit and observer, and the limit on the work.

    Returns:
        The run, with the sensitivity of the relation.
    """
    run = ProjectedRun.of(spec, case.setting.relation)
    has_full_batches = run.period == 1 and run.clients == run.participants
    if has_full_batches:
        return replace(run, known_order=True)
    return run
