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
    """Join the training runs of all blocks of a simulation, in order of the blocks.

    A block is a number of trainings that ran together.

    Args:
        blocks: for each block its runs: the included canaries, the models, and the attackers' statistics.

    Returns:
        The canaries, models and statistics of all runs, in the same order.
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

    A canary is a record or client that is inserted into the training data to be detected.

    Args:
        request: the attacks to make, with their δ and confidence level.
        certified: certified enclosure of ε at that δ.
        members: number of members of the data that are not canaries.
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
        trained: all runs. Those after the attacked ones are references. The attacker knows their canaries.
        runs: number of attacked runs.

    Returns:
        The scores, of shape (runs, canaries).
    """
    if name == EVERY_MODEL:
        return trained.alignment[:runs]
    confidence = trained.confidence[:runs]
    if name == "final-model":
        return confidence

    # The other attacks compare the scores with those of the reference runs, by likelihood ratios.
    reference_confidence, reference_members = trained.confidence[runs:], trained.members[runs:]
    if name == "likelihood-ratio":
        return likelihood.score_online(confidence, reference_confidence, reference_members)
    return likelihood.score_offline(confidence, reference_confidence, reference_members)


def _attack(
    request: MembershipSimulation, certified: Ends, name: MembershipAttack, trained: TrainedRuns
) -> MembershipAttackAnswer:
    """Evaluate one attack: its error rates, and the lower bound on ε that it proves.

    With a single canary, the bound comes from independent runs with and without it. With several canaries, it comes
    from guesses about all of them (Steinke, Nasr and Jagielski 2023).

    A canary is a record or client that is inserted into the training data to be detected.

    Args:
        request: δ, the confidence level, and the numbers of canaries and of attacked runs.
        certified: certified enclosure of ε at that δ.
        name: the attack.
        trained: all runs; those after the attacked ones are references.

    Returns:
        The lower bound with its evidence, the error rates, and whether the bound contradicts the certified ε.
    """
    # Scores of the canaries that were in the data, and of those that were not.
    members = trained.members[: request.runs]
    run_scores = scores(name, trained, request.runs)
    inside, outside = run_scores[members], run_scores[~members]
    if request.training.canaries == 1:
        lower, evidence = _bound_by_runs(request, inside, outside)
    else:
        lower, evidence = _bound_by_guesses(request, run_scores, members)

    # Without any canary inside, or without any outside, the curve is the diagonal of guessing.
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
    """Return the lower bound on ε that independent runs with and without one canary prove.

    A threshold test on the score guesses whether the canary was in the data. Its error rates bound ε from below.

    Args:
        request: δ and the confidence level.
        inside: scores of the runs with the canary, that is, the record or client inserted to be detected.
        outside: scores of the runs without it.

    Returns:
        The bound in nats. Then the numbers of true positives, false positives and runs that prove it, by field name.
    """
    delta, error = math.exp(request.log_delta), 1.0 - request.confidence
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
    """Return the lower bound on ε that guesses about many canaries prove.

    A canary is a record or client that is inserted to be detected. The attacker guesses from its score whether it was
    in the data. The bound is Theorem 5.2 of Steinke, Nasr and Jagielski (2023).

    Args:
        request: δ and the confidence level.
        run_scores: score of each canary in each run, of shape (runs, canaries).
        members: whether each canary is in each run, of the same shape.

    Returns:
        The bound in nats. Then the number of guesses and the number of right ones, by field name.
    """
    delta, error = math.exp(request.log_delta), 1.0 - request.confidence
    guesses = guess(run_scores.ravel(), members.ravel(), delta=delta, error=error)
    evidence: Fields = {"method": "one-run", "guesses": guesses.guesses, "right": guesses.right}
    return guesses.epsilon_lower, evidence


def _auc(inside: Floats, outside: Floats) -> float:
    """Return the area under the ROC curve: the probability that a canary in the data scores above another one.

    A tie counts one half.

    Args:
        inside: scores of the canaries (inserted records or clients) in the data.
        outside: scores of the other canaries.

    Returns:
        The area, from 0 to 1; ½ if either array is empty.
    """
    if not inside.size or not outside.size:
        return 0.5
    # Ranks of the scores inside among those outside. The mean of both ranks counts a tie as one half.
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
    # Scores strictly above the threshold count as positive: at most `false_positives` of the scores outside are above.
    false_positives = int(FALSE_POSITIVE_RATE * outside.size)
    threshold = np.sort(outside)[outside.size - 1 - false_positives]
    return float(np.mean(inside > threshold))


def draw_inclusions(request: MembershipSimulation, runs: range, generators: Sequence[np.random.Generator]) -> Bools:
    """Draw which canaries are included in which runs.

    Each of several canaries is included with probability ½. A single canary is included in the runs of even number.

    Args:
        request: the request, with the number of canaries.
        runs: numbers of the runs.
        generators: one generator for each run; a single canary uses none.

    Returns:
        Whether each canary is included, of shape (runs, canaries).
    """
    count = request.training.canaries
    if count == 1:
        return np.array([[number % 2 == 0] for number in runs])
    return np.stack([generator.random(count) < 0.5 for generator in generators])


def _meaning(request: MembershipSimulation, certified: Ends, attacks: Sequence[MembershipAttackAnswer]) -> str:
    """Explain in sentences the largest lower bound on ε of all attacks, and its agreement with the certified ε.

    An attack that succeeds more often than ε allows proves that no smaller ε holds, with the confidence of the request.

    Args:
        request: the membership inference, with its δ and confidence level.
        certified: certified lower and upper bound on ε at that δ.
        attacks: the attacks with their lower bounds, at least one.

    Returns:
        One or two sentences for the answer.
    """
    # The attack with the largest lower bound; a bound of 0 proves nothing.
    strongest = max(attacks, key=lambda attack: attack.epsilon_lower)
    delta = f"10^{request.log_delta / math.log(10.0):.6g}"
    if not strongest.epsilon_lower:
        return f"None of the attacks proves anything at δ = {delta}; another attack may prove more."

    # State the largest lower bound, and compare it with the certified upper one.
    lower, upper = f"{strongest.epsilon_lower:.4g}", f"{certified.upper:.4g}"
    unit = "one record" if request.training.unit == "record" else "one client"
    proof = (
        f"With {request.confidence:.6g} confidence the attack {strongest.attack} shows that no ε below {lower} holds"
        f" of {unit} at δ = {delta}."
    )
    if strongest.verdict == "contradicted":
        return f"{proof} That contradicts the certified upper end, {upper}: one of the two is wrong."
    return f"{proof} That agrees with the certified upper end, {upper}."
