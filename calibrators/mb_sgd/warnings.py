"""What a caller of mb-sgd should know before relying on the answer, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from epsilond.calibrators.answer import Caution
from epsilond.calibrators.search import LEAST

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from epsilond.calibrators.answer import PrintedReading
    from epsilond.calibrators.mb_sgd.problem import MiniBatchProblem
    from epsilond.calibrators.search import Certified


def warnings_of(
    problem: MiniBatchProblem,
    certified: Sequence[Certified],
    noise_stds: Sequence[float],
    printed: Sequence[PrintedReading],
) -> tuple[Caution, ...]:
    """Every warning that applies, in a fixed order; `certified` and `noise_stds` are those of each group."""
    return (
        *_of_the_groups(problem, noise_stds),
        *_of_the_noise(certified),
        *(warning for reading in printed for warning in of_a_reading(reading, noise_stds)),
        *_of_the_sampling(problem),
        *_of_assumptions(problem),
        *_of_what_is_not_used(problem),
    )


def _of_what_is_not_used(problem: MiniBatchProblem) -> Iterator[Caution]:
    given = problem.rounds is not None and (problem.batch_size is not None or problem.sampling == "full")
    if given and problem.within != type(problem).within:
        yield Caution(code="field-not-used", message="within chooses nothing where rounds and batch_size are given")


def _of_the_groups(problem: MiniBatchProblem, noise_stds: Sequence[float]) -> Iterator[Caution]:
    groups = problem.client_groups or ()
    if len(set(noise_stds)) > 1:
        yield Caution(
            code="noise-per-group",
            message="groups of clients run with different noise: no one figure is everyone's, and each group's own "
            "noise_std, noise_multiplier and sensitivity stand in parameters.groups",
        )
    if any(group.epsilon or group.delta or group.log10_delta for group in groups):
        yield Caution(
            code="guarantee-per-group",
            message="clients have targets of their own: the guarantee is that of all, at the largest ε and δ promised "
            "to any; each group's own stands in parameters.groups",
        )


def _of_the_noise(certified: Sequence[Certified]) -> Iterator[Caution]:
    if any(one.noise == LEAST for one in certified):
        yield Caution(
            code="sampling-alone-suffices",
            message=f"a record is drawn so rarely that δ is met at the least noise offered, {LEAST:g} contributions; "
            "a record that is drawn is hardly protected",
        )
    elif any(one.slack is None for one in certified):
        yield Caution(
            code="minimality-not-proved",
            message="the noise is certified, but the lattice is too coarse here to prove that 0.1 % less would not do",
        )


def of_a_reading(reading: PrintedReading, noise_stds: Sequence[float]) -> Iterator[Caution]:
    """Conditions of a printed statement that fail, and printed noise that is too little; for every algorithm."""
    name = f"{reading.theorem} ({reading.reading})"
    for condition in reading.conditions:
        if condition.holds is False:
            sides = f": {condition.left:.6g} against {condition.right:.6g}" if condition.left is not None else ""
            yield Caution(
                code="printed-condition-fails",
                message=f"{name} does not apply, {condition.statement} fails{sides}; the certified parameters stand",
            )
    if reading.true is not None and reading.true.epsilon.lower > reading.claims.epsilon:
        yield Caution(
            code="printed-noise-not-private",
            message=f"at the noise printed in {name} the true ε is at least {reading.true.epsilon.lower:.6g}, "
            f"above the {reading.claims.epsilon:g} it claims",
        )
    if reading.parameters["noise_std"] < noise_stds[int(reading.parameters.get("group", 0))]:
        yield Caution(
            code="printed-noise-below-certified",
            message=f"the noise printed in {name} is below the smallest that is certified here",
        )


def _of_the_sampling(problem: MiniBatchProblem) -> Iterator[Caution]:
    if problem.sampling == "with-replacement":
        yield Caution(
            code="printed-proof-invalid",
            message="the printed proof bounds the sensitivity by 2L/K, which is false for a record drawn twice; the "
            "certified figures account for every multiplicity (erratum E-02)",
        )
    if problem.relation != "replace-one" and problem.unit == "record":
        yield Caution(
            code="printed-truth-is-for-replace-one",
            message="the printed theorem and the true figures beside it are for replace-one, not for this relation",
        )
    if problem.observer != "server":
        yield Caution(
            code="observer-sees-less",
            message="the figures are those against the server, who sees every message; this observer sees a function "
            "of them, so they hold, and may be pessimistic",
        )


def _of_assumptions(problem: MiniBatchProblem) -> Iterator[Caution]:
    if problem.initial_distance is None:
        yield Caution(code="assumed-initial-distance", message="initial_distance was taken to be the diameter")
    if not problem.identically_distributed and problem.heterogeneity is None:
        yield Caution(
            code="assumed-heterogeneity", message="heterogeneity was taken to be lipschitz, its largest value"
        )
    if problem.sampling not in ("without-replacement", "full"):
        yield Caution(
            code="no-risk-for-this-sampling",
            message="the excess-risk bound is proved for batches drawn without replacement; the noise is certified",
        )
    if problem.smoothness is None and problem.sampling in ("without-replacement", "full"):
        yield Caution(
            code="assumed-exact-proximal-steps",
            message="without smoothness the gradients sent are those of the Moreau envelope of every record's loss; "
            "the risk bound takes their proximal points to be exact, the guarantee needs only their norm bounded",
        )
