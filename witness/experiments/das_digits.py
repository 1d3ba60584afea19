"""Das et al.'s experiments on digits: integer noise on normalised updates against what it is compared with.

Softmax on ten digits, one client's whole data protected. The first experiment sets truncated discrete Laplace noise
beside Binomial noise, normalised updates beside clipped ones, and noise of each client beside noise of a server that is
trusted, which moves the mean of r messages by Δ∞ = 2s/r at most. The second has no noise: normalised updates beside
FedAvg, on records dealt at random and sorted by digit.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import replace
from decimal import ROUND_CEILING, Context
from typing import Any

from epsilond.accountants.json_types import Fields
from epsilond.accountants.theorems.mechanisms.binomial import binomial_bits
from epsilond.simulators.algorithms.fedavg import FedavgRun
from epsilond.simulators.algorithms.grid_fedavg import GridFedavgRun
from epsilond.simulators.algorithms.norm_fedavg import NormFedavgRun
from epsilond.simulators.problems.data_sets import DataSetProblem, Split
from epsilond.witness.cells import CellAnswer
from epsilond.witness.experiment import Axis, Cell, Claimed, Finding, Preset, format_scientific
from epsilond.witness.findings import comparison_score, judge_pairs, judge_trend, private_score
from epsilond.witness.joins.grid_fedavg import binomial_trials
from epsilond.witness.joins.norm_fedavg import printed_log_delta
from epsilond.witness.risks.answer import Measured
from epsilond.witness.risks.measurement import RiskSimulation
from epsilond.witness.tally import Tally

EPSILONS = (8.0, 16.0, 32.0, 100.0, 300.0)
DELTA = 1e-5
CLIENTS, ROUNDS, LOCAL_STEPS, LEVELS = 50, 16, 2, 16
CLIPPING_NORM = 0.4
"""About a client's update in the first rounds; later ones are shorter."""
LOCAL_STEP = 1.0
STEPS = (0.3, 1.0, 3.0)
"""How far the server moves in a round on unit messages that agree, at most."""
ACCURACY, WHAT = "test_accuracy", "accuracy"
TARGETS = ("value of ε", "values of ε")
QTDL, BINOMIAL, CLIPPED = "QTDL, normalised", "Binomial, normalised", "QTDL, clipped"
SERVER, SERVER_CLIPPED = "server's noise, normalised", "server's noise, clipped"
ARMS = (QTDL, BINOMIAL, CLIPPED, SERVER, SERVER_CLIPPED)
SHAPE: Fields = {
    "participants": CLIENTS,
    "rounds": ROUNDS,
    "local_steps": LOCAL_STEPS,
    "local_step_size": LOCAL_STEP,
    "quantization_levels": LEVELS,
}
DIMENSION = 640
DIGITS = (
    " The paper trains networks on CIFAR-10 and FMNIST, on batches with momentum. No package ships the images, and the"
    " theorems ask for convex losses and full local gradients: here is a softmax model of 640 weights on 1797 of"
    " scikit-learn's digits, dealt to 50 clients, a fifth of them held out."
)
NOISE_STANDS_FOR = (
    "Stands for Tables 2 to 5, experiments (i) to (iii): integer noise beside Binomial noise, and normalised updates"
    " beside clipped ones, with the clients' noise and with a server's."
    + DIGITS
    + " The paper does not state the quantiser's levels"
    f" and the rounds of (ii) and (iii): they are {LEVELS} and {ROUNDS} here. Protected are all of a client's data."
    " `QTDL` is truncated discrete Laplace noise on quantised updates, added by every client; the server's noise is"
    " added once to the sum of the messages by a server that is trusted to, which moves their mean by Δ∞ = 2s/r at"
    " most. Binomial noise is that of cpSGD's theorem, composed over rounds. `as-printed` is the noise of the paper's"
    " Theorem 1."
)
PLAIN_STANDS_FOR = (
    "Stands for Table 6, experiment (iv): updates scaled to length one beside FedAvg's own, without noise."
    + DIGITS
    + " Dealt"
    " at random (`iid`) and sorted by digit (`by-label`), half of the clients in a round."
)


def problem(split: Split = "iid") -> DataSetProblem:
    """The digits of 50 clients."""
    return DataSetProblem(data_set="digits", loss="softmax", clients=CLIENTS, split=split, held_out=0.2, diameter=100.0)


def noisy_cells(repetitions: int, seed: int, *, epsilons: Sequence[float]) -> tuple[Cell, ...]:
    """One for each arm, ε and step."""
    return tuple(
        _noisy(arm, epsilon, step, repetitions, seed) for arm in ARMS for epsilon in epsilons for step in STEPS
    )


