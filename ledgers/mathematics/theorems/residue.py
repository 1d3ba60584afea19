"""Cost of a mechanism in a Gaussian slot: the residue rule, evaluated for rounds of the sampled Gaussian."""

from __future__ import annotations

from typing import Annotated

from epsilond.accountants.account import account
from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.formula import formula
from epsilond.accountants.quantities import RELATION, Quantity, Relation
from epsilond.accountants.specs import Gaussian, Subsampled
from epsilond.accountants.theorem import Condition, Erratum, Grade, Outputs, Source, Status, Theorem
from epsilond.ledgers.mathematics.amounts import ZERO, down, float_above, up
from epsilond.ledgers.mathematics.residue import least_cost

_TESTS = "tests/ledgers/mathematics/theorems/test_residue.py"
RATE = Quantity(symbol="q", ge=1e-3, le=1.0, description="probability that a given record or client is in a batch")
NOISE = Quantity(symbol="z", ge=0.3, le=1e3, description="noise over the bound on the norm of one contribution")
ROUNDS = Quantity(symbol="T", ge=1, le=10**5, description="rounds that are charged together")
MU_SQUARED = Quantity(symbol="R", ge=1e-3, le=100.0, description="μ² that the slot still holds, all that is unused")
ETA = Quantity(symbol="η", ge=1e-15, le=1e-2, description="δ that this charge may take in addition to its μ²")


@formula(given="Rounds of the Poisson-sampled Gaussian (rate 1: of the Gaussian), and the remainder of a slot.")
def residue_cost(
    *,
    rate: Annotated[float, RATE],
    noise_multiplier: Annotated[float, NOISE],
    rounds: Annotated[int, ROUNDS],
    relation: Annotated[Relation, RELATION],
    mu_squared: Annotated[float, MU_SQUARED],
    eta: Annotated[float, ETA],
) -> Outputs:
    """Evaluate the charge of rounds of a sampled Gaussian in a Gaussian slot, a budget of μ² for unplanned runs.

    Args:
        rate: probability that a record is in a batch, in (0, 1].
        noise_multiplier: noise over the bound on the norm of one contribution.
        rounds: number of rounds that are charged together.
        relation: relation of the neighbours.
        mu_squared: μ² that is left in the slot.
        eta: δ that the charge may add.

    Returns:
        `mu_squared_cost`, the charge in μ², and `mu_squared_left`, the μ² that is left after it.

    Raises:
        InvalidInput: the rounds do not fit into the slot.
    """
    spec = Subsampled(sampling="poisson", rate=rate, mechanism=Gaussian(noise_multiplier=noise_multiplier))
    pair = account(spec, relation=relation).guarantee.curve.upper
    remaining = down(mu_squared)
    # `least_cost` accepts no η below 1e-18.
    residue = least_cost([(pair, rounds)], remaining=remaining, eta=max(down(eta), up(1e-18)))
    if residue is None:
        raise InvalidInput.at("/mu_squared", "the mechanism does not fit into the slot at any cost")
    left = max(remaining - residue.cost, ZERO)
    return {"mu_squared_cost": float_above(residue.cost), "mu_squared_left": float(left)}


RESIDUE = Theorem(
    id="epsilond.ledger-residue",
    title="The cost of a mechanism in a Gaussian slot",
    statement=(
        "Let a slot hold μ² = R. A mechanism with profile g may be run at the cost c and η if g ⊗ G_√(R−c) ≤ G_√R + "
        "η at every γ ≥ 0, in both orders of the neighbours. A cost that is enough at R is enough at every larger R, "
        "and need not be at a smaller one"
    ),
    source=Source("epsilond", "docs/ledger.md, Residue charges"),
    status=Status.PROVED,
    conditions=(
        Condition(
            "checked-at-start",
            "the charge is checked when the mechanism's first output is drawn, against all that the slot then holds",
        ),
        Condition("charged-whole", "all rounds are charged at once, and none of the charge comes back as μ²"),
    ),
    errata=(
        Erratum(
            "L-5",
            grade=Grade.PROVED_WRONG,
            printed="a charge that was checked when it was reserved may be committed after others",
            truth="the cost rises as the slot empties: δ is then up to 1.19 times that of the slot at ε = 3.6",
            test=f"{_TESTS}::test_a_stale_charge_passes_the_slot",
        ),
        Erratum(
            "L-6",
            grade=Grade.PROVED_WRONG,
            printed="the steps that a stopped job has not run come back as μ²",
            truth="the choice between the two is one after an output: 1.013 times the slot's δ; it stays as a credit",
            test=f"{_TESTS}::test_capacity_refunded_after_half_a_job_passes_the_slot",
        ),
    ),
    formula=residue_cost,
    examples=(
        {
            "rate": 0.01,
            "noise_multiplier": 1.0,
            "rounds": 1000,
            "relation": "add-or-remove-one",
            "mu_squared": 2.2988,
            "eta": 2e-8,
        },
        {
            "rate": 1.0,
            "noise_multiplier": 2.0,
            "rounds": 1,
            "relation": "add-or-remove-one",
            "mu_squared": 1.0,
            "eta": 1e-9,
        },
    ),
)

THEOREMS: tuple[Theorem, ...] = (RESIDUE,)
