"""Cautions for a caller of mb-sgd to read before relying on the answer."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from epsilond.calibrators.answer import Caution
from epsilond.calibrators.cautions import absence_cautions, noise_cautions, printed_cautions

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from epsilond.calibrators.answer import PrintedReading
    from epsilond.calibrators.mb_sgd.problem import MiniBatchProblem
    from epsilond.calibrators.search import Certified


def cautions_of(
    problem: MiniBatchProblem,
    certified: Sequence[Certified],
    noise_stds: Sequence[float],
    printed: Sequence[PrintedReading],
) -> tuple[Caution, ...]:
    """Return every caution of mini-batch SGD that applies, in a fixed order.

    Args:
        problem: the request, with the clients, their sampling of batches and the privacy target.
        certified: the certified noise of each group.
        noise_stds: the certified σ of each group.
        printed: the evaluated interpretations of the paper's theorems.

    Returns:
        The warnings, each with a code and a message.
    """
    cautions = itertools.chain(
        _group_cautions(problem, noise_stds),
        noise_cautions(certified),
        printed_cautions(printed, noise_stds),
        _sampling_cautions(problem),
        _assumption_cautions(problem),
        _unused_field_cautions(problem),
    )
    return tuple(cautions)


def _unused_field_cautions(problem: MiniBatchProblem) -> Iterator[Caution]:
    """Warn if the tolerance `within` differs from its default, although the request leaves no choice of a run."""
    default_within = type(problem).within
    run_is_fixed = problem.rounds is not None and (problem.batch_size is not None or problem.sampling == "full")
    if run_is_fixed and problem.within != default_within:
        yield Caution(
            code="field-not-used",
            message="the field within has no effect, as the request fixes the rounds and the batch size",
        )


def _group_cautions(problem: MiniBatchProblem, noise_stds: Sequence[float]) -> Iterator[Caution]:
    """Warn if groups of clients differ in their noise, or if one has a privacy target of its own.

    A single value in the answer would otherwise seem to hold for all clients.

    Args:
        problem: the request, with its groups of clients, if there are any.
        noise_stds: the certified standard deviation σ of each group's noise.

    Yields:
        At most two warnings. Both say where the answer has the values of each group.
    """
    groups = problem.client_groups or ()
    if len(set(noise_stds)) > 1:
        yield Caution(
            code="noise-per-group",
            message="groups of clients run with different noise, so no single figure applies to all clients. The "
            "field parameters.groups has noise_std, noise_multiplier and sensitivity of each group",
        )
    if any(group.has_target for group in groups):
        yield Caution(
            code="guarantee-per-group",
            message="groups of clients have different targets. The guarantee shown holds for all clients, at the "
            "largest ε and δ of any group. The field parameters.groups has the guarantee of each group",
        )


def _sampling_cautions(problem: MiniBatchProblem) -> Iterator[Caution]:
    """Warn if the paper's theorem is for another sampling, neighbouring relation or observer than the request.

    The noise is certified for the requested sampling and relation. The certificate is against an observer of every
    message, so it holds against any other observer too.

    Args:
        problem: the request, with its sampling of batches, relation, protected unit and observer.

    Yields:
        Up to three warnings, one for each difference.
    """
    if problem.sampling == "with-replacement":
        yield Caution(
            code="printed-proof-invalid",
            message="the proof of the printed theorem bounds the sensitivity by 2L/K, for the Lipschitz constant L and "
            "K records in a batch. This is false for a record that is drawn twice into a batch (erratum E-02). The "
            "certified figures account for every number of times that a record is drawn",
        )
    if problem.relation != "replace-one" and problem.unit == "record":
        yield Caution(
            code="printed-truth-is-for-replace-one",
            message="the printed theorem and the true figures given with it are for the relation replace-one, not for "
            f"{problem.relation}",
        )
    if problem.observer != "server":
        yield Caution(
            code="observer-sees-less",
            message="the figures hold against the server, who sees every message. The requested observer sees a "
            "function of these messages. The figures hold against this observer too, and may be pessimistic",
        )


def _assumption_cautions(problem: MiniBatchProblem) -> Iterator[Caution]:
    """Warn of values assumed for absent fields, and of assumptions and limits of the risk bound.

    Args:
        problem: the request; its absent fields are None.

    Yields:
        One warning for each assumed value and each assumption.
    """
    # Values that are assumed for absent fields.
    yield from absence_cautions(problem, "initial_distance")
    if not problem.identically_distributed:
        yield from absence_cautions(problem, "heterogeneity")

    # Limits and assumptions of the bound on the risk.
    if problem.sampling not in ("without-replacement", "full"):
        yield Caution(
            code="no-risk-for-this-sampling",
            message="the bound on the excess risk is proved for batches drawn without replacement, not for the "
            "requested sampling. The noise is certified for the requested sampling",
        )
    if problem.smoothness is None and problem.sampling in ("without-replacement", "full"):
        yield Caution(
            code="assumed-exact-proximal-steps",
            message="no smoothness was given, so clients send gradients of the Moreau envelope of every record's loss. "
            "The risk bound assumes exact proximal points. The guarantee needs only a bound on the norm of gradients",
        )
