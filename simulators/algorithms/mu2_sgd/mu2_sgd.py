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
from epsilond.simulators.algorithms.mu2_sgd.participation import Reports, chunk_size, draw_reports
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

    DP-μ²-FL is private federated learning in which later noise cancels earlier noise in the server's sum of reports.
    The other methods add independent noise of equal privacy.

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
            `residual_noise` and `cancellation_error`: only for cancelled noise; the squared norm of the noise left in
            the server's sum, and the relative rounding error of the cancellation.

    Raises:
        InvalidInput: the noise or the step size is missing, or the participation does not fit the problem.
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
    """Return the number of noise vectors in a round: 1 if a trusted server adds the noise, otherwise one per report."""
    return 1 if run.server == "trusted" else run.reporting(problem.clients)


def _draw_rounds(
    problem: SimulatedProblem, run: Mu2SgdRun, generators: Sequence[np.random.Generator], *, last: int
) -> Iterator[tuple[int, Reports, int]]:
    """Draw the clients, records and noise of all rounds up to a last one, many rounds at a time.

    Args:
        problem: learning problem.
        run: parameters of the run.
        generators: one per repetition.
        last: number of the last round that is needed.

    Yields:
        For each round its number, from 1 on; the random draws of a chunk of rounds; and the index of the round in it.
    """
    noises = _noises_per_round(problem, run)
    size = chunk_size(problem.clients, noises * problem.dimension)
    for offset in range(0, last, size):
        draws = draw_reports(
            problem,
            generators,
            run.taking_part,
            first=offset + 1,
            # The size of a chunk does not depend on `last`, so that a repetition has the same draws for every `last`.
            rounds=min(size, run.rounds - offset),
            participants=run.reporting(problem.clients),
            noises=noises,
        )
        for round_index in range(min(draws.rounds, last - offset)):
            yield offset + round_index + 1, draws, round_index


def _output_after(run: Mu2SgdRun, state: State, number: int) -> Floats:
    """Return the output of a run that ends with a given round: the server's model, or for noisy SGD the mean model.

    Args:
        run: parameters of the run, with its method.
        state: state before the reports of this round are applied.
        number: number of the round, from 1 on.

    Returns:
        The models of all repetitions, (repetitions, d), for d coordinates.
    """
    model = state.server.model
    return (state.total + model) / number if run.method == "noisy-sgd" else model


def _cancellation(state: State, divisor: int) -> Mapping[str, Floats]:
    """Return two diagnostics of how well the noise in the server's sum q was cancelled at the end of a run.

    By Lemma 4.1 of Reshef and Levy, q is the sum of the mean reports without noise, plus the residual noise. The
    residual noise is only the noise that no later report has cancelled.

    Args:
        state: the state after the last round.
        divisor: number m of noise vectors in a round; q has their mean.

    Returns:
        Two values for each repetition:
            `residual_noise`: squared ℓ2 norm of the residual noise.
            `cancellation_error`: largest absolute coordinate of the difference of both sides, relative to the largest
            one of q or of the residual noise. It is 0 up to rounding.
    """
    residual = state.residual_noise / divisor
    scale = np.maximum(np.abs(state.server.sum).max(axis=1), np.abs(residual).max(axis=1))
    error = np.abs(state.server.sum - state.plain - residual).max(axis=1)
    return {
        "residual_noise": np.sum(residual * residual, axis=1),
        "cancellation_error": error / np.maximum(scale, 1e-300),  # 0 instead of 0/0 if all coordinates are 0
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
    """Estimate the computing work of one repetition of a run.

    The factors are rough estimates of the number of arrays of each size that a round reads, writes or keeps.

    Args:
        problem: learning problem.
        run: the run; its noise may be unknown.

    Returns:
        The number of array entries that are computed or drawn, of numpy calls, and of bytes of memory.
    """
    clients, dimension = problem.clients, problem.dimension
    # Vectors that are kept of each client between its reports.
    arrays_per_client = 3.0 if run.method == "gap-differences" else 1.0
    report_entries = float(run.reporting(clients)) * dimension  # one vector per report of a round
    chunk_rounds = min(chunk_size(clients, int(report_entries)), run.rounds)
    state_entries = arrays_per_client * clients * (dimension + 1.0) + 8.0 * dimension
    chunk_entries = chunk_rounds * (3.0 * clients + report_entries)  # random numbers, drawn for many rounds at once
    return Work(
        operations=run.rounds * (4.0 * report_entries + 4.0 * clients),
        calls=float(NUMPY_CALLS) * run.rounds,
        bytes=8.0 * (state_entries + 8.0 * report_entries + chunk_entries),
    )


def alternatives(run: Mu2SgdRun) -> Mapping[str, Mu2SgdRun]:
    """Return the runs that a simulated run is compared with, at equal privacy or without noise.

    A run of noisy SGD is compared only with itself without noise. Other runs are also compared with cancelled and with
    independent noise (except the run's own method), and with noisy SGD at its default step size.

    Args:
        run: the run, with known noise.

    Returns:
        Parameters of each run, by its name. All have the `noise_std` of the run, except `non-private` with 0. From it
        each method derives its noise of equal privacy.
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
