"""Training of a model on the caller's data, at the noise of a calibration, paid for from a ledger."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields as fields_of
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from epsilond.accountants.errors import Fault, InvalidInput, RunDiffers
from epsilond.accountants.json_types import JsonRecord
from epsilond.charges import spec_of
from epsilond.mechanisms.randomness import RandomSource, Secure, secure
from epsilond.questions.calibrate import calibrate, calibrator
from epsilond.runs.training import require_loss_constants
from epsilond.spelling import choose_by_name
from epsilond.trained import Trained, cautions, conditions
from epsilond.training.arrays import as_floats
from epsilond.training.clients.callables import CallableClients, Client
from epsilond.training.clients.tabular import TabularClients, tabular
from epsilond.training.loops import LOOPS
from epsilond.training.loops.session import OnRound, Session

if TYPE_CHECKING:
    from epsilond.calibrators.answer import Calibration
    from epsilond.ledgers.client.ledgers import Ledger
    from epsilond.ledgers.log.receipts import Receipt
    from epsilond.ledgers.mathematics.state import SlotKind
    from epsilond.training.arrays import Floats, Indices
    from epsilond.training.clients.batches import Gradients
    from epsilond.training.clients.losses import VectorLoss

SEES_MODELS = ("server", "shuffled-server", "released-models", "other-clients")
"""Observers that see the model after every round."""


def train(
    algorithm: str,
    clients: object,
    /,
    *,
    calibration: Calibration | None = None,
    loss: VectorLoss | str = "logistic",
    start: object = None,
    own_start: object = None,
    step_size: float | None = None,
    local_step_size: float | None = None,
    local_steps: int | None = None,
    ledger: Ledger | None = None,
    slot: SlotKind | None = None,
    item: str | None = None,
    randomness: RandomSource | None = None,
    on_round: OnRound | None = None,
    unprotected: bool = False,
    **fields: object,
) -> Trained:
    """Train a model by `algorithm` on the clients' data, at the noise of a calibration.

    Every record's gradient is scaled down to the calibration's `lipschitz` (in mu2-sgd each weighted difference, in
    ppsgd each message to `clipping_norm`). A gradient that is not finite counts as zeros. Batches and participants are
    drawn here, never by the caller. In projected-sgd nothing is clipped: a gradient above `lipschitz` voids the run.

    Args:
        algorithm: name of the algorithm.
        clients: one (features, targets) per client, the result of `epsilond.training.tabular`, or one
            `epsilond.training.Client` each.
        calibration: an answer of `calibrate`; absent if the fields of its question are given.
        loss: the loss of features and targets.
        start: the first model, and the middle of the domain; zeros if absent. It must not depend on the data.
        own_start: for ppsgd, first value of clients' own coordinates θ_i, which then follow the shared w in a model.
        step_size: step of the server (η, β of norm-fedavg, αη of ppsgd); the calibration's if absent.
        local_step_size: step of the clients (norm-fedavg, ppsgd, dp-fedavg); the calibration's if absent.
        local_steps: local steps of dp-fedavg; 1 if absent, so that clients send gradients.
        ledger: pays for the run, which is reserved and committed before its first round.
        slot: kind of slot of the ledger; its only slot if neither slot nor item is given.
        item: item of the ledger's plan.
        randomness: bits for tests; those of the operating system if absent.
        on_round: called as `on_round(round, model)` after every round, with None for a model that the guarantee hides.
            It ends the run by returning True.
        unprotected: whether the log contains values that no guarantee covers, such as norms before clipping.
        **fields: the question of the calibration. The clients provide clients and dimension, and, if known,
            samples_per_client, lipschitz, smoothness and strong_convexity.

    Guarantees: that of the calibration, for the model, the protected part of the log, and the arguments of `on_round`.
    In ppsgd each personal model is for its own client. `left_to_you` of the answer has the conditions that the run
    cannot check. If `clients` raise an error or return another shape, the run ends; commits stay spent.

    Example:
        >>> import epsilond, numpy as np
        >>> features = np.random.default_rng(0).standard_normal((5, 200, 3)) / 3.0
        >>> hospitals = [(rows, np.where(rows[:, 0] > 0.0, 1, -1)) for rows in features]
        >>> trained = epsilond.train(
        ...     "mb-sgd", hospitals, loss="logistic", epsilon=2.0, delta=1e-5, diameter=8.0, rounds=20, batch_size=50,
        ...     relation="replace-one", unit="record", observer="server",
        ... )
        >>> trained.model.shape, trained.rounds, trained.guarantee.epsilon.upper <= 2.0
        ((3,), 20, True)

    Raises:
        InvalidInput: clients, fields, start or steps do not fit together, or a client returned another shape.
        NoCertificate: nothing can be certified, or the ledger rejects the run (LedgerExhausted). Nothing was run.
        RunDiffers: the losses exceed constants of the guarantee, or a gradient of projected-sgd is longer than
            `lipschitz`. Nothing is released, and a ledger that paid for the run is marked.
    """
    loop = choose_by_name(algorithm, LOOPS, at="/algorithm", noun="algorithm that trains")
    _check_calibration(algorithm, calibration, fields)
    if ledger is None and (slot is not None or item is not None):
        raise InvalidInput.at("/slot" if item is None else "/item", "is of a ledger: give the ledger")
    _check_steps(step_size=step_size, local_step_size=local_step_size, local_steps=local_steps)
    if calibration is None and local_steps is not None and "local_steps" in _field_names(algorithm):
        fields, local_steps = {**fields, "local_steps": local_steps}, None  # of norm-fedavg it is part of the question
    own = _own_start(algorithm, own_start)
    own_dimension = 0 if own is None else len(own)
    held = _clients(clients, loss, start, fields, calibration, own_dimension)
    first = _start(start, held.dimension - own_dimension)
    answer = calibration or calibrate(algorithm, **_complete_fields(algorithm, held, fields, first))
    problem, guarantee, source = answer.problem, answer.guarantee, secure() if randomness is None else randomness
    _require_fit(problem, held, len(first))
    require_loss_constants(algorithm, problem, held, radius=_radius_of_problem(problem, first))
    session = Session(
        clients=held,
        source=source,
        start=first,
        own_start=own,
        bits_per_client=answer.communication.bits_per_round_per_client if answer.communication else 0,
        participants_seen=guarantee.observer == "server",
        models_seen=guarantee.observer in SEES_MODELS,
        log_unprotected=unprotected,
        on_round=on_round,
    )
    run = loop.of(
        problem,
        answer.parameters,
        session,
        step_size=step_size,
        local_step_size=local_step_size,
        local_steps=local_steps,
    )
    run.check(session)
    receipt = None if ledger is None else _pay(ledger, answer, slot, item)
    try:
        outcome = run(session)
    except RunDiffers as differs:
        if ledger is not None and receipt is not None:
            ledger.contradict(differs.observations)
        raise
    observed, left = conditions(answer, means_only=held.means_only, tables=isinstance(held, TabularClients))
    own_steps = step_size is not None or local_step_size is not None or local_steps is not None
    seeded = not isinstance(source, Secure)
    return Trained(
        algorithm=algorithm,
        model=outcome.model,
        personal_models=outcome.personal_models,
        log=tuple(session.log),
        guarantee=guarantee,
        carried_out=observed,
        left_to_you=left,
        cautions=tuple(cautions(answer, means_only=held.means_only, seeded=seeded, own_steps=own_steps)),
        tables=isinstance(held, TabularClients),
        receipt=receipt,
        calibration=answer,
    )


# The clients, and the question of the calibration ---------------------------------------------------------------------
def _clients(
    clients: object,
    loss: VectorLoss | str,
    start: object,
    fields: Mapping[str, object],
    calibration: Calibration | None,
    own_dimension: int,
) -> Gradients:
    """Convert the clients that a caller gives to sources of gradients.

    The number of parameters of clients that are functions is the dimension of the calibration, of the fields or of
    `start`, plus `own_dimension`.

    Raises:
        InvalidInput: the clients have no accepted form, or their number of parameters is not known.
    """
    if isinstance(clients, TabularClients | CallableClients):
        return clients
    if not isinstance(clients, Sequence) or not clients:
        message = "must be a sequence of (features, targets), of epsilond.training.Client, or tabular clients"
        raise InvalidInput.at("/clients", message)
    if not all(isinstance(client, Client) for client in clients):
        if any(isinstance(client, Client) for client in clients):
            raise InvalidInput.at("/clients", "must all be functions, or all be features and targets")
        return tabular(clients, loss=loss)
    for place, client in enumerate(clients):
        if client.records < 1:
            raise InvalidInput.at(f"/clients/{place}/records", "is out of range", allowed="≥ 1")
    problem = None if calibration is None else calibration.problem
    dimensions = [getattr(problem, name, None) or fields.get(name) for name in ("dimension", "shared_dimension")]
    sizes = [size for size in dimensions if isinstance(size, int)]
    if start is None and not sizes:
        raise InvalidInput.at("/dimension", "is needed where clients are functions, or a start is")
    size = sizes[0] if sizes else len(as_floats(start, pointer="/start"))
    return CallableClients(tuple(clients), size + own_dimension)


def _check_calibration(algorithm: str, calibration: Calibration | None, fields: Mapping[str, object]) -> None:
    """Check that a calibration, if there is one, is for this algorithm, unchanged, and not combined with fields.

    Raises:
        InvalidInput: it is not.
    """
    if calibration is None:
        return
    if fields:
        raise InvalidInput(*(Fault(f"/{name}", "is the calibration's to say: leave it out") for name in fields))
    if calibration.algorithm != algorithm:
        raise InvalidInput.at("/calibration", "is for another algorithm", allowed=algorithm)
    certified = (calibration.problem, calibration.parameters, calibration.guarantee)
    if calibration.problem is None or calibration.certified != certified:
        raise InvalidInput.at("/calibration", "must be as calibrate returned it, with its question and unchanged")


def _complete_fields(algorithm: str, held: Gradients, fields: Mapping[str, object], start: Floats) -> JsonRecord:
    """Return the fields of the calibration, where absent ones are computed from the clients' data.

    Args:
        algorithm: name of the algorithm.
        held: the clients.
        fields: fields that the caller gave, which are never replaced.
        start: the first model.

    Raises:
        InvalidInput: the clients have different numbers of records, and the algorithm needs equal ones.
    """
    names = _field_names(algorithm)
    size = len(start)
    values: JsonRecord = {"clients": len(held.sizes), "dimension": size, "shared_dimension": size}
    if algorithm != "norm-fedavg":
        values |= _record_counts(algorithm, held.sizes, names, fields)
    if isinstance(held, TabularClients):
        values |= _loss_constants(algorithm, held, _radius_of_fields(algorithm, fields, start))
    return {name: value for name, value in values.items() if name in names} | dict(fields)


def _record_counts(algorithm: str, sizes: Indices, names: set[str], fields: Mapping[str, object]) -> JsonRecord:
    """Return the fields of a calibration that state the number of records of each client.

    Args:
        algorithm: name of the algorithm, for the error.
        sizes: number of records of each client.
        names: fields that the algorithm has.
        fields: fields that the caller gave. If they state these numbers, nothing is returned.

    Raises:
        InvalidInput: the numbers differ, and the algorithm needs equal ones.
    """
    if bool(np.all(sizes == sizes[0])):
        return {"samples_per_client": int(sizes[0])}
    if {"samples_per_client", "client_groups"} & fields.keys() or "samples_per_client" not in names:
        return {}
    if "client_groups" not in names:
        message = f"hold {sizes.min()} to {sizes.max()} records, and {algorithm} is for clients with as many each"
        raise InvalidInput.at("/clients", message, allowed="equal numbers of records")
    return {"samples_per_client": int(sizes.min()), "client_groups": _groups(sizes)}


def _loss_constants(algorithm: str, held: TabularClients, radius: float) -> JsonRecord:
    """Return smoothness, Lipschitz constant and strong convexity of the clients' losses, as fields of a calibration.

    Args:
        algorithm: name of the algorithm.
        held: the clients.
        radius: largest norm of a model. The Lipschitz constant holds for these models; it is left out if infinite.
    """
    factor = 2.0 if algorithm == "ppsgd" else 1.0  # in (w, θ_i), where the loss is a function of w + θ_i
    constants: JsonRecord = {"smoothness": factor * held.smoothness}
    lipschitz = held.lipschitz(radius)
    if np.isfinite(lipschitz):
        constants["lipschitz"] = lipschitz
    if held.strong_convexity:
        constants["strong_convexity"] = held.strong_convexity
    return constants


def _groups(sizes: Indices) -> list[dict[str, int]]:
    """Group consecutive clients with equal numbers of records, in their order."""
    ends = [*(np.flatnonzero(np.diff(sizes)) + 1).tolist(), len(sizes)]
    starts = [0, *ends[:-1]]
    return [
        {"clients": end - start, "samples_per_client": int(sizes[start])}
        for start, end in zip(starts, ends, strict=True)
    ]


def _field_names(algorithm: str) -> set[str]:
    return {field.name for field in fields_of(calibrator(algorithm).problem)}


def _radius_of_fields(algorithm: str, fields: Mapping[str, object], start: Floats) -> float:
    """Return the largest norm of a model in the domain; infinite if the loss must be Lipschitz everywhere."""
    sizes = [(0.5, fields.get("diameter")), (1.0, fields.get("radius"))]
    radii = [factor * size for factor, size in sizes if isinstance(size, int | float)]
    if algorithm in ("mu2-sgd", "ppsgd") or not radii:
        return np.inf
    return radii[0] + float(np.linalg.norm(start))


def _radius_of_problem(problem: object, start: Floats) -> float:
    """Return the largest norm of a model in the domain; infinite if the problem has no domain."""
    sizes = [(0.5, getattr(problem, "diameter", None)), (1.0, getattr(problem, "radius", None))]
    radii = [factor * size for factor, size in sizes if size is not None]
    return radii[0] + float(np.linalg.norm(start)) if radii else np.inf


def _require_fit(problem: Any, held: Gradients, size: int) -> None:
    faults = []
    if problem.clients != len(held.sizes):
        faults.append(Fault("/clients", f"are {len(held.sizes)}, not as many as calibrated for", f"{problem.clients}"))
    dimension = getattr(problem, "dimension", None) or problem.shared_dimension
    if dimension != size:
        faults.append(Fault("/dimension", f"is {size} of the clients' models, not as calibrated for", f"{dimension}"))
    if faults:
        raise InvalidInput(*faults)


def _check_steps(**steps: float | None) -> None:
    faults = []
    for name, value in steps.items():
        least, allowed = (1, "≥ 1") if name == "local_steps" else (0, "≥ 0, finite")
        if value is not None and not least <= value < np.inf:
            faults.append(Fault(f"/{name}", "is out of range", allowed))
    if faults:
        raise InvalidInput(*faults)


def _own_start(algorithm: str, values: object) -> Floats | None:
    if values is None:
        return None
    if algorithm != "ppsgd":
        raise InvalidInput.at("/own_start", "is a field of ppsgd only: no other algorithm has clients' own parts")
    own = as_floats(values, pointer="/own_start")
    if own.ndim != 1 or not np.isfinite(own).all():
        raise InvalidInput.at("/own_start", "must be a finite vector")
    return own


def _start(values: object, dimension: int) -> Floats:
    if values is None:
        return np.zeros(dimension)
    start = as_floats(values, pointer="/start")
    if start.shape != (dimension,) or not np.isfinite(start).all():
        raise InvalidInput.at("/start", "must be a finite vector of the model's dimension", allowed=f"({dimension},)")
    return start


# The ledger -----------------------------------------------------------------------------------------------------------
def _pay(ledger: Ledger, answer: Calibration, slot: SlotKind | None, item: str | None) -> Receipt:
    """Reserve all rounds of a run in the ledger and commit them.

    Args:
        ledger: the ledger, which must have the relation, unit and observer of the answer's guarantee.
        answer: the calibration of the run.
        slot: kind of slot that is charged; the ledger's only one if neither slot nor item is given.
        item: item of the ledger's plan that is charged.

    Returns:
        The receipt.

    Raises:
        InvalidInput: the ledger has another setting, or several slots.
        NoCertificate: the ledger rejects the run.
    """
    body = ledger.show()
    guarantee = answer.guarantee
    faults = [
        Fault("/ledger", f"is for another {name} than the guarantee", str(getattr(guarantee, name)))
        for name in ("relation", "unit", "observer")
        if body[name] != getattr(guarantee, name)
    ]
    if slot is None and item is None:
        kinds = [entry["kind"] for entry in body["slots"]]
        if len(kinds) != 1:
            faults.append(Fault("/slot", "is needed, or the plan's item is", ", ".join(kinds) or None))
        else:
            slot = cast("SlotKind", kinds[0])
    if faults:
        raise InvalidInput(*faults)
    with ledger.reserve(item or f"train {answer.algorithm}", spec=spec_of(answer), slot=slot) as held:
        return held.commit()
