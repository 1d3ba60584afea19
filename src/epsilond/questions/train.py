"""A model from people's own data by one of the algorithms, at the noise that was calibrated, paid for from a ledger."""

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
    """Run `algorithm` on the clients' data at the noise of a calibration.

    `clients` are one (features, targets) a client with a `loss`, what `epsilond.training.tabular` makes of them, or one
    `epsilond.training.Client` each. Give `calibration`, an answer of `calibrate`, or the fields of its question; of
    these, what the clients show is filled in: clients, dimension, and samples_per_client, lipschitz, smoothness and
    strong_convexity where they are known. `start` is the first model, zeros if absent, and the middle of the domain; it
    must not depend on the data. With `own_start`, of ppsgd alone, clients' own parts are coordinates of their own: a
    model is w and behind it θ_i, which begins there, and gradients are in both.

    Steps are the calibration's unless given: `step_size` of the server (η, β of norm-fedavg, αη of ppsgd),
    `local_step_size` of the clients (norm-fedavg, ppsgd); the accelerated algorithms and projected-sgd take none.
    dp-fedavg takes both, and `local_steps`: 1 each if absent, so that clients send gradients.

    With a `ledger` the run is reserved and committed before its first round, in `slot` or from the plan's `item`; where
    neither is said, in the only slot. `randomness` is secure unless given, for tests. `on_round(round, model)` is
    called after every round, with None for a model that the guarantee hides; it ends the run by returning True.
    `unprotected` puts into the log what no guarantee covers, as norms before clipping.

    Every record's gradient is scaled down to the calibration's `lipschitz` (of mu2-sgd each weighted difference, of
    ppsgd each message to `clipping_norm`), and one that is no number counts as zeros, so that neither shows. Batches
    and participants are drawn here, never by the caller. Of projected-sgd nothing is clipped: a gradient beyond
    `lipschitz` voids the run.

    Guarantees: that of the calibration, unchanged, for the model, for the log but its unprotected part, and for what
    `on_round` is given; of ppsgd each personal model is for its own client. `left_to_you` of the answer is what that
    rests on beside the run. Where `clients` raise an error, or return another shape than was asked for, the run ends
    with that error; what was committed stays spent.

    Example:
        >>> import epsilond, numpy as np
        >>> features = np.random.default_rng(0).standard_normal((5, 200, 3)) / 3.0
        >>> hospitals = [(each, np.where(each[:, 0] > 0.0, 1, -1)) for each in features]
        >>> found = epsilond.train(
        ...     "mb-sgd", hospitals, loss="logistic", epsilon=2.0, delta=1e-5, diameter=8.0, rounds=20, batch_size=50,
        ...     relation="replace-one", unit="record", observer="server",
        ... )
        >>> found.model.shape, found.rounds, found.guarantee.epsilon.upper <= 2.0
        ((3,), 20, True)

    Raises:
        InvalidInput: clients, fields, start or steps do not fit together, or a client returned another shape.
        NoCertificate: nothing can be certified; as LedgerExhausted, the ledger refuses. Nothing was run.
        RunDiffers: the losses exceed constants that the guarantee rests on, or a gradient of projected-sgd is longer
            than `lipschitz`. Nothing is released, and a ledger that paid for the run is marked.
    """
    loop = choose_by_name(algorithm, LOOPS, at="/algorithm", noun="algorithm that trains")
    _check_calibration(algorithm, calibration, fields)
    if ledger is None and (slot is not None or item is not None):
        raise InvalidInput.at("/slot" if item is None else "/item", "is of a ledger: give the ledger")
    _check_steps(step_size=step_size, local_step_size=local_step_size, local_steps=local_steps)
    if calibration is None and local_steps is not None and "local_steps" in _asked_of(algorithm):
        fields, local_steps = {**fields, "local_steps": local_steps}, None  # of norm-fedavg it is part of the question
    own = _own_start(algorithm, own_start)
    apart = 0 if own is None else len(own)
    held = _clients(clients, loss, start, fields, calibration, apart)
    first = _start(start, held.dimension - apart)
    answer = calibration or calibrate(algorithm, **_filled_in(algorithm, held, fields, first))
    problem, guarantee, source = answer.problem, answer.guarantee, secure() if randomness is None else randomness
    _require_fit(problem, held, len(first))
    require_loss_constants(algorithm, problem, held, radius=_reach_of(problem, first))
    session = Session(
        clients=held,
        source=source,
        start=first,
        own_start=own,
        bits_per_client=answer.communication.bits_per_round_per_client if answer.communication else 0,
        participants_seen=guarantee.observer == "server",
        models_seen=guarantee.observer in SEES_MODELS,
        tell_unprotected=unprotected,
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
    receipt = None if ledger is None else _paid(ledger, answer, slot, item)
    try:
        outcome = run(session)
    except RunDiffers as differs:
        if ledger is not None and receipt is not None:
            ledger.contradict(differs.observations)
        raise
    seen_to, left = conditions(answer, means_only=held.means_only, tables=isinstance(held, TabularClients))
    return Trained(
        algorithm=algorithm,
        model=outcome.model,
        personal_models=outcome.personal_models,
        log=tuple(session.log),
        guarantee=guarantee,
        carried_out=seen_to,
        left_to_you=left,
        cautions=tuple(
            cautions(
                answer,
                means_only=held.means_only,
                seeded=not isinstance(source, Secure),
                own_steps=any(one is not None for one in (step_size, local_step_size, local_steps)),
            )
        ),
        tables=isinstance(held, TabularClients),
        receipt=receipt,
        calibration=answer,
    )


# The clients, and what is asked for them ------------------------------------------------------------------------------
def _clients(
    given: object,
    loss: VectorLoss | str,
    start: object,
    fields: Mapping[str, object],
    calibration: Calibration | None,
    apart: int,
) -> Gradients:
    if isinstance(given, TabularClients | CallableClients):
        return given
    if not isinstance(given, Sequence) or not given:
        message = "must be a sequence of (features, targets), of epsilond.training.Client, or tabular clients"
        raise InvalidInput.at("/clients", message)
    if not all(isinstance(one, Client) for one in given):
        if any(isinstance(one, Client) for one in given):
            raise InvalidInput.at("/clients", "must all be functions, or all be features and targets")
        return tabular(given, loss=loss)
    for place, one in enumerate(given):
        if one.records < 1:
            raise InvalidInput.at(f"/clients/{place}/records", "is out of range", allowed="≥ 1")
    problem = None if calibration is None else calibration.problem
    known = [getattr(problem, name, None) or fields.get(name) for name in ("dimension", "shared_dimension")]
    sizes = [size for size in known if isinstance(size, int)]
    if start is None and not sizes:
        raise InvalidInput.at("/dimension", "is needed where clients are functions, or a start is")
    size = sizes[0] if sizes else len(as_floats(start, pointer="/start"))
    return CallableClients(tuple(given), size + apart)


def _check_calibration(algorithm: str, given: Calibration | None, fields: Mapping[str, object]) -> None:
    if given is None:
        return
    if fields:
        raise InvalidInput(*(Fault(f"/{name}", "is the calibration's to say: leave it out") for name in fields))
    if given.algorithm != algorithm:
        raise InvalidInput.at("/calibration", "is for another algorithm", allowed=algorithm)
    if given.problem is None or given.certified != (given.problem, given.parameters, given.guarantee):
        raise InvalidInput.at("/calibration", "must be as calibrate returned it, with its question and unchanged")


def _filled_in(algorithm: str, held: Gradients, fields: Mapping[str, object], start: Floats) -> JsonRecord:
    """The question, with what the clients show where it is left open."""
    sizes = held.sizes
    known: JsonRecord = {
        "clients": len(sizes),
        "dimension": len(start),
        "shared_dimension": len(start),
    }
    asked = _asked_of(algorithm)
    equal, said = bool(np.all(sizes == sizes[0])), {"samples_per_client", "client_groups"} & fields.keys()
    if equal and algorithm != "norm-fedavg":
        known["samples_per_client"] = int(sizes[0])
    elif not equal and not said and algorithm != "norm-fedavg" and "samples_per_client" in asked:
        if "client_groups" not in asked:
            message = f"hold {sizes.min()} to {sizes.max()} records, and {algorithm} is for clients with as many each"
            raise InvalidInput.at("/clients", message, allowed="equal numbers of records")
        known |= {"samples_per_client": int(sizes.min()), "client_groups": _groups(sizes)}
    if isinstance(held, TabularClients):
        lipschitz = held.lipschitz(_reach(algorithm, fields, start))
        if np.isfinite(lipschitz):
            known["lipschitz"] = lipschitz
        joint = 2.0 if algorithm == "ppsgd" else 1.0  # in (w, θ_i), where the loss is one of w + θ_i
        known["smoothness"] = joint * held.smoothness
        if held.strong_convexity:
            known["strong_convexity"] = held.strong_convexity
    return {name: value for name, value in known.items() if name in asked} | dict(fields)


def _groups(sizes: Indices) -> list[dict[str, int]]:
    """Neighbours in the list of clients that hold as many records, as groups in that order."""
    ends = [*(np.flatnonzero(np.diff(sizes)) + 1).tolist(), len(sizes)]
    starts = [0, *ends[:-1]]
    return [
        {"clients": end - start, "samples_per_client": int(sizes[start])}
        for start, end in zip(starts, ends, strict=True)
    ]


def _asked_of(algorithm: str) -> set[str]:
    return {one.name for one in fields_of(calibrator(algorithm).problem)}


def _reach(algorithm: str, fields: Mapping[str, object], start: Floats) -> float:
    """How long a model of the domain may be; infinite where losses are asked to be Lipschitz beyond every domain."""
    sizes = [(0.5, fields.get("diameter")), (1.0, fields.get("radius"))]
    known = [share * size for share, size in sizes if isinstance(size, int | float)]
    if algorithm in ("mu2-sgd", "ppsgd") or not known:
        return np.inf
    return known[0] + float(np.linalg.norm(start))


def _reach_of(problem: object, start: Floats) -> float:
    """Return the largest norm of a model in the domain; infinite where the problem has none."""
    sizes = [(0.5, getattr(problem, "diameter", None)), (1.0, getattr(problem, "radius", None))]
    known = [share * size for share, size in sizes if size is not None]
    return known[0] + float(np.linalg.norm(start)) if known else np.inf


def _require_fit(problem: Any, held: Gradients, size: int) -> None:
    faults = []
    if problem.clients != len(held.sizes):
        faults.append(Fault("/clients", f"are {len(held.sizes)}, not as many as calibrated for", f"{problem.clients}"))
    dimension = getattr(problem, "dimension", None) or problem.shared_dimension
    if dimension != size:
        faults.append(Fault("/dimension", f"is {size} of the clients' models, not as calibrated for", f"{dimension}"))
    if faults:
        raise InvalidInput(*faults)


def _check_steps(**given: float | None) -> None:
    faults = [
        Fault(f"/{name}", "is out of range", "≥ 1" if name == "local_steps" else "≥ 0, finite")
        for name, value in given.items()
        if value is not None and not (1 if name == "local_steps" else 0) <= value < np.inf
    ]
    if faults:
        raise InvalidInput(*faults)


def _own_start(algorithm: str, given: object) -> Floats | None:
    if given is None:
        return None
    if algorithm != "ppsgd":
        raise InvalidInput.at("/own_start", "is of ppsgd alone: no other algorithm has clients' own parts")
    own = as_floats(given, pointer="/own_start")
    if own.ndim != 1 or not np.isfinite(own).all():
        raise InvalidInput.at("/own_start", "must be a finite vector")
    return own


def _start(given: object, dimension: int) -> Floats:
    if given is None:
        return np.zeros(dimension)
    start = as_floats(given, pointer="/start")
    if start.shape != (dimension,) or not np.isfinite(start).all():
        raise InvalidInput.at("/start", "must be a finite vector of the model's dimension", allowed=f"({dimension},)")
    return start


# The ledger -----------------------------------------------------------------------------------------------------------
def _paid(ledger: Ledger, answer: Calibration, slot: SlotKind | None, item: str | None) -> Receipt:
    """Reserve all rounds and commit them, for the same relation, unit and observer.

    Raises:
        InvalidInput: the ledger is for something else.
        NoCertificate: it refuses.
    """
    told, guarantee = ledger.show(), answer.guarantee
    faults = [
        Fault("/ledger", f"is for another {name} than the guarantee", str(getattr(guarantee, name)))
        for name in ("relation", "unit", "observer")
        if told[name] != getattr(guarantee, name)
    ]
    if slot is None and item is None:
        kinds = [each["kind"] for each in told["slots"]]
        if len(kinds) != 1:
            faults.append(Fault("/slot", "is needed, or the plan's item is", ", ".join(kinds) or None))
        else:
            slot = cast("SlotKind", kinds[0])
    if faults:
        raise InvalidInput(*faults)
    with ledger.reserve(item or f"train {answer.algorithm}", spec=spec_of(answer), slot=slot) as held:
        return held.commit()
