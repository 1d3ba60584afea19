"""Training of a model on the caller's data, at the noise of a calibration, paid for from a ledger."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from epsilond.accountants.errors import Fault, InvalidInput, RunDiffers
from epsilond.charges import pay_for_run
from epsilond.mechanisms.randomness import RandomSource, Secure, secure
from epsilond.questions.calibrate import calibrate
from epsilond.questions.inferred_fields import complete_fields, domain_radius, field_names
from epsilond.runs.training import require_loss_constants
from epsilond.spelling import choose_by_name
from epsilond.trained import Trained, cautions, conditions
from epsilond.training.arrays import as_floats
from epsilond.training.clients.callables import CallableClients, Client
from epsilond.training.clients.tabular import TabularClients, tabular
from epsilond.training.first_models import read_own_start, read_start
from epsilond.training.loops import LOOPS, TrainingRun
from epsilond.training.loops.session import OnRound, Session, TrainingOutcome

if TYPE_CHECKING:
    from epsilond.calibrators.answer import Calibration
    from epsilond.ledgers.client.ledgers import Ledger
    from epsilond.ledgers.log.receipts import Receipt
    from epsilond.ledgers.mathematics.state import SlotKind
    from epsilond.training.arrays import Floats
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
        randomness: source of random bits, for tests; None for the operating system.
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
        pointer = "/slot" if item is None else "/item"
        raise InvalidInput.at(pointer, "is of a ledger: give the ledger")
    _check_steps(step_size=step_size, local_step_size=local_step_size, local_steps=local_steps)
    if calibration is None and local_steps is not None and "local_steps" in field_names(algorithm):
        # In norm-fedavg the number of local steps is a field of the calibration, and no choice of the run.
        fields = {**fields, "local_steps": local_steps}
        local_steps = None

    own_values = read_own_start(algorithm, own_start)
    own_dimension = 0 if own_values is None else len(own_values)
    sources = _read_clients(clients, loss, start, fields, calibration, own_dimension)
    first_model = read_start(start, sources.dimension - own_dimension)
    answer = calibration or calibrate(algorithm, **complete_fields(algorithm, sources, fields, first_model))
    _require_fit(answer, sources, first_model)

    # The ledger is charged after all checks and before the first round.
    session = _start_session(
        answer, sources, first_model, own_values, randomness=randomness, on_round=on_round, unprotected=unprotected
    )
    run = loop.of(
        answer.problem,
        answer.parameters,
        session,
        step_size=step_size,
        local_step_size=local_step_size,
        local_steps=local_steps,
    )
    run.check(session)
    receipt = None if ledger is None else pay_for_run(ledger, answer, slot=slot, item=item)
    outcome = _run_rounds(run, session, ledger)
    own_steps = any(size is not None for size in (step_size, local_step_size, local_steps))
    return _describe_outcome(answer, session, outcome, receipt, own_steps=own_steps)


def _start_session(
    answer: Calibration,
    sources: Gradients,
    first_model: Floats,
    own_values: Floats | None,
    *,
    randomness: RandomSource | None,
    on_round: OnRound | None,
    unprotected: bool,
) -> Session:
    """Build the state of a training run before its first round.

    The log and `on_round` get the participants of a round, and the model after it, only if the guarantee is for an
    observer who sees them.

    Args:
        answer: the calibration of the run.
        sources: the clients.
        first_model: the first model, shape (d,), for d coordinates.
        own_values: first values of the clients' own coordinates in ppsgd, shape (p,); None without such coordinates.
        randomness: source of random bits; None for the operating system.
        on_round: callback after each round; None for no callback.
        unprotected: whether the log has facts that no guarantee covers.
    """
    return Session(
        clients=sources,
        source=secure() if randomness is None else randomness,
        start=first_model,
        own_start=own_values,
        bits_per_client=answer.communication.bits_per_round_per_client if answer.communication else 0,
        participants_seen=answer.guarantee.observer == "server",
        models_seen=answer.guarantee.observer in SEES_MODELS,
        log_unprotected=unprotected,
        on_round=on_round,
    )


def _run_rounds(run: TrainingRun, session: Session, ledger: Ledger | None) -> TrainingOutcome:
    """Run all rounds of a training run, and report a run that contradicts its guarantee to the ledger.

    Args:
        run: function that runs all rounds.
        session: clients, first model, randomness and log of the run.
        ledger: the ledger that paid for the run; None without one.

    Returns:
        The released model, the clients' personal models in ppsgd, and the number of rounds.

    Raises:
        RunDiffers: a gradient exceeds a constant of the guarantee. The ledger is marked before the error is raised.
    """
    try:
        return run(session)
    except RunDiffers as error:
        if ledger is not None:
            ledger.contradict(error.observations)
        raise


def _describe_outcome(
    answer: Calibration, session: Session, outcome: TrainingOutcome, receipt: Receipt | None, *, own_steps: bool
) -> Trained:
    """Build the result of a training run, with its guarantee and the conditions of the guarantee.

    Args:
        answer: the calibration of the run.
        session: clients, randomness and log of the run.
        outcome: the models.
        receipt: receipt of the ledger that paid for the run; None without a ledger.
        own_steps: whether the caller gave step sizes or a number of local steps.
    """
    means_only = session.clients.means_only
    has_tables = isinstance(session.clients, TabularClients)
    carried_out, left_to_you = conditions(answer, means_only=means_only, tables=has_tables)
    is_seeded = not isinstance(session.source, Secure)
    warnings = cautions(answer, means_only=means_only, seeded=is_seeded, own_steps=own_steps)
    return Trained(
        algorithm=answer.algorithm,
        model=outcome.model,
        personal_models=outcome.personal_models,
        log=tuple(session.log),
        guarantee=answer.guarantee,
        carried_out=carried_out,
        left_to_you=left_to_you,
        cautions=tuple(warnings),
        tables=has_tables,
        receipt=receipt,
        calibration=answer,
    )


# The arguments of the caller ------------------------------------------------------------------------------------------
def _read_clients(
    clients: object,
    loss: VectorLoss | str,
    start: object,
    fields: Mapping[str, object],
    calibration: Calibration | None,
    own_dimension: int,
) -> Gradients:
    """Convert the clients that a caller gives to sources of gradients.

    Args:
        clients: the argument `clients` of `train`.
        loss: the loss of clients that are features and targets.
        start: the first model; None if absent.
        fields: fields of the calibration, which may contain the dimension.
        calibration: the calibration, if the caller gave one.
        own_dimension: number of coordinates of clients' own parts; 0 without such parts.

    Returns:
        All clients as one object that returns sums of their clipped gradients.

    Raises:
        InvalidInput: the clients have no accepted form, or their number of parameters is not known.
    """
    if isinstance(clients, TabularClients | CallableClients):
        return clients
    if not isinstance(clients, Sequence) or not clients:
        message = "must be a sequence of (features, targets), of epsilond.training.Client, or tabular clients"
        raise InvalidInput.at("/clients", message)
    # Either all clients are data, from which gradients are computed here, or all are functions that return gradients.
    are_functions = [isinstance(client, Client) for client in clients]
    if not any(are_functions):
        return tabular(clients, loss=loss)
    if not all(are_functions):
        raise InvalidInput.at("/clients", "must all be functions, or all be features and targets")
    for index, client in enumerate(clients):
        if client.records < 1:
            raise InvalidInput.at(f"/clients/{index}/records", "is out of range", allowed="≥ 1")
    dimension = _dimension_of_functions(start, fields, calibration)
    return CallableClients(tuple(clients), dimension + own_dimension)


def _dimension_of_functions(start: object, fields: Mapping[str, object], calibration: Calibration | None) -> int:
    """Return the dimension of the model if the clients are functions of the caller that return gradients.

    Such functions do not show their dimension. The calibration has it, or the fields of the request, or else the first
    model. The first of these that has a dimension determines the result.

    Args:
        start: the first model; None if it is not given.
        fields: fields of the request for a calibration.
        calibration: the calibration of the run; None if it is not given.

    Returns:
        The number of coordinates; if clients also have parts of their own, that of the shared part.

    Raises:
        InvalidInput: none of them has the dimension.
    """
    problem = None if calibration is None else calibration.problem
    for name in ("dimension", "shared_dimension"):
        dimension = getattr(problem, name, None) or fields.get(name)
        if isinstance(dimension, int):
            return dimension
    if start is None:
        raise InvalidInput.at("/dimension", "is needed where clients are functions, or a start is")
    return len(as_floats(start, pointer="/start"))


def _check_calibration(algorithm: str, calibration: Calibration | None, fields: Mapping[str, object]) -> None:
    """Check that a calibration, if one is given, is for this algorithm, unchanged, and not combined with fields.

    Args:
        algorithm: name of the algorithm.
        calibration: the calibration that the caller gave; None if the fields of its request are given instead.
        fields: fields of a request, which must be empty if there is a calibration.

    Raises:
        InvalidInput: the calibration is for another algorithm, was changed, or fields are given too.
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


