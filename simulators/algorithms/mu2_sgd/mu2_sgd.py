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

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from epsilond.accountants.errors import InvalidInput
from epsilond.simulators.algorithms.algorithm import Curves, SimulatedAlgorithm, Work
from epsilond.simulators.algorithms.mu2_sgd.participation import chunk_size, draw
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
    """Run one repetition per generator.

    Args:
        problem: learning problem.
        run: parameters of the run.
        generators: one per repetition.
        rounds: rounds after which the excess risk is measured.

    Returns:
        The measured curves. Diagnostics are `largest_gradient_norm`, the norm `largest_report` before scaling and the
        `clipped_share` of the reports. Cancelled noise adds `residual_noise`, the squared norm of the noise in q at the
        end, and `cancellation_error`. The latter is the distance between q and the sum of reports and present noise,
        relative to the larger of both. By Lemma 4.1 it is 0 up to rounding.

    Raises:
        InvalidInput: the noise is missing, or the participation does not fit the problem.
    """
    if run.noise_std is None:
        raise InvalidInput.at("/noise_std", "is calibrated before a run")
    reporting = run.reporting(problem.clients)
    is_trusted = run.server == "trusted"
    scales = Scales.of(problem, run)
    state = State(problem, run, scales.step, len(generators))
    size = chunk_size(problem.clients, (1 if is_trusted else reporting) * problem.dimension)
    norms, steepest, clipped_counts, reports = (np.zeros(len(generators)) for _ in range(4))
    measured: list[Floats] = []
    output = state.server.model
    offset, last = 0, max(rounds)
    while offset < last:
        draws = draw(
            problem,
            generators,
            run.taking_part,
            first=offset + 1,
            rounds=min(size, run.rounds - offset),
            participants=reporting,
            noises=1 if is_trusted else reporting,
        )
        for place in range(min(draws.rounds, last - offset)):
            number = offset + place + 1
            if number in rounds:
                output = _output(run, state, number)
                measured.append(problem.excess(output))
            gradients, lengths = run_round(problem, run, scales, state, draws, place, number=number)
            steepest = np.maximum(steepest, gradients.max(axis=1))
            norms = np.maximum(norms, lengths.max(axis=1))
            clipped_counts += np.sum(lengths > scales.largest * (1.0 + ROUNDING), axis=1)
            reports += np.sum(draws.present[place], axis=1)
        offset += draws.rounds
    diagnostics = {
        "largest_gradient_norm": steepest,
        "largest_report": norms,
        "clipped_share": clipped_counts / np.maximum(reports, 1.0),
    }
    if run.method == "cancelled-noise":
        diagnostics |= _cancellation(state, 1 if is_trusted else reporting)
    return Curves(
        rounds=tuple(sorted(rounds)),
        excess=np.stack(measured, axis=1),
        diagnostics=diagnostics,
        scores=problem.scores(output),
        models=output,
    )


def _output(run: Mu2SgdRun, state: State, number: int) -> Floats:
    """Return the output of a run of `number` rounds: x, or the mean of the models for noisy SGD."""
    model = state.server.model
    return (state.total + model) / number if run.method == "noisy-sgd" else model


def _cancellation(state: State, divisor: int) -> Mapping[str, Floats]:
    """Return the diagnostics of the noise in q at the end of a run."""
    residual = state.residual_noise / divisor
    scale = np.maximum(np.abs(state.server.sum).max(axis=1), np.abs(residual).max(axis=1))
    error = np.abs(state.server.sum - state.plain - residual).max(axis=1)
    return {
        "residual_noise": np.sum(residual * residual, axis=1),
        "cancellation_error": error / np.maximum(scale, 1e-300),
    }


def rounds_of(problem: SimulatedProblem, run: Mu2SgdRun) -> int:
    """Return the number of rounds T.

    Raises:
        InvalidInput: the participation does not fit the problem, or noise is given without a step.
    """
    run.reporting(problem.clients)
    if run.noise_std is not None:
        step_size(problem, run)
    return run.rounds


def work_of(problem: SimulatedProblem, run: Mu2SgdRun) -> Work:
    """Estimate the work of one repetition."""
    clients, dimension = problem.clients, problem.dimension
    arrays_per_client = 3.0 if run.method == "gap-differences" else 1.0
    entries = float(run.reporting(clients)) * dimension
    chunk = min(chunk_size(clients, int(entries)), run.rounds)
    state = arrays_per_client * clients * (dimension + 1.0) + 8.0 * dimension
    return Work(
        operations=run.rounds * (4.0 * entries + 4.0 * clients),
        calls=float(NUMPY_CALLS) * run.rounds,
        bytes=8.0 * (state + 8.0 * entries + chunk * (3.0 * clients + entries)),
    )


def alternatives(run: Mu2SgdRun) -> Mapping[str, Mu2SgdRun]:
    """Return the run without noise, and the other methods at equal privacy; noisy SGD has its own default step.

    Gap differences are run only if they are requested as the method.
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
