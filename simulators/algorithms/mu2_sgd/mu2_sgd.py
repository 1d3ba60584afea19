"""DP-μ²-FL of Reshef and Levy, and the methods that it is compared with at equal privacy.

In round t each client that reports draws a record and sends s = t∇f(x_t) − (t − 1)∇f(x_{t−1}), scaled down to norm S.
The server sets q ← q + (1/m) Σ s and w ← Π(w − ηq), and moves x by the share 2/(t + 2) towards w. The output after t
rounds is x_t. The methods are:

- `cancelled-noise`: a client's N-th report carries noise of variance base² N, minus the noise of its previous report
  (Algorithm 1). A trusted server adds noise of variance base² to q in every round and subtracts it in the next
  (Algorithm 2).
- `independent-noise`: fresh noise on each report, or on q, that is never subtracted.
- `noisy-sgd`: gradients with fresh noise and plain steps; the output is the mean model.
- `gap-differences` (Alternative 1, equation 12, untrusted server): with its last report in round τ, a client sends
  t∇f(x_t) − τ∇f(x_τ), scaled down to norm (t − τ)S. The fresh noise is t − τ times as large. Then q is the mean, over
  the clients that report, of the sums of their own reports.

`noise_std` is base in all of them. The other methods have noise with the same ρ as cancelled noise. A record is in one
report, so that base/√H_K suffices for a client with at most K reports, and base/√(T − 1) for a trusted server. It is
scaled to norm G for SGD, and by t − τ for gap differences.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from epsilond.accountants.errors import InvalidInput
from epsilond.simulators.algorithms.algorithm import Curves, ExcessCurve, SimulatedAlgorithm, Work
from epsilond.simulators.algorithms.mu2_sgd.participation import Reports, chunk_size, draw
from epsilond.simulators.algorithms.mu2_sgd.rounds import Scales, State, run_round
from epsilond.simulators.algorithms.mu2_sgd.run import Method, Mu2SgdRun, step_size
from epsilond.simulators.problems.kinds import PROBLEMS
from epsilond.simulators.problems.problem import Floats, SimulatedProblem

NUMPY_CALLS = 30
"""Calls of numpy in one round, approximate."""
ROUNDING = 1e-9
"""Relative excess of a report's norm that does not count as clipped; rounding in weighted differences causes it."""


def simulate(
    problem: SimulatedProblem, run: Mu2SgdRun, generators: Sequence[np.random.Generator], rounds: tuple[int, ...]
) -> Curves:
    """Simulate DP-μ²-FL (Reshef and Levy), or a method that it is compared with, once per generator.

    The server of DP-μ²-FL keeps the sum q of all mean reports with their noise. A later report cancels earlier noise.
    Other methods add independent noise of equal privacy (`fresh_noise_std`).

    Args:
        problem: learning problem.
        run: parameters of the run.
        generators: one per repetition.
        rounds: rounds after which the excess risk is measured.

    Returns:
        The measured excess risks and the last output of each repetition. The diagnostics are:
            `largest_gradient_norm`: largest norm of a record's gradient.
            `largest_report`: largest norm of a report before it is scaled down.
            `clipped_share`: fraction of the reports that are scaled down.
            `residual_noise` and `cancellation_error`: only for cancelled noise; the noise left in the server's sum, and
            the relative rounding error of the cancellation.

    Raises:
        InvalidInput: the noise is missing, or the participation does not fit the problem.
    """
    if run.noise_std is None:
        raise InvalidInput.at("/noise_std", "is calibrated before a run")
    scales = Scales.of(problem, run)
    state = State(problem, run, scales.step, len(generators))
    largest_report = np.zeros(len(generators))
    largest_gradient = np.zeros(len(generators))
    clipped_reports = np.zeros(len(generators))
    reports = np.zeros(len(generators))
    excess = ExcessCurve(problem, rounds)
    output = state.server.model
    for number, draws, round_index in _draw_rounds(problem, run, generators, last=max(rounds)):
        # The output of a run of `number` rounds is the model before the report of that round is applied.
        if number in rounds:
            output = _output_after(run, state, number)
            excess.measure(number, output)
        gradient_norms, report_norms = run_round(problem, run, scales, state, draws, round_index, number=number)
        largest_gradient = np.maximum(largest_gradient, gradient_norms.max(axis=1))
        largest_report = np.maximum(largest_report, report_norms.max(axis=1))
        # A norm that exceeds the bound only by rounding is not counted as clipped.
        clipped_reports += np.sum(report_norms > scales.largest * (1.0 + ROUNDING), axis=1)
        reports += np.sum(draws.present[round_index], axis=1)
    diagnostics = {
        "largest_gradient_norm": largest_gradient,
        "largest_report": largest_report,
        # Without any report, the share is 0/1 instead of 0/0.
        "clipped_share": clipped_reports / np.maximum(reports, 1.0),
    }
    if run.method == "cancelled-noise":
        diagnostics |= _cancellation(state, _noises_per_round(problem, run))
    return excess.curves(output, diagnostics)


def _noises_per_round(problem: SimulatedProblem, run: Mu2SgdRun) -> int:
    """Return the number of noise vectors in a round: one of a trusted server, or one for each report."""
    return 1 if run.server == "trusted" else run.reporting(problem.clients)


