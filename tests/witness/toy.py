"""An algorithm with a closed form of its mean excess risk, and a join with bounds that hold, fail, or do not apply."""

from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

import numpy as np
import pytest

from epsilond.accountants.attempts import ConditionResult
from epsilond.accountants.errors import Infeasible, InvalidInput
from epsilond.accountants.quantities import BATCH_SIZE, NOISE_STD, Quantity, Rounds, request
from epsilond.accountants.theorem import Status
from epsilond.accountants.verdict import Verdict
from epsilond.simulators.algorithms.algorithm import Curves, SimulatedAlgorithm, Work
from epsilond.simulators.problems.problem import Constants
from epsilond.witness.join import Join, PromisedBound

TAG = Quantity(description="tag")
LEVEL = 4.0


@request
class ToyProblem:
    """A problem with a number of clients and no data."""

    kind: Annotated[Literal["toy"], TAG] = "toy"
    clients: int = 3

    def build(self):
        if self.clients == 13:
            raise InvalidInput.at("/clients", "is bad luck")
        return Built(self.clients)


@request
class OtherProblem:
    """A problem that the toy does not run on."""

    kind: Annotated[Literal["other"], TAG] = "other"


@dataclass(frozen=True)
class Built:
    clients: int
    samples_per_client: int = 10
    dimension: int = 2
    objective: str = "population"
    gap: float = 0.0

    @property
    def constants(self):
        values = dict.fromkeys(Constants.__dataclass_fields__, 1.0)
        return Constants(**(values | {"optimum_gap": self.gap}))

    def facts(self):
        return {"toys": self.clients}


@request
class ToyRun:
    """Excess after round r is LEVEL·(½ + u)/r + σ², u uniform."""

    algorithm: Annotated[Literal["toy"], TAG] = "toy"
    rounds: Rounds
    batch_size: Annotated[int, BATCH_SIZE] = 1
    noise_std: Annotated[float | None, Quantity(description=NOISE_STD.description, ge=0)] = None
    gradient: float = 1.0
    operations: float = 1.0


def simulate(problem, run, generators, rounds):
    factors = np.array([0.5 + generator.random() for generator in generators])
    excess = LEVEL * factors[:, None] / np.array(rounds) + run.noise_std**2
    return Curves(
        rounds=rounds, excess=excess, diagnostics={"largest_gradient_norm": run.gradient * np.ones(len(factors))}
    )


def rounds_of(problem, run):
    if run.batch_size > problem.samples_per_client:
        raise InvalidInput.at(
            "/batch_size", "cannot exceed samples_per_client", allowed=f"≤ {problem.samples_per_client}"
        )
    return run.rounds


def work_of(problem, run):
    return Work(operations=run.operations, calls=1.0, bytes=8.0)


ALGORITHM = SimulatedAlgorithm(
    name="toy",
    title="A toy",
    run=ToyRun,
    problems=(ToyProblem,),
    simulate=simulate,
    rounds=rounds_of,
    work=work_of,
    alternatives=lambda run: {"non-private": replace(run, noise_std=0.0), "louder": replace(run, noise_std=2.0)},
    alternative_names=("non-private", "louder"),
    titles={"non-private": "same steps, without noise", "louder": "louder"},
)


@dataclass(frozen=True)
class ToyCalibration:
    guarantee: Any = None
    parameters: Any = None


def calibrate(problem, run, target):
    if target.epsilon > 100.0:
        raise Infeasible("ε is too large for the toy")
    if target.epsilon > 50.0:
        raise InvalidInput.at("/lipschitz", "is not a constant of a toy")
    return replace(run, noise_std=1.0 / target.epsilon), ToyCalibration()


HOLDS = ConditionResult("toy", "toys are toys", holds=Verdict.YES, left=1.0, right=1.0)
FAILS = ConditionResult("round", "the earth is flat", holds=Verdict.NO)
UNKNOWN = ConditionResult("declared", "nobody lies", holds=Verdict.UNDECIDABLE)


def bound(value, *, constant="explicit", conditions=(HOLDS,)):
    return PromisedBound(theorem="toy.1", status=Status.PROVED, value=value, constant=constant, conditions=conditions)


def install(monkeypatch: pytest.MonkeyPatch, bounds=()):
    """Make the toy the only algorithm, with the given bounds."""
    monkeypatch.setattr("epsilond.simulators.algorithms.kinds.ALGORITHMS", (ALGORITHM,))
    join = Join(algorithm="toy", calibrate=calibrate, bounds=lambda _problem, _run: tuple(bounds))
    monkeypatch.setattr("epsilond.witness.joins.JOINS", (join,))
