"""The list of theorems. A new family of theorems is one file here and one line in `FAMILIES`.

The theorems about single mechanisms that have a kind of spec follow from the list of kinds. Families are imported when
they are first requested: `RULES` needs those with rules only, `THEOREMS` all of them.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from threading import RLock
from typing import TYPE_CHECKING, Any, NamedTuple

from epsilond.accountants.kinds import PLACES

if TYPE_CHECKING:
    from epsilond.accountants.rule import Rule
    from epsilond.accountants.theorem import Theorem

    THEOREMS: tuple[Theorem, ...]
    RULES: tuple[Rule, ...]


class TheoremFamily(NamedTuple):
    """A module with a list of theorems, `THEOREMS`.

    The module may also have a list `RULES` of those theorems that give the guarantee of a kind of mechanism.

    Attributes:
        name: name of the module within its package, with dots.
        rules: whether the module has `RULES`.
        package: name of the package; by default the package of theorems.
    """

    name: str
    rules: bool = False
    package: str = __name__

    @property
    def module(self) -> Any:
        """The module, imported on first use."""
        return import_module(f"{self.package}.{self.name}")


_KINDS = tuple(TheoremFamily(place, rules=True, package="epsilond.accountants.kinds") for place in PLACES.values())
"""Families of single mechanisms, one for each kind."""
_BEFORE_ESCAPE = 3
"""Number of kinds that are listed before the theorems on outputs that escape. The next kind has such outputs."""

_OF_LEDGERS = "epsilond.ledgers.mathematics.theorems"
"""Package of the theorems on ledgers, imported by name only: no bound of an account needs them."""

FAMILIES = (
    *_KINDS[:_BEFORE_ESCAPE],
    TheoremFamily("conversions.escape"),
    *_KINDS[_BEFORE_ESCAPE:],
    TheoremFamily("sampling.subsampling", rules=True),
    TheoremFamily("sampling.with_replacement", rules=True),
    TheoremFamily("sampling.unseen_multiplicities"),
    TheoremFamily("sampling.zeroed_batches"),
    TheoremFamily("sampling.poisson_comonotone", rules=True),
    TheoremFamily("sampling.poisson_replacement", rules=True),
    TheoremFamily("shuffling.batches", rules=True),
    TheoremFamily("sampling.two_level", rules=True),
    TheoremFamily("sampling.thinning", rules=True),
    TheoremFamily("sampling.mixtures.client_records", rules=True),
    TheoremFamily("sampling.truncated.batches", rules=True),
    TheoremFamily("sampling.random_allocation", rules=True),
    TheoremFamily("sampling.allocated_replacements", rules=True),
    TheoremFamily("sampling.allocated_mechanisms", rules=True),
    TheoremFamily("sampling.shuffled_epochs", rules=True),
    TheoremFamily("shuffling.reports", rules=True),
    TheoremFamily("composition.rounds", rules=True),
    TheoremFamily("selection.select_best", rules=True),
    TheoremFamily("composition.one_large_step"),
    TheoremFamily("composition.optimal"),
    TheoremFamily("conversions.renyi"),
    TheoremFamily("conversions.renyi_region"),
    TheoremFamily("mechanisms.gaussian_calibration"),
    TheoremFamily("mechanisms.adaptive_clipping"),
    TheoremFamily("composition.classical"),
    TheoremFamily("conversions.groups"),
    TheoremFamily("conversions.attackers"),
    TheoremFamily("risk.lowy_razaviyayn.smooth_losses"),
    TheoremFamily("risk.lowy_razaviyayn.nonsmooth_losses"),
    TheoremFamily("risk.lowy_razaviyayn.one_pass"),
    TheoremFamily("risk.lowy_razaviyayn.accelerated_reused"),
    TheoremFamily("risk.lowy_razaviyayn.accelerated_stages"),
    TheoremFamily("risk.lowy_razaviyayn.accelerated_bound"),
    TheoremFamily("papers.lowy_razaviyayn.noise"),
    TheoremFamily("papers.lowy_razaviyayn.participation"),
    TheoremFamily("risk.lowy_razaviyayn.compressed_messages"),
    TheoremFamily("risk.lowy_razaviyayn.explicit_bound"),
    TheoremFamily("risk.lowy_razaviyayn.unequal_clients"),
    TheoremFamily("risk.lowy_razaviyayn.accelerated_unequal"),
    TheoremFamily("risk.lowy_razaviyayn.lemmas.stability"),
    TheoremFamily("risk.lowy_razaviyayn.lemmas.gradient_variance"),
    TheoremFamily("risk.lowy_razaviyayn.lemmas.descent_lemmas"),
    TheoremFamily("risk.lowy_razaviyayn.lemmas.noisy_descent"),
    TheoremFamily("risk.lowy_razaviyayn.lemmas.stationary_minimum"),
    TheoremFamily("risk.lowy_razaviyayn.envelope"),
    TheoremFamily("papers.lowy_razaviyayn.shuffled_rounds"),
    TheoremFamily("papers.lowy_razaviyayn.shuffled_lemmas"),
    TheoremFamily("papers.lowy_razaviyayn.binary_response"),
    TheoremFamily("papers.lowy_razaviyayn.shuffled_mb_sgd"),
    TheoremFamily("papers.lowy_razaviyayn.shuffled_noise"),
    TheoremFamily("risk.lowy_razaviyayn.lower_bounds.statements"),
    TheoremFamily("risk.lowy_razaviyayn.lower_bounds.rates"),
    TheoremFamily("papers.lowy_razaviyayn.transformations"),
    TheoremFamily("papers.lowy_razaviyayn.experiments"),
    TheoremFamily("composition.least_of"),
    TheoremFamily("hidden_states.contraction"),
    TheoremFamily("hidden_states.projected_contraction"),
    TheoremFamily("papers.asoodeh.divergence"),
    TheoremFamily("papers.asoodeh.kernels"),
    TheoremFamily("papers.asoodeh.one_pass"),
    TheoremFamily("papers.asoodeh.inverse_time_steps"),
    TheoremFamily("papers.asoodeh.one_step"),
    TheoremFamily("risk.asoodeh.one_pass"),
    TheoremFamily("risk.asoodeh.convex_losses"),
    TheoremFamily("risk.asoodeh.convex_bound"),
    TheoremFamily("risk.asoodeh.scheduled_bound"),
    TheoremFamily("hidden_states.shifted_interpolation"),
    TheoremFamily("hidden_states.shifted_interpolation_printed"),
    TheoremFamily("hidden_states.shifted_interpolation_sampled"),
    TheoremFamily("hidden_states.projected_sgd", rules=True),
    TheoremFamily("hidden_states.shift_then_contract"),
    TheoremFamily("papers.bietti.noise"),
    TheoremFamily("papers.bietti.billboard"),
    TheoremFamily("risk.bietti.full_participation"),
    TheoremFamily("risk.bietti.privacy_cost"),
    TheoremFamily("risk.bietti.personalization"),
    TheoremFamily("papers.bietti.sampled_noise"),
    TheoremFamily("risk.bietti.sampled_participation"),
    TheoremFamily("risk.bietti.sampled_privacy_cost"),
    TheoremFamily("risk.bietti.parts_of_the_bound"),
    TheoremFamily("risk.bietti.gradient_distances"),
    TheoremFamily("risk.bietti.experiments"),
    TheoremFamily("papers.reshef_levy.conversions"),
    TheoremFamily("papers.reshef_levy.divergences"),
    TheoremFamily("papers.reshef_levy.weighted_differences"),
    TheoremFamily("papers.reshef_levy.gap_differences"),
    TheoremFamily("papers.reshef_levy.noise_cancellation"),
    TheoremFamily("risk.reshef_levy.variance"),
    TheoremFamily("risk.reshef_levy.untrusted_server"),
    TheoremFamily("risk.reshef_levy.certified_bound"),
    TheoremFamily("risk.reshef_levy.trusted_server"),
    TheoremFamily("risk.reshef_levy.anytime_steps"),
    TheoremFamily("risk.reshef_levy.martingale_differences"),
    TheoremFamily("risk.reshef_levy.softmax"),
    TheoremFamily("papers.das.truncated_noise"),
    TheoremFamily("papers.das.composed_rounds"),
    TheoremFamily("papers.das.small_movement"),
    TheoremFamily("papers.das.noise_law"),
    TheoremFamily("papers.das.sensitivity"),
    TheoremFamily("papers.das.clipped_updates"),
    TheoremFamily("papers.das.quantiser"),
    TheoremFamily("papers.das.levels_at_rate"),
    TheoremFamily("papers.das.update_movement"),
    TheoremFamily("risk.das.convergence"),
    TheoremFamily("risk.das.local_steps"),
    TheoremFamily("risk.das.rates"),
    TheoremFamily("risk.das.compression"),
    TheoremFamily("mechanisms.binomial"),
    TheoremFamily("mechanisms.truncated_laplace"),
    TheoremFamily("moves", package=_OF_LEDGERS),
    TheoremFamily("slots", package=_OF_LEDGERS),
    TheoremFamily("residue", package=_OF_LEDGERS),
    TheoremFamily("blocks", package=_OF_LEDGERS),
    TheoremFamily("natural_filter", package=_OF_LEDGERS),
    TheoremFamily("any_order_filter", package=_OF_LEDGERS),
    TheoremFamily("adaptive_stop", package=_OF_LEDGERS),
    TheoremFamily("risk.start"),
    TheoremFamily("risk.averaged_steps"),
    TheoremFamily("risk.mean_error"),
)
"""All families, in the order in which theorems are listed and rules for one kind of spec are tried."""


@cache
def _theorems() -> tuple[Theorem, ...]:
    """Return the theorems of all families."""
    return tuple(theorem for family in FAMILIES for theorem in family.module.THEOREMS)


@cache
def _rules() -> tuple[Rule, ...]:
    """Return the rules of the families that have rules."""
    return tuple(rule for family in FAMILIES if family.rules for rule in family.module.RULES)


_list_lock = RLock()
"""Lock that is held while the lists are built, so that concurrent first readers get the same objects."""


def __getattr__(name: str) -> object:
    """Return `THEOREMS` or `RULES`, which are gathered when they are first read."""
    if name in ("THEOREMS", "RULES"):
        with _list_lock:
            return _theorems() if name == "THEOREMS" else _rules()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
