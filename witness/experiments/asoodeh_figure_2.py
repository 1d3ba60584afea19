"""Figure 2 of Asoodeh et al.: δ over ε of one pass with hidden states, printed, corrected, certified, and attacked.

n = 100 users, L = ρ = 1, β = 2, η = ½, σ = 1.5, and batches of q = 0.1, 0.2 and 0.3 of the users. Where 1/q is no whole
number the printed curve has n/m steps for the ⌊n/m⌋ that can be run. Each cell audits the run at the printed δ, and
the ε that stands under it in the figure is its claim.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

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
EPSILONS = (0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0)
SAMPLES_PER_REPETITION = 2000
PRINTED, CORRECTED, CERTIFIED = "printed", "corrected", "certified"


def inputs(epsilon: float, share: float) -> OnePass:
    """The theorem's, at one point of the figure."""
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


def spec(share: float) -> ProjectedSgd:
    """What is run."""
    return ProjectedSgd(
        clients=USERS,
        participants=round(share * USERS),
        lipschitz=LIPSCHITZ,
        radius=RADIUS,
        smoothness=SMOOTHNESS,
        step_schedule=Constant(value=STEP),
        noise_schedule=Constant(value=NOISE_STD),
    )


def deltas(epsilon: float, share: float) -> dict[str, float]:
    """log10 δ at ε: as printed, corrected, and the least that any theorem certifies."""
    asked = inputs(epsilon, share)
    curve = account(spec(share), relation="replace-one", observer="final-model").guarantee.curve
    return {
        PRINTED: float(theorem_2(asked, "printed")["log10_delta"]),
        CORRECTED: float(theorem_2(asked, "corrected")["log10_delta"]),
        CERTIFIED: curve.log_delta(epsilon).upper / math.log(10.0),
    }


def cells(repetitions: int, seed: int) -> tuple[Cell, ...]:
    """One for each q and ε."""
    found = []
    for share in SHARES:
        for epsilon in EPSILONS:
            told = deltas(epsilon, share)
            simulation = AuditSimulation(
                spec=spec(share),
                relation="replace-one",
                unit="record",
                observer="final-model",
                log10_delta=told[PRINTED],
                samples=SAMPLES_PER_REPETITION * repetitions,
                seed=seed,
                claim=AuditClaim(epsilon=epsilon) if epsilon > 0.0 else None,
            )
            found.append(Cell(place={"epsilon": epsilon, "share": share}, simulation=simulation, log10_deltas=told))
    return tuple(found)


def judge(answered: Sequence[CellAnswer]) -> tuple[Finding, ...]:
    """Whether the printed curve is true, whether attacks reach it, and how far below it δ can be certified."""
    told = [(cell, cell.log10_deltas) for cell in answered if cell.log10_deltas is not None]
    true = sum(one[CERTIFIED] <= one[PRINTED] for _, one in told)
    disproved = sum(cell.claim is not None and cell.claim.violated == Verdict.YES for cell, _ in told)
    less = [10.0 ** (one[PRINTED] - one[CERTIFIED]) for _, one in told]
    raised = [10.0 ** (one[PRINTED] - one[CORRECTED]) for _, one in told]
    words = (
        f"A δ no larger than the printed one is certified at {true} of {len(told)} points, {min(less):.3g} to"
        f" {max(less):.3g} times smaller; attacks disprove {disproved}. The printed δ is up to {max(raised):.3g} times"
        " that of the steps that can be run."
    )
    ordered = [
        [one[PRINTED] for cell, one in told if cell.place["epsilon"] == epsilon]
        for epsilon in dict.fromkeys(cell.place["epsilon"] for cell, _ in told)
    ]
    falling = sum(all(later < earlier for earlier, later in pairwise(line)) for line in ordered)
    return (
        Tally(
            holds=true,
            fails=disproved,
            of=len(told),
            universal=True,
            noun=("point", "points"),
            open_where="neither a certificate nor an attack decides",
        ).finding("The curves of the figure are private: each δ holds at the ε under it.", words),
        Tally(holds=falling, fails=len(ordered) - falling, of=len(ordered), noun=("value of ε", "values of ε")).finding(
            "In the figure δ is the smaller, the more users take part in a round.",
            f"At {falling} of {len(ordered)} values of ε the printed δ falls from q = {SHARES[0]:g} to"
            f" {SHARES[-1]:g}. The claim is about this figure: at other parameters δ may rise with the batch.",
        ),
    )


PRESET = Preset(
    name="asoodeh-figure-2",
    title="One pass with hidden states: δ over ε, printed, corrected and certified",
    summary="every value of the figure, and an attack on the final model at each"
    f" ({SAMPLES_PER_REPETITION} samples a repetition)",
    source="Asoodeh et al., Figure 2",
    across=Axis(name="epsilon", title="ε of each user against who sees the final model", scale="linear"),
    lines=Axis(name="share", title="users in a round, q"),
    measure="log10_delta",
    stands_in_for="Stands for Figure 2 itself: the figure is of a formula, and nothing is replaced. n = 100 users, one"
    " pass, L = ρ = 1, η = ½, σ = 1.5, and a share q of the users in each round. The printed δ is Theorem 2's as it"
    " stands, with n/m rounds even where that is no whole number; the corrected one has the ⌊n/m⌋ that can be run; the"
    " certified one is the least that any theorem here proves of that run. Beside the paper's, the final model is"
    " attacked at each point. Protected is a user, against who sees only the final model.",
    repetitions=100,
    cells=cells,
    judge=judge,
)
