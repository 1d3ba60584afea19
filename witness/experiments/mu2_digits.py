"""Cancelled noise on handwritten digits, compared with other algorithms (Tables 1 and 2 of Reshef and Levy).

In DP-μ²-FL each client subtracts the noise of its last report when it adds new noise to the next. The paper trains
softmax regression on MNIST with 100 clients; its times are left out. scikit-learn's digits replace MNIST: features have
norm at most 1, and the ball has the paper's diameter of 0.1 in units of features with norm at most √784 = 28. Records
are drawn anew from each client's own records, as the theorems assume, and a fifth of them is held out. DP-μ²-FL at
certified and at printed noise is compared with noisy SGD and with fresh noise at the same ρ, the μ of μ-Gaussian
differential privacy. It is also compared with Lowy and Razaviyayn's one-pass algorithm at the same ε and with the same
number of records.

The mean of m reports has noise of norm √(d/m) times that of a coordinate, where d is the number of weights. The digits
have d = 640 weights where the paper has 7,850, so that 100 clients would hide the noise, and all algorithms would be as
accurate. With 8 clients, of which 4 report, d/m is 160. In the paper it is 157.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import product

from epsilond.accountants.json_types import Fields
from epsilond.accountants.theorems.papers.reshef_levy.conversions import exact_epsilon
from epsilond.accountants.theorems.risk.reshef_levy.untrusted_server import STATED, StatedInputs
from epsilond.simulators.algorithms.mu2_sgd.run import Mu2SgdRun
from epsilond.simulators.algorithms.one_pass_accelerated_mb_sgd import OnePassAcceleratedMbSgdRun
from epsilond.simulators.problems.data_sets import DataSetProblem
from epsilond.witness.cells import CellAnswer
from epsilond.witness.experiment import Axis, Cell, Claimed, Finding, Preset, format_scientific
from epsilond.witness.findings import comparison_score, judge_pairs, judge_printed_noise, private_score
from epsilond.witness.joins.mu2_sgd import federation_fields
from epsilond.witness.risks.answer import Measured
from epsilond.witness.risks.request import RiskSimulation

MUS = (4.0, 8.0, 12.0)
SIZES = ((8, 4), (4, 2))
"""Number of clients, and number of participants in a round: half of them. The first has the paper's d/m."""
FEW_CLIENTS, MU = 6, 8.0
"""Number of clients and ρ of Table 2."""
PARTICIPANTS = {1: 20, 3: 50, 5: 80}
"""Participants in a round, with those of Table 2 for which they stand. All have equal numbers of records."""
REPORTS = 600
"""Mean number of reports of a client, as in the paper."""
RECORDS = REPORTS * FEW_CLIENTS
"""Number mT of records of all participants in Table 2."""
REPETITIONS = 30
"""Repetitions that keep most bands of the algorithms apart."""
DELTA = 1e-5
DIAMETER = 2.8
BATCH_SIZE = 10
MEASURE = "test_accuracy"
TAKEN_BACK, PRINTED, ONE_PASS = (
    "noise taken back",
    "noise taken back, printed noise",
    "Lowy and Razaviyayn, one pass",
)
PAPER_CLIENTS = 100
TABLE_1 = {
    mu: {TAKEN_BACK: {"private": own, "noisy-sgd": noisy}, ONE_PASS: {"private": other}}
    for mu, own, noisy, other in ((4.0, 0.538, 0.451, 0.476), (8.0, 0.637, 0.589, 0.633), (12.0, 0.665, 0.637, 0.667))
}
TABLE_2 = {
    participants: {TAKEN_BACK: {"private": own, "noisy-sgd": noisy}, ONE_PASS: {"private": other}}
    for participants, own, noisy, other in (
        (20, 0.608, 0.549, 0.597),
        (50, 0.637, 0.589, 0.633),
        (80, 0.638, 0.57, 0.658),
    )
}
"""Accuracies of Tables 1 and 2, by ρ and by the participants in a round."""
AHEAD = " and ".join(
    f"{symbol} = {value:g}"
    for symbol, printed in (("ρ", TABLE_1), ("m", TABLE_2))
    for value, arms in printed.items()
    if arms[ONE_PASS]["private"] > arms[TAKEN_BACK]["private"]
)
"""Settings in which the paper prints a higher accuracy for the algorithm of Lowy and Razaviyayn."""
PAPER_SPAN = 100.0 * (
    max(arms[TAKEN_BACK]["private"] for arms in TABLE_1.values())
    - min(arms[TAKEN_BACK]["private"] for arms in TABLE_1.values())
)
"""Range of the accuracies of Table 1, in percentage points."""
AS_ACCURATE = (
    "At the same privacy, and in less time, noise that is taken back is as accurate as Lowy and Razaviyayn's "
    f"algorithm (which is ahead in the paper's own tables at {AHEAD})."
)


