"""What an algorithm is to the witness: a run, its cost, and the excess risk it had after some of its rounds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from epsilond.simulators.problems.problem import Floats, SimulatedProblem

AnyRun: TypeAlias = Any
"""A request of the class that an algorithm has as its `run`."""


@dataclass(frozen=True)
class Work:
    """Of one repetition, told before the start."""

    operations: float
    """Entries that numpy computes or draws: about 1e8 a second on one core."""
    calls: float
    """Calls of numpy, whatever their size: about 2e5 a second. They are shared by repetitions that run side by side."""
    bytes: float
    """Largest memory held at one time."""


@dataclass(frozen=True)
class Curves:
    """Of some repetitions of one run, which went side by side."""

    rounds: tuple[int, ...]
    """After which rounds the excess was measured; the last is the end of the run."""
    excess: Floats
    """(repetitions, len(rounds)): excess risk of what the algorithm would put out after that many rounds."""
    diagnostics: Mapping[str, Floats] = field(default_factory=dict)
    """One number for each repetition under each name: largest gradient norm met, share that was clipped, …"""
    scores: Mapping[str, Floats] = field(default_factory=dict)
    """Of each repetition's output on the records that the problem holds out, by name; empty if it holds none."""
    models: Floats | None = None
    """(repetitions, …, d): each repetition's output; of personalised models the clients' own."""


@dataclass(frozen=True, kw_only=True)
class SimulatedAlgorithm:
    """One algorithm. `run` is a request class whose `algorithm` field has the name as its literal default.

    `simulate(problem, run, generators, rounds)` runs one repetition for each generator, side by side: every draw of
    repetition i comes from generator i, and no result of one depends on how many others run beside it.
    `rounds` are those to measure after; the run's last is among them. `alternatives(run)` are runs to set beside it at
    the same parameters, under their names: always `non-private`, and what the paper compares with. They are asked of a
    run whose noise is known; `beside` are all names that there may be. `problems` are the request classes of the
    problems that it runs on.
    """

    name: str
    title: str
    run: type
    problems: tuple[type, ...]
    simulate: Callable[[SimulatedProblem, AnyRun, Sequence[np.random.Generator], tuple[int, ...]], Curves]
    rounds: Callable[[SimulatedProblem, AnyRun], int]
    work: Callable[[SimulatedProblem, AnyRun], Work]
    alternatives: Callable[[AnyRun], Mapping[str, AnyRun]]
    beside: tuple[str, ...] = ("non-private",)
    titles: Mapping[str, str] = field(default_factory=lambda: {"non-private": "same steps, without noise"})
    """What each of them is, in a few words."""
    planned: Callable[[AnyRun], Mapping[str, AnyRun]] | None = None
    """Stand-ins for `alternatives(run)` that cost what these will, also of a run whose noise is open: for the plan.

    None: there is one for every name, and each costs what the run costs."""

    def costs(self, problem: SimulatedProblem, run: object, wanted: Sequence[str]) -> tuple[Work, ...]:
        """Work of the run, and of each run that there will be beside it of those wanted."""
        work = self.work(problem, run)
        if self.planned is None:
            return (work,) * (1 + len(wanted))
        return (work, *(self.work(problem, other) for name, other in self.planned(run).items() if name in wanted))
