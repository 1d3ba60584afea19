"""From the scores of all runs to lower bounds on ε, one for each attack."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from epsilond.accountants import ENGINE_VERSION
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

SEES_ALL: MembershipAttack = "every-model"
RARE = 0.01


def joined(blocks: Sequence[TrainedRuns]) -> TrainedRuns:
    """All runs, in order."""
    return TrainedRuns(
        members=np.concatenate([each.members for each in blocks]),
        models=np.concatenate([each.models for each in blocks]),
        alignment=np.concatenate([each.alignment for each in blocks]),
        confidence=np.concatenate([each.confidence for each in blocks]),
    )


def answered(asked: MembershipSimulation, certified: Ends, members: int, trained: TrainedRuns) -> MembershipAnswer:
    """The answer: the first `asked.runs` runs are attacked, the others are references."""
    attacks = tuple(_attack(asked, certified, name, trained) for name in asked.made)
    delta = math.exp(asked.log_delta)
    return MembershipAnswer(
        training=asked.training,
        unit=asked.training.unit,
        members=members,
        canaries=asked.training.canaries,
        runs=asked.runs,
        references=asked.references,
        delta=asked.delta if asked.delta is not None else (delta if delta > 0.0 else None),
        log10_delta=asked.log_delta / math.log(10.0),
        confidence=asked.confidence,
        certified=certified,
        attacks=attacks,
        model=tuple(float(each) for each in trained.models[0]),
        meaning=_meaning(asked, certified, attacks),
        seed=asked.seed,
        engine_version=ENGINE_VERSION,
    )


def scores(name: MembershipAttack, trained: TrainedRuns, runs: int) -> Floats:
    """Of the attacked runs, larger where the attacker believes that the canary was in: (runs, m)."""
    if name == SEES_ALL:
        return trained.alignment[:runs]
    confidence = trained.confidence[:runs]
    if name == "final-model":
        return confidence
    made = likelihood.online if name == "likelihood-ratio" else likelihood.offline
    return made(confidence, trained.confidence[runs:], trained.members[runs:])


def _attack(
    asked: MembershipSimulation, certified: Ends, name: MembershipAttack, trained: TrainedRuns
) -> MembershipAttackAnswer:
    members, found = trained.members[: asked.runs], scores(name, trained, asked.runs)
    delta, error = math.exp(asked.log_delta), 1.0 - asked.confidence
    inside, outside = found[members], found[~members]
    observer: Observer = "released-models" if name == SEES_ALL else "final-model"
    rates = roc(inside, outside) if inside.size and outside.size else [(0.0, 0.0), (1.0, 1.0)]
    counted = proved = None
    if asked.training.canaries == 1:
        counted = best(SplitStatistics.of(inside, outside), epsilon_score(delta), error)
        lower = counted.value
    else:
        proved = guess(found.ravel(), members.ravel(), delta=delta, error=error)
        lower = proved.epsilon_lower
    return MembershipAttackAnswer(
        attack=name,
        observer=observer,
        method="counted-runs" if counted else "one-run",
        epsilon_lower=lower,
        guesses=proved.guesses if proved else None,
        right=proved.right if proved else None,
        true_positives=counted.rule.true_positives if counted else None,
        false_positives=counted.rule.false_positives if counted else None,
        trials=counted.rule.trials if counted else None,
        auc=_auc(inside, outside),
        true_positive_rate=_rare(inside, outside),
        ratio=lower / certified.upper if 0.0 < certified.upper < math.inf else None,
        verdict="contradicted" if lower > certified.upper else "consistent",
        roc=tuple(RocPoint(false_positive_rate=false, true_positive_rate=true) for false, true in rates),
    )


def _auc(inside: Floats, outside: Floats) -> float:
    """How often a member scores above one who is none, ties counted half; ½ where one kind is missing."""
    if not inside.size or not outside.size:
        return 0.5
    ordered = np.sort(outside)
    below = np.searchsorted(ordered, inside, side="left") + np.searchsorted(ordered, inside, side="right")
    return float(np.mean(below) / (2.0 * outside.size))


def _rare(inside: Floats, outside: Floats) -> float:
    """The true positive rate of the threshold that at most `RARE` of the others exceed."""
    if not inside.size or not outside.size:
        return 0.0
    allowed = int(RARE * outside.size)
    threshold = np.sort(outside)[outside.size - 1 - allowed]
    return float(np.mean(inside > threshold))


def half_in(asked: MembershipSimulation, runs: range, generators: Sequence[np.random.Generator]) -> Bools:
    """Which canaries are in, (S, m): by coins, or one canary in every second run."""
    count = asked.training.canaries
    if count == 1:
        return np.array([[number % 2 == 0] for number in runs])
    return np.stack([generator.random(count) < 0.5 for generator in generators])


def _meaning(asked: MembershipSimulation, certified: Ends, attacks: Sequence[MembershipAttackAnswer]) -> str:
    strongest = max(attacks, key=lambda each: each.epsilon_lower)
    delta = f"10^{asked.log_delta / math.log(10.0):.6g}"
    lower, upper = f"{strongest.epsilon_lower:.4g}", f"{certified.upper:.4g}"
    if not strongest.epsilon_lower:
        return f"None of the attacks proves anything at δ = {delta}; that does not bound what another attack may prove."
    one = "one record" if asked.training.unit == "record" else "one client"
    told = f"With {asked.confidence:.6g} confidence the attack {strongest.attack} shows that no ε below {lower} holds"
    if strongest.verdict == "contradicted":
        beside = f"That contradicts the certified upper end, {upper}: one of the two is wrong."
    else:
        beside = f"That agrees with the certified upper end, {upper}."
    return f"{told} of {one} at δ = {delta}. {beside}"
