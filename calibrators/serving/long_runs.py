"""Warn of answers with a run that is too long or too costly to be carried out, and name the best shorter run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from epsilond.calibrators.serving.values import Caution

if TYPE_CHECKING:
    from epsilond.calibrators.answer import Communication, FrontierRun
    from epsilond.calibrators.dp_fedavg.rounds import RoundsRun

LONG_RUN = "long-run"
"""Code of the warning."""
LONG_ROUNDS = 10_000
"""Rounds above which an answer warns. At one minute a round, 10,000 rounds take a week."""
LONG_BITS = 10**9
"""Bits per client above which an answer warns. 1 Gbit is 125 MB, hours of upload on a mobile link of 100 kbit/s."""
SHORT_ROUNDS = 1_000
"""Most rounds of the run that is named instead. Published cross-device runs take a few hundred to a few thousand."""
GIGABIT = 1e9
"""Bits in the unit of traffic of the message."""


@dataclass(frozen=True, kw_only=True)
class RunFigures:
    """A run as the warning of a long run describes it.

    Attributes:
        rounds: number of rounds.
        batch_size: records in a batch; None if the compared runs do not differ in it.
        quality: bound on the excess risk, or on its ratio to that of the initial model (`remaining_share`). A smaller
            value is better.
        quality_name: words before the quality in the message.
        bits_per_client: bits that a client sends if it reports in every round.
        certified: whether the noise of the run is certified; otherwise it is an estimate.
        chosen: whether it is the run of the answer.
        vacuous: whether its bound is not below that of the initial model.
    """

    rounds: int
    batch_size: int | None
    quality: float
    quality_name: str
    bits_per_client: float
    certified: bool
    chosen: bool
    vacuous: bool

    @property
    def is_long(self) -> bool:
        """True if the run has more than `LONG_ROUNDS` rounds or sends more than `LONG_BITS` bits per client."""
        return is_long(self.rounds, self.bits_per_client)

    def __str__(self) -> str:
        """Describe the rounds, the batch size, the quality and the traffic of the run in phrases with commas.

        The quality is a bound on the risk, or on its ratio to the initial one. The text says if this bound is not
        below that of the initial model, and if the traffic exceeds the limit above which a run is called long.
        """
        batch = "" if self.batch_size is None else f", batch_size = {self.batch_size}"
        about = "" if self.certified else "about "
        useless = ", no better than the start" if self.vacuous else ""
        gigabits = f"{self.bits_per_client / GIGABIT:.3g} Gbit per client"
        excess = f", still above {LONG_BITS / GIGABIT:g} Gbit" if self.bits_per_client > LONG_BITS else ""
        return (
            f"rounds = {self.rounds}{batch}, {self.quality_name} {about}{self.quality:.4g}{useless}, {gigabits}{excess}"
        )


def is_long(rounds: int, bits_per_client: float) -> bool:
    """Return whether a run has more than `LONG_ROUNDS` rounds, or more than `LONG_BITS` bits of traffic per client."""
    return rounds > LONG_ROUNDS or bits_per_client > LONG_BITS


def long_run_cautions(
    problem: object,
    parameters: object,
    communication: Communication | None,
    frontier: Sequence[FrontierRun] | None,
) -> Iterator[Caution]:
    """Warn that the chosen run is long, in rounds or in traffic, and name the best shorter run.

    Nothing is yielded if the request fixes the run, or if the run is short. A shorter run with noise that is not
    certified is called an estimate.

    Args:
        problem: the request, in which the rounds or the batch size may be open (None).
        parameters: the parameters of the answer.
        communication: the traffic of the run.
        frontier: the runs that were compared by their risk. If it is None, runs were compared by their noise, and
            `parameters` has them.

    Yields:
        At most one warning.
    """
    rounds = getattr(parameters, "rounds", None)
    if rounds is None or communication is None or not _leaves_run_open(problem):
        return

    if frontier is None:
        runs = [_describe_by_noise(run) for run in getattr(parameters, "frontier", None) or ()]
    else:
        runs = [_describe_by_risk(run) for run in frontier]
    chosen = next((run for run in runs if run.chosen), None)
    bits = chosen.bits_per_client if chosen else communication.bits_per_round_per_client * rounds

    if is_long(rounds, bits):
        shorter = _choose_best_shorter(runs, bits)
        yield Caution(code=LONG_RUN, message=_describe_long_run(problem, rounds, bits, shorter))


def _describe_long_run(problem: object, rounds: int, bits: float, shorter: RunFigures | None) -> str:
    """Write the warning of a long run: its size, and the best shorter run or other advice.

    Args:
        problem: the request, which may fix the rounds.
        rounds: rounds of the answer.
        bits: bits that a client sends if it reports in all of these rounds.
        shorter: the best shorter run, if there is one.

    Returns:
        Two or three sentences, without the last full stop.
    """
    count = "1 round" if rounds == 1 else f"{rounds} rounds"
    need = f"the answer needs {count} and {bits / GIGABIT:.3g} Gbit per client that reports in every round"
    if shorter is None:
        return f"{need}. {_write_advice(problem, rounds, bits)}"
    if shorter.certified:
        return f"{need}. The best certified run within {SHORT_ROUNDS} rounds has {shorter}"
    return (
        f"{need}. An estimate of the best run within {SHORT_ROUNDS} rounds: {shorter}. Calibrate with these rounds "
        "and this batch size before you use it"
    )


def _write_advice(problem: object, rounds: int, bits: float) -> str:
    """Write advice on how to change a request if no compared run is shorter than the answer.

    Args:
        problem: the request; its rounds are None if they are open.
        rounds: rounds of the answer, at least 1.
        bits: bits that one client sends over these rounds.

    Returns:
        A sentence without its final full stop.
    """
    if bits / rounds > LONG_BITS:
        return f"One round sends more than {LONG_BITS / GIGABIT:g} Gbit, so no number of rounds is below that limit"
    if getattr(problem, "rounds", None) is not None:
        return f"The request gives rounds: leave them open, or give at most {SHORT_ROUNDS}"
    return (
        f"Rounds are open, and no run within {SHORT_ROUNDS} rounds was compared: give rounds to calibrate a shorter run"
    )


def _leaves_run_open(problem: object) -> bool:
    """Return whether the request leaves its rounds or its batch size to the calibrator, by a field that is None."""
    missing = object()  # for a field that the request does not have, which is not open
    return any(getattr(problem, name, missing) is None for name in ("rounds", "batch_size"))


def _describe_by_risk(run: FrontierRun) -> RunFigures:
    """Describe a run for the warning of a long run, with the bound on its excess risk as its quality.

    Args:
        run: a run that was compared with others. If its noise is an estimate, its risk is one too.
    """
    return RunFigures(
        rounds=run.rounds,
        batch_size=run.batch_size,
        quality=run.risk,
        quality_name="an excess risk of at most" if run.certified else "an excess risk of",
        bits_per_client=run.bits_per_client,
        certified=run.certified,
        chosen=run.chosen,
        vacuous=bool(run.vacuous),
    )


def _describe_by_noise(run: RoundsRun) -> RunFigures:
    """Describe a run for the warning of a long run, with a bound on its excess risk as a share of the initial one.

    A bound of at least 1 does not show that training helps.

    Args:
        run: a run that was compared with others, with certified noise.

    Returns:
        The values that the text of the warning states.
    """
    return RunFigures(
        rounds=run.rounds,
        batch_size=None,
        quality=run.remaining_share,
        quality_name="a remaining share of at most",
        bits_per_client=8.0 * run.bytes_per_client,
        certified=True,
        chosen=run.chosen,
        vacuous=run.remaining_share >= 1.0,
    )


def _choose_best_shorter(runs: Sequence[RunFigures], bits: float) -> RunFigures | None:
    """Choose the best run within `SHORT_ROUNDS` rounds that sends less than the run of the answer.

    Runs that are not long by their traffic are preferred.

    Args:
        runs: the compared runs.
        bits: bits that one client sends over the run of the answer.

    Returns:
        The run, or None if there is none.
    """
    shorter = [run for run in runs if run.rounds <= SHORT_ROUNDS and run.bits_per_client < bits]
    candidates = [run for run in shorter if not run.is_long] or shorter
    return min(candidates, key=lambda run: (run.quality, run.rounds), default=None)
