"""DP-μ²-FL of Reshef and Levy, and what it is compared with at the same privacy.

In round t each client that reports draws a record and sends s = t∇f(x_t) − (t − 1)∇f(x_{t−1}), scaled down to norm S.
The server keeps q ← q + (1/m) Σ s, w ← Π(w − ηq), and moves 2/(t + 2) of the way from x to w; after t rounds x_t is
put out. By `method`:

- `cancelled-noise`: a client's N-th report carries noise of variance base² N, and takes back what it added before
  (Algorithm 1); a trusted server adds noise of variance base² to q in every round, and takes it back (Algorithm 2).
- `independent-noise`: fresh noise on each report, or on q; never taken back.
- `noisy-sgd`: gradients with fresh noise and plain steps, the mean model put out.
- `gap-differences` (Alternative 1, untrusted server): a client whose last report was in round τ sends t∇f(x_t) −
  τ∇f(x_τ), scaled down to norm (t − τ)S, with fresh noise t − τ times as large; q is the mean over those who report of
  the sums of their own reports.

`noise_std` is base in all of them. All but the first then have the noise of the same ρ: a record is in one report, so
that base/√H_K is enough for a client of at most K reports, or base/√(T − 1) for a trusted server; scaled to norm G for
SGD, and to the gap for gap differences.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Literal

import numpy as np
from scipy.special import digamma

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.quantities import NOISE_STD, PARTICIPANTS, STEP_SIZE, Quantity, Rounds, request
from epsilond.simulators.algorithms.algorithm import Curves, SimulatedAlgorithm, Work
from epsilond.simulators.algorithms.mu2_sgd.participation import (
    PARTICIPATION,
    Reports,
    RunParticipation,
    chunk_size,
    draw,
)
from epsilond.simulators.problems.kinds import PROBLEMS
from epsilond.simulators.problems.problem import Floats, SimulatedProblem
from epsilond.training.steps.messages import norms_of, shrinking, with_noise
from epsilond.training.steps.noise_cancellation import (
    CancellingServer,
    ClientNoise,
    GapDifferences,
    ServerNoise,
    weighted_difference,
)
from epsilond.training.steps.one_release import projected_step

Server = Literal["trusted", "untrusted"]
Method = Literal["cancelled-noise", "independent-noise", "noisy-sgd", "gap-differences"]

SERVER = Quantity(description="who adds the noise: each client, or the server, which then sees every message")
METHOD = Quantity(description="cancelled-noise, or what it is compared with at the same privacy")
BASE_NOISE_STD = replace(
    NOISE_STD, ge=0, gt=None, description="σ of a client's first report, or of a trusted server; see `method`"
)
NUMPY_CALLS = 30
"""Calls of numpy in one round, about."""
ROUNDING = 1e-9
"""What differences of gradients, weighted by t, may gain in norm."""


@request
class Mu2SgdRun:
    """Who reports, who adds the noise, and the step.

    Absent `noise_std` is calibrated, and an absent `step_size` with it; where it is given so must the step be, but
    for `noisy-sgd`, which has D/(B√T) of its own. `participants` m is what the server divides by; absent: all.
    """

    algorithm: Annotated[Literal["mu2-sgd"], Quantity(description="DP-μ²-FL")] = "mu2-sgd"
    rounds: Rounds
    participants: Annotated[int | None, PARTICIPANTS] = None
    participation: Annotated[RunParticipation | None, PARTICIPATION] = None
    server: Annotated[Server, SERVER] = "untrusted"
    method: Annotated[Method, METHOD] = "cancelled-noise"
    step_size: Annotated[float | None, STEP_SIZE] = None
    noise_std: Annotated[float | None, BASE_NOISE_STD] = None

    def check(self) -> None:
        """A pattern within the run; clients that add the noise of gap differences."""
        if self.method == "gap-differences" and self.server == "trusted":
            message = "adds no noise to gap differences: a record stays in its client's sum"
            raise InvalidInput.at("/server", message, allowed="untrusted")
        given: object = self.participation
        if isinstance(given, Mapping):
            object.__setattr__(self, "participation", RunParticipation(**given))
        last = max((max(group.rounds, default=0) for group in self.taking_part.groups or ()), default=0)
        if last > self.rounds:
            raise InvalidInput.at("/participation/groups", "report beyond the last round", allowed=f"≤ {self.rounds}")

    @property
    def taking_part(self) -> RunParticipation:
        """As asked, or uniform."""
        return self.participation or RunParticipation()

    def reporting(self, clients: int) -> int:
        """m.

        Raises:
            InvalidInput: more than there are clients, or a pattern that does not fit.
        """
        reporting = self.participants or clients
        if reporting > clients:
            raise InvalidInput.at("/participants", "cannot exceed clients", allowed=f"≤ {clients}")
        self.taking_part.fits(clients, reporting)
        return reporting

    @property
    def most_reports(self) -> int:
        """K: the most reports of any client, at least 1."""
        return self.taking_part.most_reports(self.rounds)


# What the run is on a problem -----------------------------------------------------------------------------------------
def report_norm(problem: SimulatedProblem) -> float:
    """S = G + 2LD, which no report exceeds."""
    known = problem.constants
    return known.lipschitz + 2.0 * known.smoothness * known.diameter


def fresh_noise_std(problem: SimulatedProblem, run: Mu2SgdRun) -> float:
    """σ of noise that is never taken back, at the privacy that base gives to cancelled noise."""
    base = run.noise_std or 0.0
    if run.server == "trusted":
        alike = base / math.sqrt(max(run.rounds - 1, 1))
    else:
        alike = base / math.sqrt(float(digamma(run.most_reports + 1.0)) + np.euler_gamma)  # √H_K
    scale = problem.constants.lipschitz / report_norm(problem) if run.method == "noisy-sgd" else 1.0
    return alike * scale


def step_size(problem: SimulatedProblem, run: Mu2SgdRun) -> float:
    """η; of noisy SGD, where it is absent, D/(B√T) with B² the mean square of a noisy gradient at its largest.

    Raises:
        InvalidInput: it is absent, for another method.
    """
    if run.step_size is not None:
        return run.step_size
    if run.method != "noisy-sgd":
        raise InvalidInput.at("/step_size", "is needed beside noise_std", allowed=STEP_SIZE.allowed)
    known, noise = problem.constants, fresh_noise_std(problem, run)
    added = noise * noise * problem.dimension / (1 if run.server == "trusted" else run.reporting(problem.clients))
    return known.diameter / math.sqrt((known.lipschitz**2 + added) * run.rounds)


@dataclass(frozen=True)
class _Scales:
    """What the run comes to on the problem."""

    step: float
    largest: float
    """The norm that a report is scaled down to."""
    base: float
    fresh: float

    @classmethod
    def of(cls, problem: SimulatedProblem, run: Mu2SgdRun) -> _Scales:
        largest = problem.constants.lipschitz if run.method == "noisy-sgd" else report_norm(problem)
        return cls(step_size(problem, run), largest, run.noise_std or 0.0, fresh_noise_std(problem, run))


# The run ------------------------------------------------------------------------------------------------------------
class _State:
    """x, w and q of every repetition, the noise that is in q, and q without it."""

    def __init__(self, problem: SimulatedProblem, run: Mu2SgdRun, step: float, repetitions: int) -> None:
        dimension = problem.dimension
        start = np.zeros((repetitions, dimension))
        self.server = CancellingServer(start, step_size=step, project=problem.project)
        self.plain = np.zeros((repetitions, dimension))
        self.total = np.zeros((repetitions, dimension))
        trusted, gaps = run.server == "trusted", run.method == "gap-differences"
        self.clients = ClientNoise(repetitions, 0 if trusted else problem.clients, dimension)
        self.gaps = GapDifferences(repetitions, problem.clients if gaps else 0, dimension)
        self.trusted = ServerNoise(start)
        self.left = (lambda: self.trusted.held) if trusted else (lambda: self.clients.held.sum(axis=1))
        """The noise that is in q, times m where clients add it."""


def simulate(
    problem: SimulatedProblem, run: Mu2SgdRun, generators: Sequence[np.random.Generator], rounds: tuple[int, ...]
) -> Curves:
    """One repetition for each generator, side by side.

    Diagnostics: `largest_gradient_norm` and `largest_report` norm before scaling, `clipped_share` of the reports, and
    of cancelled noise `residual_noise`, the square of the noise in q at the end, and `cancellation_error`, how far q
    is from the sum of its reports plus the noise that is held, relative to the larger of both (Lemma 4.1: rounding).

    Raises:
        InvalidInput: noise is not decided, or the participation does not fit the problem.
    """
    if run.noise_std is None:
        raise InvalidInput.at("/noise_std", "is calibrated before a run")
    reporting = run.reporting(problem.clients)
    trusted = run.server == "trusted"
    scales = _Scales.of(problem, run)
    state = _State(problem, run, scales.step, len(generators))
    size = chunk_size(problem.clients, (1 if trusted else reporting) * problem.dimension)
    norms, steepest, clipped, reports = (np.zeros(len(generators)) for _ in range(4))
    measured: list[Floats] = []
    output = state.server.model
    done, last = 0, max(rounds)
    while done < last:
        drawn = draw(
            problem,
            generators,
            run.taking_part,
            first=done + 1,
            rounds=min(size, run.rounds - done),
            participants=reporting,
            noises=1 if trusted else reporting,
        )
        for place in range(min(drawn.rounds, last - done)):
            if done + place + 1 in rounds:
                output = _put_out(run, state, done + place + 1)
                measured.append(problem.excess(output))
            gradients, lengths = _round(problem, run, scales, state, drawn, place, number=done + place + 1)
            steepest = np.maximum(steepest, gradients.max(axis=1))
            norms = np.maximum(norms, lengths.max(axis=1))
            clipped += np.sum(lengths > scales.largest * (1.0 + ROUNDING), axis=1)
            reports += np.sum(drawn.present[place], axis=1)
        done += drawn.rounds
    diagnostics = {
        "largest_gradient_norm": steepest,
        "largest_report": norms,
        "clipped_share": clipped / np.maximum(reports, 1.0),
    }
    if run.method == "cancelled-noise":
        left = state.left() / (1 if trusted else reporting)
        scale = np.maximum(np.abs(state.server.sum).max(axis=1), np.abs(left).max(axis=1))
        diagnostics["residual_noise"] = np.sum(left * left, axis=1)
        diagnostics["cancellation_error"] = np.abs(state.server.sum - state.plain - left).max(axis=1) / np.maximum(
            scale, 1e-300
        )
    return Curves(
        rounds=tuple(sorted(rounds)),
        excess=np.stack(measured, axis=1),
        diagnostics=diagnostics,
        scores=problem.scores(output),
        models=output,
    )


def _put_out(run: Mu2SgdRun, state: _State, number: int) -> Floats:
    """What a run of that many rounds would put out: x, or the mean of all models so far."""
    model = state.server.model
    return (state.total + model) / number if run.method == "noisy-sgd" else model


def _round(
    problem: SimulatedProblem,
    run: Mu2SgdRun,
    scales: _Scales,
    state: _State,
    drawn: Reports,
    place: int,
    *,
    number: int,
) -> tuple[Floats, Floats]:
    """One round of all repetitions.

    The norms of the gradients and of the reports are returned, 0 of a client that does not report.
    """
    clients, present, server = drawn.clients[place], drawn.present[place], state.server
    records = problem.records(clients, drawn.places[place])
    report = problem.gradients(server.model[:, None, :], records)
    steepness = np.where(present, norms_of(report), 0.0)
    if run.method == "gap-differences":
        return steepness, _gap_round(problem, scales, state, drawn, place, report, number=number)
    if run.method != "noisy-sgd":
        report = weighted_difference(report, problem.gradients(server.before[:, None, :], records), number)
    norms = np.where(present, norms_of(report), 0.0)
    shrink = np.where(present, shrinking(norms, scales.largest), 0.0)
    plain = np.sum(report * shrink[..., None], axis=1) / clients.shape[1]
    noise = _noise(run, scales, state, drawn, place)
    if run.method == "noisy-sgd":
        state.total += server.model
        server.model = projected_step(server.model, plain + noise, scales.step, problem.project)
        return steepness, norms
    state.plain += plain
    server.receive(plain + noise, number)
    return steepness, norms


def _gap_round(
    problem: SimulatedProblem,
    scales: _Scales,
    state: _State,
    drawn: Reports,
    place: int,
    gradients: Floats,
    *,
    number: int,
) -> Floats:
    """A round of Alternative 1. Norms of the reports are returned over the rounds since the client's last one."""
    clients, present, server = drawn.clients[place], drawn.present[place], state.server
    models, last = state.gaps.kept(clients)
    gaps = number - last
    before = problem.gradients(models, problem.records(clients, drawn.places[place]))
    report = number * gradients - last[..., None] * before
    norms = np.where(present, norms_of(report) / gaps, 0.0)
    sent = report * shrinking(norms, scales.largest)[..., None]
    sent = with_noise(sent, scales.fresh * gaps[..., None], drawn.noise[place])
    mean = state.gaps.received(clients, present, sent, server.model, number)
    server.receive(mean - server.sum, number)
    return norms


