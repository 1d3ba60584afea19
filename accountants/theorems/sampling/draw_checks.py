"""Checks of a subsampled mechanism: whether an amplification theorem covers its draw, and what runs on the batch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from epsilond.accountants.rule import Case, Refusal
from epsilond.accountants.specs import Subsampled
from epsilond.accountants.structure import (
    drawn_level,
    left_out_is_the_same,
    of_records,
    parts,
    sees_clients_drawn,
    tells_places,
    zeroing_is_replacing,
)
from epsilond.accountants.structure.batch_mechanisms import misfit
from epsilond.accountants.structure.random_draws import draw_scheme

if TYPE_CHECKING:
    from epsilond.accountants.guarantee import Setting
    from epsilond.accountants.specs import Spec
    from epsilond.accountants.theorem import Theorem


def reject_other_draw(sampling: str, theorem: Theorem, spec: Subsampled, case: Case) -> Refusal | None:
    """Check whether a batch satisfies the assumptions of an amplification theorem.

    A refusal is an object that says why a theorem does not apply. Rejected are other kinds of sampling, draws of other
    units than the protected one, and draws that the observer sees. Also rejected is all that `reject_uncovered_spec`
    rejects.

    Args:
        sampling: the kind of sampling that the theorem is about.
        theorem: the theorem, which the refusal names.
        spec: the subsampled mechanism.
        case: the requested neighbouring relation, protected unit and observer, and the limit on the work.

    Returns:
        The first reason for a refusal; None if the batch satisfies the assumptions.
    """
    # Check the kind of sampling, then the units that are drawn, then what the observer sees.
    if spec.sampling != sampling:
        return Refusal(theorem, f"the batch is drawn by {spec.sampling} sampling")
    unit = case.setting.unit
    drawn_units = drawn_level(spec, unit)
    if drawn_units != f"{unit}s":
        return Refusal(theorem, f"{drawn_units} are drawn where a {unit} is protected")
    if spec.largest_batch is not None:
        return Refusal(theorem, "a batch that is truncated leaves records out because of others")
    if observes_draw(spec, case.setting):
        return Refusal(theorem, f"the observer {case.setting.observer} sees which clients are drawn")
    return reject_uncovered_spec(theorem, spec, case)


def reject_uncovered_spec(theorem: Theorem, spec: Subsampled, case: Case) -> Refusal | None:
    """Check whether a mechanism can run on a batch, and samples again only in an unambiguous way.

    The mechanism's own sampling is ambiguous if the spec does not say whether it draws clients or records, and no bound
    covers both cases (`reject_open_level`).

    Args:
        theorem: the theorem that the refusal names.
        spec: the subsampled mechanism.
        case: the requested neighbouring relation, protected unit and observer, and the limit on the work.

    Returns:
        A refusal, which says why the theorem does not apply; None if the mechanism is covered.
    """
    if reason := misfit(spec, drawn_level(spec, case.setting.unit)):
        return Refusal(theorem, reason)
    return reject_open_level(theorem, spec, case)


def reject_open_level(theorem: Theorem, spec: Subsampled, case: Case) -> Refusal | None:
    """Check whether it matters if an inner sampling draws clients or records, where the specification does not say it.

    Guarantees for clients hold unchanged if the mechanism draws records. They also hold if it draws clients, with two
    exceptions. The draw may put a different client in place of an absent one, or count a client several times.

    Args:
        theorem: the theorem that the refusal names.
        spec: the subsampled mechanism.
        case: the requested neighbouring relation, protected unit and observer, and the limit on the work.

    Returns:
        A refusal if it matters and is open. None otherwise, and if records are protected.
    """
    if case.setting.unit != "client" or spec.level == "records":
        return None
    inner_samplings = [part for part in parts(spec.mechanism) if isinstance(part, Subsampled)]
    for inner in inner_samplings:
        is_open = inner.level is None and inner.may_be_of_records
        if is_open and not left_out_is_the_same(inner.sampling, case.setting.relation):
            message = f"the level of {inner.sampling} sampling inside is left open: give the level records or clients"
            return Refusal(theorem, message)
    return None


def observes_draw(spec: Subsampled, setting: Setting) -> bool:
    """Return whether the observer sees which units are drawn.

    No observer sees the records that a client draws, so it is true only for draws of clients.

    Args:
        spec: the subsampled mechanism.
        setting: the requested neighbouring relation, protected unit and observer.

    Returns:
        True if the spec draws clients, and the observer sees the drawn ones.
    """
    draws_clients = drawn_level(spec, setting.unit) == "clients"
    return draws_clients and sees_clients_drawn(setting.observer, draw_scheme(spec))


def drawn_mechanism(spec: Subsampled, setting: Setting) -> Spec:
    """Return the mechanism that runs on the batch, after deciding whether its own sampling draws clients or records.

    If the batch is one of records, or if clients are protected, the mechanism itself samples records. If a record is
    protected and the batch is one of clients, the mechanism may sample either, and is returned unchanged.

    Args:
        spec: the subsampled mechanism.
        setting: the requested neighbouring relation, protected unit and observer.

    Returns:
        The specification of the mechanism, in which samplings without a stated level are of records where this is
        decided.
    """
    draws_clients_of_records = setting.unit == "record" and drawn_level(spec, "record") == "clients"
    if draws_clients_of_records:
        return spec.mechanism
    return of_records(spec.mechanism)


def reject_unknown_replacement(theorem: Theorem, spec: Subsampled, case: Case) -> Refusal | None:
    """Check whether a replace-one guarantee covers a batch of fixed size.

    Rejected are add-or-remove-one, zero-out-one for mechanisms with a guarantee for zeroing only, and mechanisms that
    reveal the members of the batch or their order.

    Args:
        theorem: the theorem that the refusal names.
        spec: the subsampled mechanism.
        case: the requested neighbouring relation, protected unit and observer, and the limit on the work.

    Returns:
        A refusal, which says why the theorem does not apply; None if such a guarantee covers the batch.
    """
    # Each relation or mechanism that the theorem does not cover has its own reason.
    if case.setting.relation == "add-or-remove-one":
        return Refusal(
            theorem,
            "a batch of fixed size from n or n − 1 records: no valid pair is known for mechanisms in general. Gaussian "
            "noise has one for clients of one record: unit client, level records and records_of_one_client 1",
        )
    if case.setting.relation == "zero-out-one" and not zeroing_is_replacing(spec.mechanism):
        return Refusal(theorem, "needs a guarantee for replacing a record, and the numbers given are for zeroing one")
    if tells_places(spec.mechanism):
        return Refusal(theorem, "the output shows the members of the batch, or their places in it")
    return None
