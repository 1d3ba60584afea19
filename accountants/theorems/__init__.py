"""The list of theorems. A new family of theorems is one file here and one line in `FAMILIES`.

Families are imported when they are first asked for: `RULES` needs those with rules only, `THEOREMS` all of them.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from epsilond.accountants.theorem import Rule, Theorem

    THEOREMS: tuple[Theorem, ...]
    RULES: tuple[Rule, ...]


class Family(NamedTuple):
    """A file of this folder that holds `THEOREMS`, and `RULES` if some of them are rules for specs."""

    name: str
    rules: bool = False

    @property
    def module(self) -> Any:
        """The file, imported."""
        return import_module(f"{__name__}.{self.name}")


FAMILIES = (
    Family("mechanisms.gaussian", rules=True),
    Family("mechanisms.laplace", rules=True),
    Family("mechanisms.discrete_laplace", rules=True),
    Family("conversions.escape"),
    Family("mechanisms.truncated_discrete_laplace", rules=True),
    Family("mechanisms.randomized_response", rules=True),
    Family("mechanisms.approximate", rules=True),
    Family("sampling.subsampling", rules=True),
    Family("sampling.with_replacement", rules=True),
    Family("sampling.poisson_comonotone", rules=True),
    Family("sampling.poisson_replacement", rules=True),
    Family("shuffling.batches", rules=True),
    Family("sampling.two_level", rules=True),
    Family("sampling.thinning", rules=True),
    Family("shuffling.reports", rules=True),
    Family("composition.rounds", rules=True),
    Family("composition.one_large_step"),
    Family("composition.optimal"),
    Family("conversions.renyi"),
    Family("mechanisms.gaussian_calibration"),
    Family("mechanisms.adaptive_clipping"),
    Family("composition.classical"),
    Family("conversions.groups"),
    Family("risk.lowy_razaviyayn.smooth_losses"),
    Family("risk.lowy_razaviyayn.nonsmooth_losses"),
    Family("risk.lowy_razaviyayn.one_pass"),
    Family("risk.lowy_razaviyayn.accelerated_smooth"),
    Family("risk.lowy_razaviyayn.accelerated_nonsmooth"),
    Family("risk.lowy_razaviyayn.accelerated_stages"),
    Family("risk.lowy_razaviyayn.accelerated_weights"),
    Family("risk.lowy_razaviyayn.accelerated_bound"),
    Family("papers.lowy_razaviyayn.noise"),
    Family("papers.lowy_razaviyayn.participation"),
    Family("risk.lowy_razaviyayn.compressed_messages"),
    Family("risk.lowy_razaviyayn.explicit_bound"),
    Family("risk.lowy_razaviyayn.unequal_clients"),
    Family("risk.lowy_razaviyayn.accelerated_unequal"),
    Family("risk.lowy_razaviyayn.stability"),
    Family("risk.lowy_razaviyayn.gradient_variance"),
    Family("risk.lowy_razaviyayn.descent_lemmas"),
    Family("risk.lowy_razaviyayn.noisy_descent"),
    Family("risk.lowy_razaviyayn.envelope"),
    Family("papers.lowy_razaviyayn.shuffled_rounds"),
    Family("papers.lowy_razaviyayn.shuffled_lemmas"),
    Family("papers.lowy_razaviyayn.shuffled_mb_sgd"),
    Family("papers.lowy_razaviyayn.shuffled_noise"),
    Family("risk.lowy_razaviyayn.lower_bounds"),
    Family("risk.lowy_razaviyayn.rates"),
    Family("papers.lowy_razaviyayn.transformations"),
    Family("papers.lowy_razaviyayn.experiments"),
    Family("composition.least_of"),
    Family("hidden_states.contraction"),
    Family("hidden_states.projected_contraction"),
    Family("papers.asoodeh.divergence"),
    Family("papers.asoodeh.one_pass"),
    Family("papers.asoodeh.inverse_time_steps"),
    Family("risk.asoodeh.one_pass"),
    Family("risk.asoodeh.convex_losses"),
    Family("risk.asoodeh.convex_bound"),
    Family("hidden_states.shifted_interpolation"),
    Family("hidden_states.shifted_interpolation_printed"),
    Family("hidden_states.shifted_interpolation_sampled"),
    Family("hidden_states.projected_sgd", rules=True),
    Family("hidden_states.shift_then_contract"),
    Family("papers.bietti.noise"),
    Family("papers.bietti.billboard"),
    Family("risk.bietti.full_participation"),
    Family("risk.bietti.privacy_cost"),
    Family("risk.bietti.personalization"),
    Family("papers.bietti.sampled_noise"),
    Family("risk.bietti.sampled_participation"),
    Family("risk.bietti.sampled_privacy_cost"),
    Family("risk.bietti.parts_of_the_bound"),
    Family("risk.bietti.experiments"),
    Family("papers.reshef_levy.conversions"),
    Family("papers.reshef_levy.divergences"),
    Family("papers.reshef_levy.weighted_differences"),
    Family("papers.reshef_levy.gap_differences"),
    Family("papers.reshef_levy.noise_cancellation"),
    Family("risk.reshef_levy.variance"),
    Family("risk.reshef_levy.untrusted_server"),
    Family("risk.reshef_levy.certified_bound"),
    Family("risk.reshef_levy.trusted_server"),
    Family("risk.reshef_levy.anytime_steps"),
    Family("risk.reshef_levy.softmax"),
    Family("papers.das.truncated_noise"),
    Family("papers.das.composed_rounds"),
    Family("papers.das.small_movement"),
    Family("papers.das.noise_law"),
    Family("papers.das.sensitivity"),
    Family("papers.das.clipped_updates"),
    Family("papers.das.quantiser"),
    Family("papers.das.levels_at_rate"),
    Family("papers.das.update_movement"),
    Family("risk.das.convergence"),
    Family("risk.das.local_steps"),
    Family("risk.das.compression"),
    Family("mechanisms.binomial"),
    Family("mechanisms.truncated_laplace"),
    Family("ledger.moves"),
    Family("ledger.slots"),
    Family("ledger.residue"),
    Family("ledger.blocks"),
    Family("ledger.natural_filter"),
    Family("ledger.any_order_filter"),
    Family("ledger.adaptive_stop"),
    Family("risk.start"),
    Family("risk.averaged_steps"),
)
"""In the order in which theorems are listed, and rules for the same kind of spec are tried."""


@cache
def _theorems() -> tuple[Theorem, ...]:
    return tuple(theorem for family in FAMILIES for theorem in family.module.THEOREMS)


@cache
def _rules() -> tuple[Rule, ...]:
    return tuple(rule for family in FAMILIES if family.rules for rule in family.module.RULES)


def __getattr__(name: str) -> Any:
    """`THEOREMS` and `RULES`, gathered when they are first asked for."""
    if name == "THEOREMS":
        return _theorems()
    if name == "RULES":
        return _rules()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