def _noisy(arm: str, epsilon: float, step: float, repetitions: int, seed: int) -> Cell:
    if arm == QTDL:
        run: Any = NormFedavgRun(**SHAPE, server_step_size=step)
    elif arm == BINOMIAL:
        trials = binomial_trials(DIMENSION, LEVELS, ROUNDS, epsilon, DELTA)
        run = GridFedavgRun(**SHAPE, server_step_size=step, trials=trials)
    else:
        clipped = arm in (CLIPPED, SERVER_CLIPPED)
        run = GridFedavgRun(
            **SHAPE,
            server_step_size=step / CLIPPING_NORM if clipped else step,
            scaling="clipped" if clipped else "normalised",
            clipping_norm=CLIPPING_NORM if clipped else None,
            noise_at="clients" if arm == CLIPPED else "server",
        )
    given = arm == BINOMIAL
    return Cell(
        place={"arm": arm, "epsilon": epsilon, "step": step},
        simulation=RiskSimulation(
            run=run,
            problem=problem(),
            epsilon=None if given else epsilon,
            delta=None if given else DELTA,
            repetitions=repetitions,
            seed=seed,
            points=1,
            alternatives=("non-private", "as-printed") if arm == QTDL else (),
        ),
        claimed=Claimed(epsilon=epsilon, delta=DELTA) if given else None,
    )


def judge_noise(cells: Sequence[CellAnswer]) -> tuple[Finding, ...]:
    """The paper's claims of the noise and of normalising."""
    by_arm = {arm: _of(cells, arm) for arm in ARMS}

    def more(claim: str, first: str, second: str) -> Finding:
        pairs = list(zip(by_arm[first], by_arm[second], strict=True))
        return judge_pairs(claim, pairs, names=(first, second), quantity=WHAT, lower_is_better=False)

    limited = {
        cell.place["epsilon"]
        for cell in cells
        if cell.place["arm"] == BINOMIAL
        and cell.epsilon is not None
        and cell.epsilon.upper < 0.99 * float(cell.place["epsilon"])
    }
    fair = [cell for cell in cells if cell.place["epsilon"] not in limited]
    noise = judge_pairs(
        "Truncated discrete Laplace noise is more accurate than Binomial noise.",
        list(zip(_of(fair, QTDL), _of(fair, BINOMIAL), strict=True)),
        names=(QTDL, BINOMIAL),
        quantity=WHAT,
        lower_is_better=False,
    )
    limit = (
        f" {len(limited)} larger ε are left out: the Binomial theorem, proved up to ε = 1 a round, asks for more noise"
        " there than they need."
    )
    return (
        replace(noise, words=noise.words + (limit if limited else "")),
        _bits(cells, limited),
        more("Normalised updates are more accurate than clipped ones, with the clients' noise.", QTDL, CLIPPED),
        more(
            "Normalised updates are more accurate than clipped ones, with the server's noise.", SERVER, SERVER_CLIPPED
        ),
        judge_trend("Accuracy grows with ε.", [by_arm[arm] for arm in ARMS], quantity=WHAT, lower_is_better=False),
        *_printed(cells),
    )


def _of(cells: Sequence[CellAnswer], arm: str) -> list[Measured]:
    """Accuracies of an arm, by ascending ε."""
    read = private_score(ACCURACY)
    return [measured for cell in cells if cell.place["arm"] == arm and (measured := read(cell)) is not None]


def _bits(cells: Sequence[CellAnswer], limited: Collection[object]) -> Finding:
    """Bits of a coordinate of a message."""
    claim = "Truncated discrete Laplace noise needs fewer bits than Binomial noise."
    few = [(2 * (LEVELS + cell.parameters.noise_levels)).bit_length() for cell in cells if cell.place["arm"] == QTDL]
    many = [binomial_bits(LEVELS, cell.parameters.trials) for cell in cells if cell.place["arm"] == BINOMIAL]
    fewer = sum(one < other for one, other in zip(few, many, strict=True))
    told = ", ".join(f"{one} against {other}" for one, other in zip(few, many, strict=True))
    words = f"Bits of each coordinate, from the least ε to the largest: {told}."
    if limited:
        words += f" At the {len(limited)} larger ε the Binomial theorem asks for more noise than they need."
    more = sum(one > other for one, other in zip(few, many, strict=True))
    tally = Tally(holds=fewer, fails=more, of=len(few), noun=TARGETS, open_where="they need as many")
    return tally.finding(claim, words)


def _printed(cells: Sequence[CellAnswer]) -> tuple[Finding, ...]:
    """What the printed noise guarantees, and how accurate it is."""
    claim = "The printed truncated noise is private at the target."
    own = [cell for cell in cells if cell.place["arm"] == QTDL and cell.parameters.printed_noise_levels is not None]
    told = []
    for cell in own:
        found = printed_log_delta(problem().build(), cell.parameters, float(cell.place["epsilon"]))
        told.append((cell.place["epsilon"], min(0.0, found)))
    if not told:
        return ()
    false = [epsilon for epsilon, log_delta in told if log_delta > math.log(DELTA)]
    listed = ", ".join(f"{_delta(log_delta)} at ε = {epsilon:g}" for epsilon, log_delta in told)
    accuracy = comparison_score("as-printed", ACCURACY)
    means = [measured.mean for cell in own if (measured := accuracy(cell)) is not None]
    words = f"Its δ is at least {listed}, where {format_scientific(DELTA)} is asked. It reaches an accuracy of "
    words += ", ".join(f"{mean:.3g}" for mean in means) + "."
    tally = Tally(
        holds=0, fails=len(false), of=len(told), universal=True, noun=TARGETS, open_where="its lower end of δ is below"
    )
    return (tally.finding(claim, words),)