def _draw_rounds(
    problem: SimulatedProblem, run: Mu2SgdRun, generators: Sequence[np.random.Generator], *, last: int
) -> Iterator[tuple[int, Reports, int]]:
    """Draw the rounds of all repetitions in chunks, up to a last round.

    Args:
        problem: learning problem.
        run: parameters of the run.
        generators: one per repetition.
        last: number of the last round that is needed.

    Yields:
        The number of a round, from 1 on; the draws of its chunk; and the index of the round in the chunk.
    """
    noises = _noises_per_round(problem, run)
    # Draw as many rounds at a time as fit into a fixed memory.
    size = chunk_size(problem.clients, noises * problem.dimension)
    for offset in range(0, last, size):
        draws = draw(
            problem,
            generators,
            run.taking_part,
            first=offset + 1,
            # The last chunk may be shorter. Rounds after `last` are drawn but not used.
            rounds=min(size, run.rounds - offset),
            participants=run.reporting(problem.clients),
            noises=noises,
        )
        for round_index in range(min(draws.rounds, last - offset)):
            yield offset + round_index + 1, draws, round_index


def _output_after(run: Mu2SgdRun, state: State, number: int) -> Floats:
    """Return the models that a run of the given length outputs.

    The output is the server's model x, or for noisy SGD the mean of the models of all rounds.

    Args:
        run: parameters of the run, with its method.
        state: state before the report of the last of these rounds.
        number: number of rounds.

    Returns:
        The models of all repetitions, (repetitions, d), for d coordinates.
    """
    model = state.server.model
    return (state.total + model) / number if run.method == "noisy-sgd" else model


def _cancellation(state: State, divisor: int) -> Mapping[str, Floats]:
    """Return two diagnostics of how well the noise in the server's sum q was cancelled at the end of a run.

    The sum q consists of the reports without noise, and the noise that is left in it, the residual noise.

    Args:
        state: the state after the last round.
        divisor: number m of noise vectors in a round: the server's sum has their mean.

    Returns:
        Two values for each repetition:
            `residual_noise`: squared ℓ2 norm of the residual noise.
            `cancellation_error`: largest coordinate of q minus noiseless reports minus residual noise, relative to the
            largest coordinate of q or of the residual noise. By Lemma 4.1 of Reshef and Levy it is 0 up to rounding.
    """
    residual = state.residual_noise / divisor
    scale = np.maximum(np.abs(state.server.sum).max(axis=1), np.abs(residual).max(axis=1))
    error = np.abs(state.server.sum - state.plain - residual).max(axis=1)
    return {
        "residual_noise": np.sum(residual * residual, axis=1),
        "cancellation_error": error / np.maximum(scale, 1e-300),  # 0/1e-300 for a run in which all is 0
    }


def rounds_of(problem: SimulatedProblem, run: Mu2SgdRun) -> int:
    """Check that a run fits the problem, and return its number of rounds T.

    Args:
        problem: learning problem.
        run: the run; its noise may be unknown, and then its step size is not checked.

    Returns:
        The number of rounds T.

    Raises:
        InvalidInput: the participation does not fit the problem, or noise is given without a step size.
    """
    run.reporting(problem.clients)
    if run.noise_std is not None:
        step_size(problem, run)
    return run.rounds


def work_of(problem: SimulatedProblem, run: Mu2SgdRun) -> Work:
    """Estimate the computing work of one repetition of a run: array operations, numpy calls and memory.

    The factors are rough. `operations` counts array entries and `calls` numpy calls; `bytes` counts doubles of 8 bytes.

    Args:
        problem: learning problem.
        run: the run; its noise may be unknown.

    Returns:
        Estimated operations, numpy calls and bytes of memory.
    """
    clients, dimension = problem.clients, problem.dimension
    # Vectors that are kept of each client between its reports.
    arrays_per_client = 3.0 if run.method == "gap-differences" else 1.0
    report_entries = float(run.reporting(clients)) * dimension
    chunk_rounds = min(chunk_size(clients, int(report_entries)), run.rounds)
    # Array entries in memory: of the state, and of the random draws of some rounds.
    state_entries = arrays_per_client * clients * (dimension + 1.0) + 8.0 * dimension
    chunk_entries = chunk_rounds * (3.0 * clients + report_entries)
    return Work(
        operations=run.rounds * (4.0 * report_entries + 4.0 * clients),
        calls=float(NUMPY_CALLS) * run.rounds,
        bytes=8.0 * (state_entries + 8.0 * report_entries + chunk_entries),
    )


def alternatives(run: Mu2SgdRun) -> Mapping[str, Mu2SgdRun]:
    """Return the runs that a simulated run is compared with, by name.

    They are `non-private`, `cancelled-noise`, `independent-noise` and `noisy-sgd`, without the method of the run
    itself. A run of noisy SGD is compared with `non-private` only. The methods share `noise_std`, from which
    `fresh_noise_std` derives the noise of equal privacy. Noisy SGD gets its default step size.

    Args:
        run: the run, with known noise.

    Returns:
        Parameters of each run, by its name.
    """
    runs = {"non-private": replace(run, noise_std=0.0)}
    if run.method == "noisy-sgd":
        return runs
    methods: tuple[Method, ...] = ("cancelled-noise", "independent-noise")
    runs |= {method: replace(run, method=method) for method in methods if method != run.method}
    runs["noisy-sgd"] = replace(run, method="noisy-sgd", step_size=None)
    return runs


ALGORITHM = SimulatedAlgorithm(
    name="mu2-sgd",
    title="Federated learning with noise cancellation",
    run=Mu2SgdRun,
    problems=PROBLEMS,
    simulate=simulate,
    rounds=rounds_of,
    work=work_of,
    alternatives=alternatives,
    alternative_names=("non-private", "cancelled-noise", "independent-noise", "noisy-sgd"),
    planned_alternatives=alternatives,
    titles={
        "non-private": "same steps, without noise",
        "cancelled-noise": "cancelled noise, same step",
        "independent-noise": "independent noise, same step",
        "noisy-sgd": "noisy SGD, its own step",
    },
)