def _require_fit(answer: Calibration, sources: Gradients, first_model: Floats) -> None:
    """Check that a calibration was made for these clients, this dimension and these losses.

    Args:
        answer: the calibration.
        sources: the clients.
        first_model: the first model, shape (d,), for d coordinates.

    Raises:
        InvalidInput: the number of clients, or the dimension, differs from that of the calibration.
        RunDiffers: the losses exceed a constant that the guarantee depends on.
    """
    problem = answer.problem
    faults = []
    clients = len(sources.sizes)
    if problem.clients != clients:
        faults.append(Fault("/clients", f"are {clients}, not as many as calibrated for", f"{problem.clients}"))

    # A calibration of ppsgd concerns only the shared coordinates of the models.
    dimension = len(first_model)
    calibrated_dimension = getattr(problem, "dimension", None) or problem.shared_dimension
    if calibrated_dimension != dimension:
        message = f"is {dimension} of the clients' models, not as calibrated for"
        faults.append(Fault("/dimension", message, f"{calibrated_dimension}"))
    if faults:
        raise InvalidInput(*faults)

    # The constants of the losses are checked over the domain of the models.
    radius = domain_radius(getattr(problem, "diameter", None), getattr(problem, "radius", None), first_model)
    require_loss_constants(answer.algorithm, problem, sources, radius=radius)


def _check_steps(*, step_size: float | None, local_step_size: float | None, local_steps: int | None) -> None:
    """Check that given step sizes are finite and not negative, and that a given number of steps is positive.

    Args:
        step_size: step size of the server; None if it is not given.
        local_step_size: step size of the clients; None if it is not given.
        local_steps: number of local steps; None if it is not given.

    Raises:
        InvalidInput: a value is out of range; the error has a fault for each such value.
    """
    faults = []
    for name, size in (("step_size", step_size), ("local_step_size", local_step_size)):
        if size is not None and not 0.0 <= size < np.inf:
            faults.append(Fault(f"/{name}", "is out of range", "≥ 0, finite"))
    if local_steps is not None and not 1 <= local_steps < np.inf:
        faults.append(Fault("/local_steps", "is out of range", "≥ 1"))
    if faults:
        raise InvalidInput(*faults)