def _noise(run: Mu2SgdRun, scales: _Scales, state: _State, drawn: Reports, place: int) -> Floats:
    """What is added to q in this round: (repetitions, d)."""
    normal, present = drawn.noise[place], drawn.present[place]
    trusted = run.server == "trusted"
    if run.method != "cancelled-noise":
        fresh: Floats = scales.fresh * normal
        if trusted:
            return fresh[:, 0]
        return np.asarray(np.sum(fresh * present[..., None], axis=1) / normal.shape[1])
    if trusted:
        return state.trusted.added(scales.base, normal[:, 0])
    clients = drawn.clients[place]
    added = state.clients.added(clients, present, scales.base, normal)
    return np.asarray(np.sum(added, axis=1) / clients.shape[1])


# What the witness asks ----------------------------------------------------------------------------------------------
def rounds_of(problem: SimulatedProblem, run: Mu2SgdRun) -> int:
    """T.

    Raises:
        InvalidInput: the participation does not fit the problem, or noise is given without a step.
    """
    run.reporting(problem.clients)
    if run.noise_std is not None:
        step_size(problem, run)
    return run.rounds


def work_of(problem: SimulatedProblem, run: Mu2SgdRun) -> Work:
    """Of one repetition."""
    clients, dimension = problem.clients, problem.dimension
    kept = 3.0 if run.method == "gap-differences" else 1.0
    entries = float(run.reporting(clients)) * dimension
    chunk = min(chunk_size(clients, int(entries)), run.rounds)
    return Work(
        operations=run.rounds * (4.0 * entries + 4.0 * clients),
        calls=float(NUMPY_CALLS) * run.rounds,
        bytes=8.0
        * (kept * clients * (dimension + 1.0) + 8.0 * dimension + 8.0 * entries + chunk * (3.0 * clients + entries)),
    )


def alternatives(run: Mu2SgdRun) -> Mapping[str, Mu2SgdRun]:
    """Without noise; and by the other methods at the same privacy, of which noisy SGD has a step of its own.

    Gap differences are run where they are asked for.
    """
    found = {"non-private": replace(run, noise_std=0.0)}
    if run.method != "noisy-sgd":
        others: tuple[Method, ...] = ("cancelled-noise", "independent-noise")
        found |= {other: replace(run, method=other) for other in others if other != run.method}
        found["noisy-sgd"] = replace(run, method="noisy-sgd", step_size=None)
    return found


ALGORITHM = SimulatedAlgorithm(
    name="mu2-sgd",
    title="Federated learning with noise cancellation",
    run=Mu2SgdRun,
    problems=PROBLEMS,
    simulate=simulate,
    rounds=rounds_of,
    work=work_of,
    alternatives=alternatives,
    beside=("non-private", "cancelled-noise", "independent-noise", "noisy-sgd"),
    planned=alternatives,
    titles={
        "non-private": "same steps, without noise",
        "cancelled-noise": "cancelled noise, same step",
        "independent-noise": "independent noise, same step",
        "noisy-sgd": "noisy SGD, its own step",
    },
)
