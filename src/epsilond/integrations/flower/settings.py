"""Settings of DP-FedAvg: their ranges, and the mechanism of one round."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, TypeAlias, get_args

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.quantities import Relation
from epsilond.accountants.specs import Gaussian, Spec, Subsampled
from epsilond.integrations.target import TargetBudget
from epsilond.mechanisms.clipping import LEAST_BOUND, MOST_BOUND

if TYPE_CHECKING:
    from epsilond.integrations.budget import LedgerBudget

Cohort: TypeAlias = Literal["full", "poisson", "without-replacement", "strategy"]
OBSERVERS: Final = ("released-models", "final-model")
"""Adversaries that noise added by the server can protect against."""


def require_settings(clipping_norm: float, participants: int, cohort: str, population: int | None) -> None:
    """Check the ranges of the settings of DP-FedAvg.

    Args:
        clipping_norm: bound on the ℓ2 norm of one update.
        participants: number by which the noisy sum is divided, at least 1.
        cohort: how the clients of a round, the cohort, are chosen; one of `Cohort`.
        population: number of all clients for `poisson` and `without-replacement`, and otherwise None.

    Raises:
        InvalidInput: the first setting that is out of range.
    """
    if cohort not in get_args(Cohort):
        raise InvalidInput.at("/cohort", "is unknown", allowed=", ".join(get_args(Cohort)))
    if not LEAST_BOUND <= clipping_norm <= MOST_BOUND:
        raise InvalidInput.at("/clipping_norm", "is out of range", allowed="≥ 2^-256 and ≤ 2^256")
    if participants < 1:
        raise InvalidInput.at("/participants", "is out of range", allowed="≥ 1")
    is_subsampled = cohort in {"poisson", "without-replacement"}
    if is_subsampled and (population is None or population < participants):
        raise InvalidInput.at("/population", f"is needed for {cohort}", allowed="≥ participants")
    if not is_subsampled and population is not None:
        raise InvalidInput.at("/population", f"has no part in {cohort}")


def round_mechanism(noise_multiplier: float, participants: int, cohort: Cohort, population: int | None) -> Spec:
    """Return the spec of one round: the Gaussian mechanism, subsampled if the clients are a random draw.

    Args:
        noise_multiplier: standard deviation of the noise of the sum, divided by the clipping norm.
        participants: number of clients of a round; the expected number for `poisson`.
        cohort: how the clients of a round are chosen; one of `Cohort`.
        population: number of all clients for `poisson` and `without-replacement`, and otherwise None.

    Returns:
        The description of one round for privacy accounting.
    """
    mechanism = Gaussian(noise_multiplier=noise_multiplier)
    # Without a random draw of some of the clients, there is no amplification.
    if population is None or population == participants:
        return mechanism
    if cohort == "poisson":
        return Subsampled(sampling="poisson", rate=participants / population, mechanism=mechanism)
    return Subsampled(
        sampling="without-replacement", batch_size=participants, population=population, mechanism=mechanism
    )


def relation_of(budget: LedgerBudget | TargetBudget, cohort: Cohort) -> Relation:
    """Check that a budget can pay for rounds of DP-FedAvg, and return its neighbouring relation.

    Args:
        budget: budget of a ledger, or of this run.
        cohort: how the clients of a round are chosen; one of `Cohort`.

    Returns:
        The relation: the change of one client by which two neighbouring data sets differ.

    Raises:
        InvalidInput: the budget protects another unit than clients, or it is against an observer (adversary) that the
            server's noise does not protect against, or its relation is add-or-remove-one while the inner strategy draws
            the clients.
    """
    if budget.unit != "client":
        raise InvalidInput.at("/budget", "protects another unit", allowed="client")
    if budget.observer not in OBSERVERS:
        raise InvalidInput.at("/budget", "is against another observer", allowed=", ".join(OBSERVERS))
    if cohort == "strategy" and budget.relation == "add-or-remove-one":
        message = "a strategy that draws a fixed number puts another client in the place of one that is gone"
        raise InvalidInput.at("/budget", message, allowed="relation zero-out-one or replace-one")
    return budget.relation


def target_delta(budget: LedgerBudget | TargetBudget) -> float:
    """Return the δ of the target (ε, δ) of a budget.

    A budget of a ledger has the target of its ledger, which may state only the decimal logarithm of δ.

    Args:
        budget: budget of a run with its target, or budget of a ledger.

    Returns:
        δ; 0 if its logarithm is below the range of double precision.
    """
    if isinstance(budget, TargetBudget):
        return budget.delta
    target = budget.ledger.told["target"]
    if "delta" in target:
        return float(target["delta"])
    return float(10.0 ** target["log10_delta"])
