"""Figure 2 of Asoodeh et al.: δ over ε of one pass with hidden states, printed, corrected, certified, and attacked.

There are n = 100 users, and m = q n of them in a batch, with q = 0.1, 0.2 and 0.3. The Lipschitz constant is L = 1, the
radius of the domain ρ = 1, the step size η = ½, and the standard deviation of the noise σ = 1.5. The paper states no
smoothness β; β = 2 is used, and every β ≤ 2/η = 4 gives the same curves. If 1/q is not an integer, the printed curve
has n/m steps although only ⌊n/m⌋ can be run. Each cell audits the run at the printed δ, and claims the ε of this δ in
the figure.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise, product

from epsilond.accountants.account import account
from epsilond.accountants.schedules import Constant
from epsilond.accountants.specs import ProjectedSgd
from epsilond.accountants.theorems.papers.asoodeh.one_pass import OnePass, theorem_2
from epsilond.accountants.verdict import Verdict
from epsilond.witness.audits.request import AuditClaim, AuditSimulation
from epsilond.witness.cells import CellAnswer
from epsilond.witness.experiment import Axis, Cell, Finding, Preset
from epsilond.witness.tally import Tally

USERS, LIPSCHITZ, RADIUS, SMOOTHNESS, STEP, NOISE_STD = 100, 1.0, 1.0, 2.0, 0.5, 1.5
SHARES = (0.1, 0.2, 0.3)
EPSILONS = tuple(0.25 * step for step in range(9))
SAMPLES_PER_REPETITION = 2000
PRINTED, CORRECTED, CERTIFIED = "printed", "corrected", "certified"
Point = tuple[CellAnswer, Mapping[str, float]]
"""Result at an ε and a batch size, and log₁₀ δ there by `PRINTED`, `CORRECTED` and `CERTIFIED`."""


def theorem_inputs(epsilon: float, share: float) -> OnePass:
    """Return the inputs of Theorem 2 of Asoodeh et al. that belong to one point of their Figure 2.

    The theorem states δ at ε for one pass of noisy projected SGD that releases only its last model.

    Args:
        epsilon: ε of the point, in nats.
        share: fraction q of the users that is in a batch.

    Returns:
        The inputs: ε, the numbers of users and of users in a batch, and the figure's constants.
    """
    return OnePass(
        epsilon=epsilon,
        clients=USERS,
        participants=round(share * USERS),
        lipschitz=LIPSCHITZ,
        radius=RADIUS,
        smoothness=SMOOTHNESS,
        step_sizes=(STEP,),
        noise_stds=(NOISE_STD,),
    )


def run_spec(share: float) -> ProjectedSgd:
    """Return the mechanism that Figure 2 of Asoodeh et al. is about: noisy projected SGD on batches of users.

    The run is one pass over shuffled batches, with constant step size and noise. Only its last model is released.

    Args:
        share: fraction q of the users that is in a batch.

    Returns:
        The specification of the run, from which its ε is computed and by which it is attacked.
    """
    return ProjectedSgd(
        clients=USERS,
        participants=round(share * USERS),
        lipschitz=LIPSCHITZ,
        radius=RADIUS,
        smoothness=SMOOTHNESS,
        step_schedule=Constant(value=STEP),
        noise_schedule=Constant(value=NOISE_STD),
    )


def log10_deltas(epsilon: float, share: float) -> dict[str, float]:
    """Compute log₁₀ δ at ε in three ways: as the paper prints it, corrected, and as certified.

    The printed formula takes n/m steps for n users and batches of m. The corrected value is its result for the ⌊n/m⌋
    steps that can be run. The certified value is the least upper bound that any theorem here proves.

    Args:
        epsilon: ε of the point, in nats.
        share: fraction q of the users that is in a batch.

    Returns:
        log₁₀ δ under the names `PRINTED`, `CORRECTED` and `CERTIFIED`.
    """
    point = theorem_inputs(epsilon, share)
    answer = account(run_spec(share), relation="replace-one", observer="final-model")
    certified_log_delta = answer.guarantee.curve.log_delta(epsilon).upper
    return {
        PRINTED: float(theorem_2(point, "printed")["log10_delta"]),
        CORRECTED: float(theorem_2(point, "corrected")["log10_delta"]),
        CERTIFIED: certified_log_delta / math.log(10.0),
    }


def cells(repetitions: int, seed: int) -> tuple[Cell, ...]:
    """Return the simulations that repeat the figure: one audit for each ε and each fraction q of users in a batch.

    An audit attacks the run to prove a lower bound on its ε. Each result also has log₁₀ δ at this ε in three ways: as
    printed, corrected, and certified.

    Args:
        repetitions: number of blocks of `SAMPLES_PER_REPETITION` runs in each audit.
        seed: seed of all randomness.

    Returns:
        One audit for each combination of the values, with its position on the grid.
    """
    grid = []
    for share, epsilon in product(SHARES, EPSILONS):
        # The audit is at the printed δ, and checks the ε of this δ in the figure. A claimed ε must be positive.
        deltas = log10_deltas(epsilon, share)
        claim = AuditClaim(epsilon=epsilon) if epsilon > 0.0 else None
        simulation = AuditSimulation(
            spec=run_spec(share),
            relation="replace-one",
            unit="record",
            observer="final-model",
            log10_delta=deltas[PRINTED],
            samples=SAMPLES_PER_REPETITION * repetitions,
            seed=seed,
            claim=claim,
        )
        grid.append(Cell(place={"epsilon": epsilon, "share": share}, simulation=simulation, log10_deltas=deltas))
    return tuple(grid)


def judge(answers: Sequence[CellAnswer]) -> tuple[Finding, ...]:
    """Judge the claims of Asoodeh et al. that their printed δ is valid, and that it falls as the batch grows.

    Args:
        answers: results of the audits, each with log₁₀ δ as printed, corrected and certified.

    Returns:
        For each claim a verdict, such as confirmed or refuted, and the measured numbers in words.
    """
    points = [(cell, cell.log10_deltas) for cell in answers if cell.log10_deltas is not None]
    return (_judge_privacy(points), _judge_order(points))


def _judge_privacy(points: Sequence[Point]) -> Finding:
    """Judge whether the δ that the figure prints at each ε is valid.

    A printed δ is confirmed if it is at least the certified one, the smallest that a theorem proves. It is refuted if
    an attack violates it. One violated δ refutes the claim.

    Args:
        points: a result for each ε and batch size, with log₁₀ of its printed, corrected and certified δ.

    Returns:
        The claim with its verdict. Its text also compares the printed δ with that of the steps that can be run.
    """
    confirmed = sum(deltas[CERTIFIED] <= deltas[PRINTED] for _, deltas in points)
    refuted = sum(cell.claim is not None and cell.claim.violated == Verdict.YES for cell, _ in points)
    tally = Tally(
        holds=confirmed,
        fails=refuted,
        of=len(points),
        universal=True,
        noun=("point", "points"),
        open_where="neither a certificate nor an attack decides",
    )

    certified_ratios = [10.0 ** (deltas[PRINTED] - deltas[CERTIFIED]) for _, deltas in points]
    corrected_ratios = [10.0 ** (deltas[PRINTED] - deltas[CORRECTED]) for _, deltas in points]
    words = (
        f"A δ no larger than the printed one is certified at {confirmed} of {len(points)} points,"
        f" {min(certified_ratios):.3g} to {max(certified_ratios):.3g} times smaller; attacks disprove {refuted}."
        f" The printed δ is up to {max(corrected_ratios):.3g} times that of the steps that can be run."
    )
    return tally.finding("The curves of the figure are private: each δ holds at the ε under it.", words)


def _judge_order(points: Sequence[Point]) -> Finding:
    """Judge whether the printed δ falls as more users take part in a round.

    Args:
        points: a result for each ε and batch size, with log₁₀ of its printed, corrected and certified δ.

    Returns:
        The claim with its verdict; it holds at an ε if the printed δ falls strictly. The text also counts the values of
        ε at which the certified δ falls.
    """
    epsilons = list(dict.fromkeys(cell.place["epsilon"] for cell, _ in points))
    total = len(epsilons)
    printed_falls = sum(_delta_falls(points, epsilon, PRINTED) for epsilon in epsilons)
    certified_falls = sum(_delta_falls(points, epsilon, CERTIFIED) for epsilon in epsilons)
    words = (
        f"At {printed_falls} of {total} values of ε the printed δ falls from q = {SHARES[0]:g} to"
        f" {SHARES[-1]:g}, and at {certified_falls} the certified δ. The claim is about this figure: at other"
        " parameters δ may rise with the batch."
    )
    tally = Tally(holds=printed_falls, fails=total - printed_falls, of=total, noun=("value of ε", "values of ε"))
    return tally.finding("In the figure δ is the smaller, the more users take part in a round.", words)


def _delta_falls(points: Sequence[Point], epsilon: object, version: str) -> bool:
    """Return whether δ falls strictly as the batch size grows, at a given ε.

    Args:
        points: a result for each ε and batch size, by ascending batch size, with log₁₀ δ in three versions.
        epsilon: value of ε, in nats.
        version: `PRINTED` for δ of the paper's formula as it stands, `CORRECTED`, or `CERTIFIED`.
    """
    log_deltas = [deltas[version] for cell, deltas in points if cell.place["epsilon"] == epsilon]
    return all(of_larger < of_smaller for of_smaller, of_larger in pairwise(log_deltas))


PRESET = Preset(
    name="asoodeh-figure-2",
    title="One pass with hidden states: δ over ε, printed, corrected and certified",
    summary="every value of the figure, and an attack on the final model at each"
    f" ({SAMPLES_PER_REPETITION} samples a repetition)",
    source="Asoodeh et al., Figure 2",
    across=Axis(name="epsilon", title="ε of each user against who sees the final model", scale="linear"),
    lines=Axis(name="share", title="users in a round, q"),
    measure="log10_delta",
    stands_in_for="Reproduces Figure 2: the figure is of a formula, and nothing is replaced. n = 100 users, one "
    "pass, L = ρ = 1, η = ½, σ = 1.5, and a share q of the users in each round. The paper names no smoothness: any "
    "β ≤ 4 gives these curves, and β = 2 is used. The printed δ is Theorem 2's as "
    "printed, with n/m rounds even where that is not a whole number. The corrected one has the ⌊n/m⌋ rounds that can "
    "be run. The certified one is the smallest δ that any theorem here proves for that run. In addition to the paper's "
    "curves, the final model is attacked at each point. The protected unit is a user, against an observer of only "
    "the final model.",
    repetitions=100,
    cells=cells,
    judge=judge,
)
