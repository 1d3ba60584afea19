"""Slots: parts of a state that promise a budget of one kind, independently of the mechanisms that it is spent on."""

from __future__ import annotations

from epsilond.accountants.theorem import Condition, Source, Status, Theorem
from epsilond.ledgers.mathematics.theorems.moves import FIXED_BEFORE, ONE_DIRECTION, ONLY_RELEASES

BOTH_ORDERS = Condition(
    "both-orders", "the charge of a mechanism bounds its divergence in both orders of the neighbours"
)
ORDERS_FIXED = Condition("orders-fixed", "orders, weights and budgets are fixed before the first output")
NOT_INTERLEAVED = Condition(
    "one-at-a-time", "two interactive jobs of the slot that are not both a product of steps do not overlap"
)
_CONDITIONS = (FIXED_BEFORE, ONE_DIRECTION, ONLY_RELEASES)

GAUSSIAN_SLOT = Theorem(
    id="epsilond.ledger-gaussian-slot",
    title="The Gaussian slot",
    statement="From a slot G_b a mechanism with profile ≤ G_μ, μ ≤ b, leaves G_√(b² − μ²); Gaussians lose nothing",
    source=Source("smith2022fully", "fully adaptive composition; proof: docs/ledger.md, Slots"),
    status=Status.PROVED,
    conditions=_CONDITIONS,
)
CONCENTRATED_SLOT = Theorem(
    id="epsilond.ledger-concentrated-slot",
    title="The slot of concentrated privacy",
    statement=(
        "From a slot (ρ, δ) a mechanism that is δ_m-approximately ρ_m-zero-concentrated private leaves "
        "(ρ − ρ_m, δ − δ_m). The slot's profile at δ = 0 is the largest symmetric one below "
        "inf_α C(α) e^{(α−1)(αρ−ε)}"
    ),
    source=Source(
        "whitehouse2023fully", "Theorem 1, by the number under which OpenDP's proofs cite it; docs/ledger.md"
    ),
    status=Status.PROVED,
    conditions=(*_CONDITIONS, BOTH_ORDERS, NOT_INTERLEAVED),
)
RENYI_SLOT = Theorem(
    id="epsilond.ledger-renyi-slot",
    title="The slot of Rényi privacy, at one order or a mixture of orders",
    statement=(
        "With c_α ≥ 0 the slot's profile is the largest below Σ_α c_α γ^{−(α−1)}, where there is one; a mechanism with "
        "divergences ε(α) leaves c_α e^{−(α−1)ε(α)}. With weights w_α that sum to one, c_α = δ w_α e^{(α−1)ε} gives "
        "(ε, δ), and the slot is open while 1 − γ ≤ Σ_α c_α γ^{−(α−1)} for every γ"
    ),
    source=Source("feldman2021filter", "Theorem 4.3 for one order; docs/ledger.md, Slots, for several"),
    status=Status.PROVED,
    conditions=(*_CONDITIONS, BOTH_ORDERS, ORDERS_FIXED),
)
PURE_SLOT = Theorem(
    id="epsilond.ledger-pure-slot",
    title="The slot of pure and approximate privacy",
    statement=(
        "From a slot (ε, δ) an (ε_m, δ_m)-private mechanism leaves (ε − ε_m, δ − δ_m). The slot's profile is that of a "
        "randomized response of ε that tells all with probability δ"
    ),
    source=Source("epsilond", "docs/ledger.md, Slots"),
    status=Status.PROVED,
    conditions=_CONDITIONS,
)
COMPARTMENTS = Theorem(
    id="epsilond.ledger-compartments",
    title="Compartments that are opened together",
    statement=(
        "Let the parts s_c of a state be fixed at opening, with (⊗_c s_c)(e^ε*) + Σ_c η_c ≤ δ* in both orders. Let "
        "every move be one of a single part, with at most η_c in all. Then the interaction is (ε*, δ*)-private. A "
        "part may be made smaller at any time, and never larger"
    ),
    source=Source("epsilond", "docs/ledger.md, Compartments"),
    status=Status.PROVED,
    conditions=(*_CONDITIONS, Condition("opened-together", "no part is opened or enlarged after the first output")),
)

THEOREMS: tuple[Theorem, ...] = (GAUSSIAN_SLOT, CONCENTRATED_SLOT, RENYI_SLOT, PURE_SLOT, COMPARTMENTS)
