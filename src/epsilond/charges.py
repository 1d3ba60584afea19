"""What a ledger, which keeps a privacy budget, charges for a calibrated run: its spec, and its payment."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from epsilond.accountants.errors import Fault, InvalidInput
from epsilond.accountants.specs import Repeated, TruncatedDiscreteLaplace
from epsilond.questions.calibrate import calibrator

if TYPE_CHECKING:
    from epsilond.accountants.specs import Spec
    from epsilond.calibrators.answer import Calibration
    from epsilond.calibrators.norm_fedavg.calibrator import NormFedavgParameters
    from epsilond.calibrators.norm_fedavg.problem import NormFedavgProblem
    from epsilond.ledgers.client.ledgers import Ledger
    from epsilond.ledgers.log.receipts import Receipt
    from epsilond.ledgers.mathematics.state import SlotKind


def spec_of(answer: Calibration) -> Spec:
    """Return the spec, the description for privacy accounting, of the run that a calibration prescribes.

    Except for norm-fedavg, it is computed by calibrating again, which gives the same figures. Use it with the
    neighbouring relation, the unit and the observer of the answer's guarantee.

    Args:
        answer: the calibration.

    Returns:
        The spec of the whole run.

    Raises:
        InvalidInput: the client groups of the calibration have different specs.
    """
    if answer.algorithm == "norm-fedavg":
        return _norm_fedavg_spec(answer.problem, answer.parameters)
    chosen = calibrator(answer.algorithm)
    specs = chosen.specs(chosen.certify(answer.problem))
    if len(specs) > 1:
        raise InvalidInput.at("/client_groups", "release different things: account for each group by its own spec")
    return specs[0]


def _norm_fedavg_spec(problem: NormFedavgProblem, parameters: NormFedavgParameters) -> Spec:
    """Return the spec (accounting description) of a run of norm-fedavg, with sensitivities that no rounding exceeds.

    The calibration may use smaller sensitivities, which random rounding exceeds with a small probability. A ledger
    cannot charge such a probability.

    Args:
        problem: request of the calibration.
        parameters: its calibrated parameters.

    Returns:
        The spec of all rounds together.
    """
    message = TruncatedDiscreteLaplace(
        noise_levels=parameters.noise_levels,
        decay_rate=parameters.decay_rate,
        dimension=problem.dimension,
        l1_sensitivity=problem.movement.l1,
        linf_sensitivity=problem.movement.linf,
        l2_sensitivity=problem.movement.l2,
    )
    return Repeated(times=problem.rounds, mechanism=problem.round_of(message))


def pay_for_run(ledger: Ledger, answer: Calibration, *, slot: SlotKind | None, item: str | None) -> Receipt:
    """Pay for a calibrated run: reserve all its rounds in a ledger, which keeps the privacy budget, and commit them.

    Args:
        ledger: the ledger, which must have the relation, unit and observer of the answer's guarantee.
        answer: the calibration of the run.
        slot: kind of slot that is charged: the part of the budget in one notion of privacy (gdp, zcdp, rdp or pure). If
            neither slot nor item is given, it is the ledger's only slot.
        item: name of the item of the ledger's plan that is charged: a mechanism with its planned number of runs.

    Returns:
        The receipt of the ledger for the committed run.

    Raises:
        InvalidInput: the ledger has another relation, unit or observer. Also if neither slot nor item is given, and the
            ledger does not have exactly one slot.
        NoCertificate: the ledger rejects the run.
    """
    body = ledger.show()
    guarantee = answer.guarantee
    # The ledger must state its guarantee for the same neighbours, unit and observer.
    faults = []
    for name in ("relation", "unit", "observer"):
        certified_for = getattr(guarantee, name)
        if body[name] != certified_for:
            faults.append(Fault("/ledger", f"is for another {name} than the guarantee", str(certified_for)))

    # Without slot and item, take the only slot of the ledger.
    slot_kinds = [entry["kind"] for entry in body["slots"]]
    needs_slot = slot is None and item is None
    if needs_slot and len(slot_kinds) != 1:
        faults.append(Fault("/slot", "is needed, or the plan's item is", ", ".join(slot_kinds) or None))
    if faults:
        raise InvalidInput(*faults)

    charged_slot = cast("SlotKind", slot_kinds[0]) if needs_slot else slot
    charged_item = item or f"train {answer.algorithm}"
    with ledger.reserve(charged_item, spec=spec_of(answer), slot=charged_slot) as reservation:
        return reservation.commit()