def digits_problem(clients: int, rounds: int) -> DataSetProblem:
    """Return softmax regression on the digits, with records that are assigned to the clients at random.

    The records of a run are drawn anew from each client's own records, as the theorems assume.

    Args:
        clients: number of clients.
        rounds: number of rounds. A client gets as many records, because it uses each in at most one round.

    Returns:
        The problem; models stay in a ball, and a fifth of the records is held out for tests.
    """
    return DataSetProblem(
        data_set="digits",
        loss="softmax",
        clients=clients,
        samples_per_client=rounds,
        held_out=0.2,
        diameter=DIAMETER,
        objective="population",
    )


def build_simulations(
    clients: int, participants: int, rounds: int, mu: float, repetitions: int, seed: int
) -> dict[str, RiskSimulation]:
    """Return three simulations: the paper's algorithm with certified and with printed noise, and a rival algorithm.

    The rival is the one-pass algorithm of Lowy and Razaviyayn, with certified noise. The target of both certified runs
    is the smallest ε that μ implies at `DELTA`.

    Args:
        clients: number of clients.
        participants: clients in a round.
        rounds: number of rounds.
        mu: μ of μ-Gaussian differential privacy, which Reshef and Levy call ρ.
        repetitions: independent runs of each simulation.
        seed: seed of all randomness.

    Returns:
        The simulations by the name of the algorithm: `TAKEN_BACK`, `PRINTED` and `ONE_PASS`.
    """
    problem = digits_problem(clients, rounds)
    epsilon = _epsilon(mu)
    mu2_sgd = Mu2SgdRun(rounds=rounds, participants=participants)
    printed_run = _set_printed_noise(problem, mu2_sgd, mu)
    # The rival uses as many records in batches, and therefore fewer rounds.
    one_pass = OnePassAcceleratedMbSgdRun(rounds=rounds // BATCH_SIZE, batch_size=BATCH_SIZE, participants=participants)
    shared: Fields = {"problem": problem, "repetitions": repetitions, "seed": seed, "points": 1}
    return {
        TAKEN_BACK: RiskSimulation(run=mu2_sgd, epsilon=epsilon, delta=DELTA, **shared),
        PRINTED: RiskSimulation(run=printed_run, alternatives=(), **shared),
        ONE_PASS: RiskSimulation(run=one_pass, epsilon=epsilon, delta=DELTA, **shared),
    }


def _set_printed_noise(problem: DataSetProblem, run: Mu2SgdRun, mu: float) -> Mu2SgdRun:
    """Set the noise and the step size of a training to those that Theorem 5.2 of Reshef and Levy prints.

    Args:
        problem: the data set problem.
        run: the run without noise.
        mu: μ of μ-Gaussian differential privacy, which the paper calls ρ.

    Returns:
        A copy of the run with the standard deviation of the noise and the step size.
    """
    inputs = StatedInputs(**federation_fields(problem.build(), run), gaussian_dp_mu=mu)
    outputs = STATED.evaluate(inputs).outputs
    return replace(run, noise_std=outputs["base_std"], step_size=outputs["step_size"])


def _epsilon(mu: float) -> float:
    """Return the smallest ε that μ-Gaussian differential privacy implies at the experiment's δ."""
    return exact_epsilon(mu=mu, log_delta=math.log(DELTA))


def cells(repetitions: int, seed: int) -> tuple[Cell, ...]:
    """Return the simulations for Table 1 of Reshef and Levy: one for each μ, number of clients and algorithm.

    μ is the parameter of Gaussian differential privacy, which the paper calls ρ. Half of the clients report in a round.

    Args:
        repetitions: independent runs of each simulation.
        seed: seed of all randomness.

    Returns:
        One simulation for each combination of the values, with its position on the grid. It has the claimed ε and the
        printed accuracy, where the paper states them.
    """
    paper_clients, _ = SIZES[0]  # stands for the paper's number of clients, for which it prints accuracies
    grid = []
    for (clients, participants), mu in product(SIZES, MUS):
        # A client reports `REPORTS` times on average, for each size.
        rounds = REPORTS * clients // participants
        simulations = build_simulations(clients, participants, rounds, mu, repetitions, seed)
        for name, simulation in simulations.items():
            published = None
            if clients == paper_clients:
                published = TABLE_1[mu].get(name)
            cell = Cell(
                place={"gaussian_dp_mu": mu, "algorithm": name, "clients": clients},
                simulation=simulation,
                claimed=_claim(name, mu),
                published=published,
            )
            grid.append(cell)
    return tuple(grid)


def shared_cells(repetitions: int, seed: int) -> tuple[Cell, ...]:
    """Return the simulations for Table 2 of Reshef and Levy: one for each number of participants and algorithm.

    The table has one privacy parameter, and varies the number of clients that report in a round.

    Args:
        repetitions: independent runs of each simulation, at least 2.
        seed: seed of all randomness.

    Returns:
        One simulation for each combination of the values, with the paper's claimed ε and printed accuracy.
    """
    grid = []
    for participants, printed_participants in PARTICIPANTS.items():
        # All settings use the same number of records.
        rounds = RECORDS // participants
        simulations = build_simulations(FEW_CLIENTS, participants, rounds, MU, repetitions, seed)
        for name, simulation in simulations.items():
            cell = Cell(
                place={"participants": participants, "algorithm": name},
                simulation=simulation,
                claimed=_claim(name, MU),
                published=TABLE_2[printed_participants].get(name),
            )
            grid.append(cell)
    return tuple(grid)


def _claim(name: str, mu: float) -> Claimed | None:
    """Return the (ε, δ) that Reshef and Levy claim for the noise that they print.

    Args:
        name: name of the algorithm.
        mu: μ of μ-Gaussian differential privacy, which the paper calls ρ.

    Returns:
        The smallest ε that μ implies, with the experiment's δ. None for certified noise, which needs no claim.
    """
    if name != PRINTED:
        return None
    return Claimed(epsilon=_epsilon(mu), delta=DELTA)


def judge(answers: Sequence[CellAnswer]) -> tuple[Finding, ...]:
    """Judge the claims of Reshef and Levy on accuracy and privacy by measured accuracies and certified ε.

    In their algorithm a client's next report takes back the noise of its last one. Algorithms are compared at equal
    settings, that is, equal privacy and equal numbers of clients.

    Args:
        answers: results of the experiment, one for each setting and algorithm.

    Returns:
        One finding for each of the paper's claims. Times are not measured.
    """
    cancelled_cells = [cell for cell in answers if cell.place["algorithm"] == TAKEN_BACK]
    one_pass_cells = [cell for cell in answers if cell.place["algorithm"] == ONE_PASS]
    read_private = private_score(MEASURE)
    read_noisy_sgd = comparison_score("noisy-sgd", MEASURE)
    read_independent = comparison_score("independent-noise", MEASURE)
    scores = [read_private(cell) for cell in cancelled_cells]
    noisy_sgd = [read_noisy_sgd(cell) for cell in cancelled_cells]
    independent = [read_independent(cell) for cell in cancelled_cells]
    one_pass = [read_private(cell) for cell in one_pass_cells]

    remark = (
        "The paper runs their algorithm for several passes, and measures times. Over the settings here the accuracy of"
        f" noise that is taken back varies by {_span(scores):.1f} points. In the paper's Table 1 it varies by"
        f" {PAPER_SPAN:.1f}."
    )
    return (
        _judge_scores(
            "At the same privacy noise that is taken back is more accurate than noisy SGD.", scores, noisy_sgd
        ),
        _judge_scores(
            "At the same privacy noise that is taken back is more accurate than noise that stays.",
            scores,
            independent,
            name="noise that stays",
        ),
        _judge_scores(AS_ACCURATE, scores, one_pass, name="Lowy and Razaviyayn's one-pass algorithm", remark=remark),
        judge_printed_noise(answers, "The printed noise is private at the ε of its ρ."),
    )


def _judge_scores(
    claim: str,
    scores: Sequence[Measured | None],
    other_scores: Sequence[Measured | None],
    *,
    name: str = "noisy SGD",
    remark: str | None = None,
) -> Finding:
    """Judge whether the paper's algorithm is more accurate than another one in the same settings.

    Its clients take back the noise of their last report when they add new noise to the next.

    Args:
        claim: the paper's claim in words.
        scores: accuracies of the paper's algorithm; None where there is none.
        other_scores: accuracies of the other algorithm, in the same settings.
        name: name of the other algorithm.
        remark: sentences to add to the finding. With a remark, the claim is only that the accuracy is no worse.

    Returns:
        The claim with its verdict, from the confidence bands of the accuracies.
    """
    all_pairs = zip(scores, other_scores, strict=True)
    pairs = [(score, other_score) for score, other_score in all_pairs if score and other_score]
    finding = judge_pairs(
        claim,
        pairs,
        names=("noise that is taken back", name),
        quantity="held-out accuracy",
        lower_is_better=False,
        no_worse=remark is not None,
    )
    if remark is None:
        return finding
    return replace(finding, words=f"{finding.words} {remark}")


def _span(scores: Sequence[Measured | None]) -> float:
    """Return the difference between the largest and the smallest mean score, in percentage points; 0 without scores."""
    means = [measured.mean for measured in scores if measured is not None]
    if not means:
        return 0.0
    return 100.0 * (max(means) - min(means))


STANDS_IN = (
    "Stand-in for {table}: softmax regression on MNIST's 60000 images of 784 pixels. It tests the claims that noise "
    "that is taken back is more accurate than noisy SGD, and as accurate as Lowy and Razaviyayn's algorithm. Used "
    "instead of the images are 1797 of scikit-learn's digits of 64 pixels, with a fifth of each client's held out. "
    "They are few, so records are drawn anew from a client's share where the paper uses each once. {sizes} The model "
    "is the same, softmax regression in a ball, and the ball is as large against the features' norm as the paper's. "
    "Steps are those of the theorems. Lowy and Razaviyayn's algorithm is their one-pass algorithm; the paper runs one "
    "that uses its samples again. The paper's figures for MNIST are shown with the measured ones; its running times "
    "are left out. The protected unit is one record, against a server that sees all messages. ρ is the parameter of "
    "Gaussian differential privacy, and an ε of dozens protects little."
)
EPSILON_LIST = ", ".join(f"{_epsilon(mu):.3g}" for mu in MUS)
LINES = Axis(name="algorithm", title="at the same ε")
PRESET = Preset(
    name="mu2-digits",
    title="Noise that is taken back, on handwritten digits: accuracy over ρ",
    summary="softmax regression by DP-μ²-FL, noisy SGD, fresh noise and a one-pass algorithm, with 8 and 4 clients",
    source="Reshef and Levy, Table 1",
    across=Axis(name="gaussian_dp_mu", title=f"ρ of each record (ε at δ = {format_scientific(DELTA)}: {EPSILON_LIST})"),
    lines=LINES,
    panels=Axis(name="clients", title="clients"),
    repetitions=REPETITIONS,
    cells=cells,
    judge=judge,
    measure=MEASURE,
    stands_in_for=STANDS_IN.format(
        table="Table 1 (accuracy over ρ)",
        sizes="There are 8 clients for the paper's 100, and 4 of them in a round for its 50. The norm of the noise of "
        "a mean report, relative to a gradient, is then that of the paper, because the model has 640 weights for its "
        "7850. A second panel has 4 clients, where noise is larger.",
    ),
)
SHARED_PRESET = Preset(
    name="mu2-digits-participants",
    title="Noise that is taken back, on handwritten digits: accuracy over the clients in a round",
    summary=f"the same at ρ = {MU:g} with {FEW_CLIENTS} clients, of which 1, 3 or 5 report in a round",
    source="Reshef and Levy, Table 2",
    across=Axis(name="participants", title=f"clients in a round, of {FEW_CLIENTS}"),
    lines=LINES,
    repetitions=REPETITIONS,
    cells=shared_cells,
    judge=judge,
    measure=MEASURE,
    stands_in_for=STANDS_IN.format(
        table="Table 2 (accuracy over the clients in a round)",
        sizes=f"There are {FEW_CLIENTS} clients for the paper's 100, because the model has 640 weights for its 7850. "
        "Of them 1, 3 or 5 report in a round, for its 20, 50 or 80.",
    ),
)
