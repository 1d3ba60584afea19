"""The ledger's theorem, and the moves that need no slot: plans, credits and exchange.

All are rules between guarantees. Proofs are in docs/ledger.md, under the titles that the sources name.
"""

from __future__ import annotations

from epsilond.accountants.theorem import Condition, Source, Status, Theorem

FIXED_BEFORE = Condition(
    "next-state-before-output",
    "a mechanism, its parameters and the next state are functions of earlier outputs, set before its output is drawn",
)
ONE_DIRECTION = Condition(
    "one-direction", "every profile speaks of the same relation, unit and observer, and of the same order of neighbours"
)
ONLY_RELEASES = Condition(
    "outputs-through-the-runner",
    "all that leaves a run, its failures, times and counts of steps included, is a function of debited outputs",
)
STEPS = Condition(
    "product-of-steps",
    "the job is a composition of steps, each with a dominating pair for any earlier outputs. This excludes "
    "correlated noise, shuffled epochs, and one draw that several steps share",
)

LEDGER = Theorem(
    id="epsilond.ledger",
    title="The ledger theorem",
    statement=(
        "A state is a profile s. A move is a mechanism with profile g and a next state s'. If every move has g ⊗ s' "
        "≤ s + η at every γ ≥ 0, the transcript has a profile of at most s₀ + Ση. Moves and the stop may depend on "
        "outputs. With g ⊗ s' ≤ s + η also g ⊗ s' ⊗ t ≤ s ⊗ t + η: moves of the parts of a product may interleave"
    ),
    source=Source("epsilond", "docs/ledger.md, The ledger theorem"),
    status=Status.PROVED,
    conditions=(FIXED_BEFORE, ONE_DIRECTION, ONLY_RELEASES),
)
PLAN = Theorem(
    id="epsilond.ledger-plan",
    title="A plan may be run in any order, skipped, and stopped early",
    statement=(
        "With the state ⊗_j g_j over the planned runs not yet run, running g_j and dropping it is a move, η = 0. The "
        "order, omitted runs, and the step at which a job stops may depend on outputs, its own too. Steps not run "
        "stay in the state as a credit"
    ),
    source=Source("epsilond", "docs/ledger.md, Plans, credits and exchange"),
    status=Status.PROVED,
    conditions=(FIXED_BEFORE, ONE_DIRECTION, ONLY_RELEASES, STEPS),
)
EXCHANGE = Theorem(
    id="epsilond.ledger-exchange",
    title="Exchange of a credit",
    statement=(
        "A part of a state with profile g may be replaced by one with profile h, if h ≤ g at every γ in both "
        "directions. This holds for rounds of the Poisson-sampled Gaussian, Laplace or Skellam mechanism under one "
        "relation, if rate and number of rounds do not grow and the noise does not shrink. It also holds with any "
        "sampler, for rounds with the same draw and Gaussian or Laplace noise that does not shrink"
    ),
    source=Source("epsilond", "docs/ledger.md, Plans, credits and exchange"),
    status=Status.PROVED,
    conditions=(FIXED_BEFORE, ONE_DIRECTION, STEPS),
)
INDIVISIBLE = Theorem(
    id="vadhan-zhang-2023.1.3",
    title="Interactive jobs may be run at the same time",
    statement=(
        "A composition theorem for mechanisms that answer once extends to interactive ones with interleaved queries, "
        "if privacy is measured by a trade-off function. Each can be simulated from one output of its pair"
    ),
    source=Source("vadhan2023concurrent", "Theorem 1.3, by the number under which OpenDP's proofs cite it"),
    status=Status.PROVED,
    conditions=(
        Condition("static-data", "the data do not change while the jobs run"),
        Condition("fixed-at-start", "a job's profile is fixed when it starts and is not divided; it leaves no credit"),
    ),
)

THEOREMS: tuple[Theorem, ...] = (LEDGER, PLAN, EXCHANGE, INDIVISIBLE)
