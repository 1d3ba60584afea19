"""The answer of a membership inference: a lower bound on ε for each attack, from the scores of all runs."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from epsilond.accountants import ENGINE_VERSION
from epsilond.accountants.json_types import Fields
from epsilond.accountants.quantities import Observer
from epsilond.calibrators.answer import Ends
from epsilond.simulators.audits.attack import SplitStatistics, best, epsilon_score, roc
from epsilond.simulators.audits.worlds import Floats
from epsilond.simulators.memberships import likelihood
from epsilond.simulators.memberships.one_run import guess
from epsilond.simulators.memberships.training import Bools, TrainedRuns
from epsilond.witness.audits.answer import RocPoint
from epsilond.witness.memberships.answer import MembershipAnswer, MembershipAttackAnswer
from epsilond.witness.memberships.request import MembershipAttack, MembershipSimulation

EVERY_MODEL: MembershipAttack = "every-model"
"""Attack that uses every released model, not only the last one."""
FALSE_POSITIVE_RATE = 0.01
"""False positive rate at which the true positive rate is reported."""


def concatenate_runs(blocks: Sequence[TrainedRuns]) -> TrainedRuns:
    """Concatenate the results of all blocks of trainings, in the order of the blocks.

    Args:
        blocks: results of each block: the included canaries, the models, and the attackers' statistics of its runs.
    """
    members = np.concatenate([block.members for block in blocks])
    models = np.concatenate([block.models for block in blocks])
    alignment = np.concatenate([block.alignment for block in blocks])
    confidence = np.concatenate([block.confidence for block in blocks])
    return TrainedRuns(members=members, models=models, alignment=alignment, confidence=confidence)


def make_answer(request: MembershipSimulation, certified: Ends, members: int, trained: TrainedRuns) -> MembershipAnswer:
    """Attack the trained models, and compare the lower bounds on ε with the certified ε.

    The first `request.runs` runs are attacked. The remaining ones are reference runs, which calibrate the attacks by
    likelihood ratios.

    Args:
        request: the attacks to make, with their δ and confidence level.
        certified: certified bounds on ε at that δ.
        members: number of ordinary records or clients in the data, which are not canaries (inserted to be detected).
        trained: all runs, in order.

    Returns:
        The answer, with one entry for each attack.
    """
    attacks = tuple(_attack(request, certified, name, trained) for name in request.made)
    stated_delta = request.delta
    if stated_delta is None:
        # If δ is below every double, only log₁₀ δ is stated.
        stated_delta = math.exp(request.log_delta) or None
    first_model = trained.models[0]
    return MembershipAnswer(
        training=request.training,
        unit=request.training.unit,
        members=members,
        canaries=request.training.canaries,
        runs=request.runs,
        references=request.references,
        delta=stated_delta,
        log10_delta=request.log_delta / math.log(10.0),
        confidence=request.confidence,
        certified=certified,
        attacks=attacks,
        model=tuple(float(weight) for weight in first_model),
        meaning=_meaning(request, certified, attacks),
        seed=request.seed,
        engine_version=ENGINE_VERSION,
    )


def scores(name: MembershipAttack, trained: TrainedRuns, runs: int) -> Floats:
    """Score every canary of the attacked runs; a larger score means more evidence that it was in the data.

    A canary is a record or client that is inserted into the training data to be detected.

    Args:
        name: the attack.
        trained: all runs. Those after the attacked ones are references, of which the attacker knows the canaries.
        runs: number of attacked runs.

    Returns:
        The scores, of shape (runs, canaries).
    """
    if name == EVERY_MODEL:
        return trained.alignment[:runs]
    confidence = trained.confidence[:runs]
    if name == "final-model":
        return confidence

    reference_confidence, reference_members = trained.confidence[runs:], trained.members[runs:]
    if name == "likelihood-ratio":
        return likelihood.score_online(confidence, reference_confidence, reference_members)
    return likelihood.score_offline(confidence, reference_confidence, reference_members)


def _attack(
    request: MembershipSimulation, certified: Ends, name: MembershipAttack, trained: TrainedRuns
) -> MembershipAttackAnswer:
    """Evaluate one attack: its error rates, and the lower bound on ε that it proves.

    A canary is a record or client that is inserted into the training data to be detected. With a single canary, the
    bound comes from independent runs with and without it. With several canaries, it comes from guesses about all of
    them (Steinke, Nasr and Jagielski 2023).

    Args:
        request: δ, the confidence level, and the numbers of canaries and of attacked runs.
        certified: certified bounds on ε at that δ.
        name: the attack.
        trained: all runs; those after the attacked ones are references.

    Returns:
        The lower bound with its evidence, the error rates, and whether the bound contradicts the certified ε.
    """
    members = trained.members[: request.runs]
    run_scores = scores(name, trained, request.runs)
    inside, outside = run_scores[members], run_scores[~members]
    if request.training.canaries == 1:
        lower, evidence = _bound_by_runs(request, inside, outside)
    else:
        lower, evidence = _bound_by_guesses(request, run_scores, members)

    # If all canaries were inside, or none was, no test can be evaluated. The curve is then that of random guessing.
    rates = [(0.0, 0.0), (1.0, 1.0)]
    if inside.size and outside.size:
        rates = roc(inside, outside)
    points = [RocPoint(false_positive_rate=false_rate, true_positive_rate=true_rate) for false_rate, true_rate in rates]

    observer: Observer = "released-models" if name == EVERY_MODEL else "final-model"
    has_ratio = 0.0 < certified.upper < math.inf
    return MembershipAttackAnswer(
        attack=name,
        observer=observer,
        epsilon_lower=lower,
        auc=_auc(inside, outside),
        true_positive_rate=_rare_true_positive_rate(inside, outside),
        ratio=lower / certified.upper if has_ratio else None,
        verdict="contradicted" if lower > certified.upper else "consistent",
        roc=tuple(points),
        **evidence,
    )


def _bound_by_runs(request: MembershipSimulation, inside: Floats, outside: Floats) -> tuple[float, Fields]:
    """Bound ε from below by the error rates of a threshold test, in independent runs with and without one canary.

    Args:
        request: δ and the confidence level.
        inside: scores of the runs with the canary, that is, the record or client inserted to be detected.
        outside: scores of the runs without it.

    Returns:
        The bound in nats; and the numbers of true positives, false positives and runs from which it follows, as fields
        of the answer.
    """
    delta, error = math.exp(request.log_delta), 1.0 - request.confidence
    # One half of the runs chooses the threshold, and the other half is counted.
    halves = SplitStatistics.of(inside, outside)
    bound = best(halves, epsilon_score(delta), error)
    evidence: Fields = {
        "method": "counted-runs",
        "true_positives": bound.rule.true_positives,
        "false_positives": bound.rule.false_positives,
        "trials": bound.rule.trials,
    }
    return bound.value, evidence


def _bound_by_guesses(request: MembershipSimulation, run_scores: Floats, members: Bools) -> tuple[float, Fields]:
    """Bound ε from below by guesses about many canaries (Steinke, Nasr and Jagielski 2023, Theorem 5.2).

    A canary is a record or client that is inserted to be detected. The attacker guesses from its score whether it was
    in the data.

    Args:
        request: δ and the confidence level.
        run_scores: score of each canary in each run, of shape (runs, canaries).
        members: whether each canary is in each run, of the same shape.

    Returns:
        The bound in nats; and the number of guesses and of right guesses, as fields of the answer.
    """
    delta, error = math.exp(request.log_delta), 1.0 - request.confidence
    guesses = guess(run_scores.ravel(), members.ravel(), delta=delta, error=error)
    evidence: Fields = {"method": "one-run", "guesses": guesses.guesses, "right": guesses.right}
    return guesses.epsilon_lower, evidence


def _auc(inside: Floats, outside: Floats) -> float:
    """Return the area under the ROC curve.

    It is the probability that a random canary in the data has a larger score than a random one outside; a tie counts
    one half.

    Args:
        inside: scores of the canaries (inserted records or clients) in the data.
        outside: scores of the other canaries.

    Returns:
        The area, from 0 to 1; ½ if either array is empty.
    """
    if not inside.size or not outside.size:
        return 0.5
    # The mean of the numbers of smaller, and of smaller or equal, scores counts a tie as one half.
    sorted_outside = np.sort(outside)
    below = np.searchsorted(sorted_outside, inside, side="left")
    below_or_equal = np.searchsorted(sorted_outside, inside, side="right")
    return float(np.mean(below + below_or_equal) / (2.0 * outside.size))


def _rare_true_positive_rate(inside: Floats, outside: Floats) -> float:
    """Return the true positive rate at the least threshold with a false positive rate of at most `FALSE_POSITIVE_RATE`.

    Args:
        inside: scores of the canaries (inserted records or clients) in the data.
        outside: scores of the other canaries.

    Returns:
        The share of the scores inside that exceed the threshold; 0 if either array is empty.
    """
    if not inside.size or not outside.size:
        return 0.0
    # A score above the threshold is positive. At most `false_positives` of the scores outside are.
    false_positives = int(FALSE_POSITIVE_RATE * outside.size)
    threshold = np.sort(outside)[outside.size - 1 - false_positives]
    return float(np.mean(inside > threshold))


def draw_inclusions(request: MembershipSimulation, runs: range, generators: Sequence[np.random.Generator]) -> Bools:
    """Draw which canaries are included in which runs.

    Each of several canaries is included with probability ½, independently. A single canary is included in every second
    run, those with an even number.

    Args:
        request: the request, with the number of canaries.
        runs: numbers of the runs, from 0.
        generators: one generator for each run; a single canary uses none.

    Returns:
        Whether each canary is included, of shape (runs, canaries).
    """
    count = request.training.canaries
    if count == 1:
        return np.array([[number % 2 == 0] for number in runs])
    return np.stack([generator.random(count) < 0.5 for generator in generators])


def _meaning(request: MembershipSimulation, certified: Ends, attacks: Sequence[MembershipAttackAnswer]) -> str:
    """State in words the largest lower bound on ε of all attacks, and whether it agrees with the certified ε.

    Args:
        request: the membership inference, with its δ and confidence level.
        certified: certified lower and upper bound on ε at that δ.
        attacks: the attacks with their lower bounds, at least one.

    Returns:
        One or two sentences for the answer.
    """
    strongest = max(attacks, key=lambda attack: attack.epsilon_lower)
    delta = f"10^{request.log_delta / math.log(10.0):.6g}"
    if not strongest.epsilon_lower:
        return f"None of the attacks proves anything at δ = {delta}; another attack may prove more."

    lower, upper = f"{strongest.epsilon_lower:.4g}", f"{certified.upper:.4g}"
    unit = "one record" if request.training.unit == "record" else "one client"
    proof = (
        f"With {request.confidence:.6g} confidence the attack {strongest.attack} shows that no ε below {lower} holds"
        f" of {unit} at δ = {delta}."
    )
    if strongest.verdict == "contradicted":
        return f"{proof} That contradicts the certified upper end, {upper}: one of the two is wrong."
    return f"{proof} That agrees with the certified upper end, {upper}."
