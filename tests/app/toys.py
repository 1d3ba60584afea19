"""Calibrators and theorems of no meaning, to see the HTTP room by itself. Workers import this module."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar

from epsilond.accountants import ENGINE_VERSION
from epsilond.accountants.attempts import ConditionResult
from epsilond.accountants.errors import BeyondBudget, ConditionViolated, Fault, Infeasible, InvalidInput
from epsilond.accountants.quantities import (
    DELTA,
    LOG10_DELTA,
    RELATION,
    Clients,
    Epsilon,
    Quantity,
    Relation,
    request,
)
from epsilond.accountants.specs import Spec
from epsilond.accountants.theorem import Condition, Erratum, Grade, Outputs, Reading, Sides, Source, Status, Theorem
from epsilond.calibrators.answer import Calibration, Ends, GuaranteeAnswer, NumericalAnswer, TargetAnswer
from epsilond.calibrators.calibration import Calibrator, CostClass

SPEC = Quantity(description="what was run")
SECONDS = Annotated[float, Quantity(description="how long to work", unit="s", ge=0, le=100)]
NOTE = Quantity(description="anything")


@request
class ToyProblem:
    """A problem of no meaning."""

    epsilon: Epsilon
    delta: Annotated[float | None, DELTA] = None
    log10_delta: Annotated[float | None, LOG10_DELTA] = None
    clients: Clients
    participants: Annotated[int | None, Quantity(description="clients that report", symbol="M", ge=1)] = None
    relation: Annotated[Relation, RELATION] = "replace-one"
    spec: Annotated[Spec | None, SPEC] = None

    def check(self) -> None:
        """M ≤ N."""
        if self.participants is not None and self.participants > self.clients:
            raise InvalidInput(
                Fault("/participants", "exceeds the number of clients", f"≤ {self.clients}"),
                Fault("/clients", "is below the number of participants"),
            )


@dataclass(frozen=True, kw_only=True)
class ToyParameters:
    """What to run with."""

    noise_std: float
    rounds: int


def answer(algorithm: str, epsilon: float, rounds: int = 1) -> Calibration:
    """An answer of no meaning."""
    return Calibration(
        algorithm=algorithm,
        parameters=ToyParameters(noise_std=1.0 / epsilon, rounds=rounds),
        guarantee=GuaranteeAnswer(
            in_words="What a toy guarantees.",
            statements=(),
            definition="local",
            unit="record",
            relation="replace-one",
            observer="server",
            sampling="full",
            sensitivity=2.0,
            target=TargetAnswer(epsilon=epsilon, log10_delta=-400.0),
            epsilon=Ends(epsilon, float("inf")),
            delta=Ends(0.0, 1e-300),
            log10_delta=Ends(float("-inf"), -300.0),
            tight="unknown",
            minimal="searched",
        ),
        numerical=NumericalAnswer(relative_width=1e-9),
        as_printed=(),
        derivation=(),
        declared_conditions=(),
        warnings=(),
        engine_version=ENGINE_VERSION,
    )


def solve(problem: ToyProblem) -> Calibration:
    """Answers at once; at special values of ε it refuses or fails."""
    condition = ConditionResult("toy.small", "ε is not 400", False, problem.epsilon, 401.0)
    if problem.epsilon == 400.0:
        raise Infeasible("Nothing meets this target.", condition, {"epsilon": 401.0})
    if problem.epsilon == 401.0:
        raise ConditionViolated("No proof applies.", condition, {"epsilon": float("inf")})
    if problem.epsilon == 402.0:
        raise BeyondBudget("Too many cells.")
    if problem.epsilon == 422.0:
        raise InvalidInput.at("/epsilon", "cannot be this", allowed="anything else")
    if problem.epsilon == 500.0:
        raise RuntimeError("secret-of-the-mathematics")
    if problem.epsilon == 501.0:
        return answer("toy", float("nan"))
    return answer("toy", problem.epsilon, rounds=2**60)


@request
class BusyProblem:
    """Work for so long, or until a file beside the diary says that it may end; lines in the diary tell of it."""

    seconds: SECONDS
    diary: Annotated[str, NOTE] = ""
    way: Annotated[str, NOTE] = "sleep"


def write_diary(problem: BusyProblem, what: str) -> None:
    """A line in the diary."""
    if problem.diary:
        with Path(problem.diary).open("a") as diary:
            diary.write(f"{what} {os.getpid()}\n")


def may_end(diary: str | Path) -> Path:
    """The file that lets the work of this diary end."""
    return Path(f"{diary}.end")


def work(problem: BusyProblem) -> Calibration:
    """Sleeps, spins, allocates or dies."""
    write_diary(problem, "began")
    if problem.way == "die":
        os._exit(3)
    if problem.way == "allocate":
        bytearray(8 * 2**30)
    if problem.way == "threads":
        return answer("busy", float(os.environ["OPENBLAS_NUM_THREADS"]))
    until = time.monotonic() + problem.seconds
    while time.monotonic() < until and not (problem.diary and may_end(problem.diary).exists()):
        if problem.way == "sleep":
            time.sleep(0.01)
    write_diary(problem, "ended")
    return answer("busy", 1.0)


class HandMade(Calibrator[Any, ToyParameters, Any, Any]):
    """A calibrator whose whole answer is made by hand."""

    summary = "It has no meaning."
    parameters_type = ToyParameters
    home = __name__

    def cost(self, problem: Any) -> CostClass:  # noqa: ARG002
        """Return search."""
        return "search"

    find = parameters = sampling = specs = None


class Toy(HandMade):
    """A calibrator of no meaning."""

    name = "toy"
    title = "A toy"
    problem = ToyProblem
    theorems = ("toy.1",)
    example: ClassVar = {"epsilon": 1.0, "delta": 1e-6, "clients": 10}

    def cost(self, problem: Any) -> CostClass:  # noqa: ARG002
        """Return closed-form."""
        return "closed-form"

    def solve(self, problem: ToyProblem, *, true_figures: bool = True) -> Calibration:  # noqa: ARG002
        """Answer at once."""
        return solve(problem)


class SlowToy(Toy):
    """A toy in a worker."""

    name = "slow-toy"
    title = "A toy in a worker"
    example: ClassVar = {"epsilon": 2.0, "delta": 1e-6, "clients": 10, "participants": 5}

    def cost(self, problem: Any) -> CostClass:  # noqa: ARG002
        """Return search."""
        return "search"


class Busy(HandMade):
    """A toy that works as long as its request says."""

    name = "busy"
    title = "A busy toy"
    summary = "It works as long as it is told."
    problem = BusyProblem
    theorems = ()
    example: ClassVar = {"seconds": 0.01}

    def solve(self, problem: BusyProblem, *, true_figures: bool = True) -> Calibration:  # noqa: ARG002
        """Work."""
        return work(problem)


TOY, SLOW_TOY, BUSY = Toy(), SlowToy(), Busy()
CALIBRATORS = (TOY, SLOW_TOY, BUSY)


@request
class ToyInputs:
    """The inputs of a toy theorem."""

    epsilon: Epsilon
    clients: Clients


def formula(inputs: ToyInputs, reading: Reading = "printed") -> Outputs:
    """ε/N as printed, ε/√N as corrected."""
    if inputs.epsilon == 422.0:
        raise InvalidInput.at("/epsilon", "cannot be this")
    return {"noise": inputs.epsilon / inputs.clients ** (1.0 if reading == "printed" else 0.5)}


PRINTED = Theorem(
    id="toy.1",
    title="The first toy",
    statement="noise = ε/N",
    source=Source("toy2020", "Theorem 1"),
    status=Status.REFUTED,
    conditions=(
        Condition("toy.small", "ε ≤ 1", lambda inputs: Sides.at_most(inputs.epsilon, 1.0)),
        Condition("toy.convex", "the loss is convex"),
        Condition("toy.limit", "δ = o(1/n)", undecidable=True),
    ),
    errata=(Erratum("toy.1.e1", Grade.MISPRINT, "ε/N", "ε/√N", "tests/app/test_catalogue.py::test_evaluation"),),
    inputs=ToyInputs,
    formula=formula,
    examples=({"epsilon": 1.0, "clients": 4}, {"epsilon": 2.0, "clients": 4}),
)
RULE = Theorem(
    id="other.lemma-2",
    title="A rule",
    statement="A guarantee gives a guarantee",
    source=Source("other2021", "Lemma 2"),
    status=Status.PROVED,
    constants="hidden",
)
THEOREMS = (PRINTED, RULE)