def _delta(log_delta: float) -> str:
    """δ, and next to 1 what is missing to it."""
    missing = -math.expm1(log_delta)
    if missing > 1e-3:
        return f"{math.exp(log_delta):.3g}"
    if missing <= 0.0:
        return "1 to all digits of a double"
    return f"1 − {float(Context(prec=1, rounding=ROUND_CEILING).create_decimal(missing)):.0e}"


# Without noise --------------------------------------------------------------------------------------------------------
NORMALISED, PLAIN = "NormFedAvg", "FedAvg"
SPLITS: tuple[Split, ...] = ("iid", "by-label")
LOCAL = (1, 3, 8)
PLAIN_STEPS = (1.0, 4.0, 16.0, 64.0, 256.0)
"""Of a client's step in FedAvg, and of the server's in NormFedAvg."""


def plain_cells(repetitions: int, seed: int) -> tuple[Cell, ...]:
    """One for each split, algorithm, number of local steps and step."""
    return tuple(
        Cell(
            place={"split": split, "arm": arm, "local_steps": local, "step": step},
            simulation=RiskSimulation(
                run=_plain(arm, local, step), problem=problem(split), repetitions=repetitions, seed=seed, points=1
            ),
        )
        for split in SPLITS
        for arm in (NORMALISED, PLAIN)
        for local in LOCAL
        for step in PLAIN_STEPS
    )


def _plain(arm: str, local: int, step: float) -> Any:
    shape: Fields = {"participants": CLIENTS // 2, "rounds": ROUNDS, "local_steps": local}
    if arm == PLAIN:
        return FedavgRun(**shape, local_step_size=LOCAL_STEP * step)
    return NormFedavgRun(**shape, local_step_size=LOCAL_STEP, server_step_size=step, noise_levels=0)


def judge_plain(cells: Sequence[CellAnswer]) -> tuple[Finding, ...]:
    """Whether normalising costs accuracy."""
    read = private_score(ACCURACY)

    def of(arm: str, split: str) -> list[Measured]:
        chosen = [cell for cell in cells if cell.place["arm"] == arm and cell.place["split"] == split]
        return [measured for cell in chosen if (measured := read(cell)) is not None]

    return tuple(
        judge_pairs(
            f"Normalising updates costs no accuracy, on records dealt {words}.",
            list(zip(of(NORMALISED, split), of(PLAIN, split), strict=True)),
            names=(NORMALISED, PLAIN),
            quantity=WHAT,
            lower_is_better=False,
            no_worse=True,
        )
        for split, words in zip(SPLITS, ("at random", "by digit"), strict=True)
    )


TUNED = Axis(name="step", title="step size", scale="log")


def _noise_preset(name: str, title: str, *, epsilons: Sequence[float], repetitions: int) -> Preset:
    return Preset(
        name=name,
        title=title,
        summary="accuracy with truncated Laplace or Binomial noise, normalised or clipped, of clients or server",
        source="Das et al., Tables 2 to 5",
        stands_in_for=NOISE_STANDS_FOR,
        across=Axis(
            name="epsilon", title=f"ε of each client's data at δ = {format_scientific(DELTA)}, all rounds", scale="log"
        ),
        lines=Axis(name="arm", title="noise certified"),
        tuned=TUNED,
        measure=ACCURACY,
        repetitions=repetitions,
        cells=lambda count, seed: noisy_cells(count, seed, epsilons=epsilons),
        judge=judge_noise,
    )


PRESETS: tuple[Preset, ...] = (
    _noise_preset("das-noise", "Digits by quantised updates with integer noise", epsilons=EPSILONS, repetitions=6),
    _noise_preset(
        "das-noise-short", "Quantised updates at one value of ε: a first look", epsilons=(100.0,), repetitions=2
    ),
    Preset(
        name="das-normalised",
        title="Digits by NormFedAvg and FedAvg, without noise",
        summary="accuracy of normalised updates beside FedAvg over local steps, on like and on unlike clients",
        source="Das et al., Table 6",
        stands_in_for=PLAIN_STANDS_FOR,
        across=Axis(name="local_steps", title="local steps in a round", scale="log"),
        lines=Axis(name="arm", title="algorithm"),
        panels=Axis(name="split", title="records dealt"),
        tuned=TUNED,
        measure=ACCURACY,
        repetitions=6,
        cells=plain_cells,
        judge=judge_plain,
    ),
)
