"""The request of a measurement of excess risk: an algorithm, a problem, its noise or target, and the repetitions."""

from __future__ import annotations

from typing import Annotated, Literal

from epsilond.accountants.errors import Fault, InvalidInput
from epsilond.accountants.quantities import DELTA, EPSILON, LOG10_DELTA, Quantity, request
from epsilond.accountants.target import Target
from epsilond.simulators.algorithms.algorithm import SimulatedAlgorithm
from epsilond.simulators.algorithms.kinds import Run, algorithm_of
from epsilond.simulators.problems.problem_specs import AnyProblem
from epsilond.witness.joins import find_join
from epsilond.witness.risks.rounds import Spacing

KIND = Quantity(description="name of the kind of simulation")
RUN = Quantity(
    description="algorithm that is run, with its parameters. If they have no noise, it is calibrated to "
    "epsilon and delta"
)
PROBLEM = Quantity(description="clients, their data, the loss and the domain")
REPETITIONS = Quantity(description="number of independent repetitions, each with its own randomness", ge=2, le=1000)
SEED = Quantity(description="seed of all randomness: the same seed gives the same answer", ge=0, le=2**53 - 1)
POINTS = Quantity(description="largest number of rounds at which the run is measured", ge=1, le=200)
SPACING = Quantity(description="whether the measured rounds have equal differences or equal ratios")
CONFIDENCE = Quantity(description="confidence level of the interval at each round by itself", ge=0.5, le=1.0 - 1e-9)
RETURN_MODEL = Quantity(
    description="true: the answer has the weights of the model that the first repetition of every run put out, "
    "at most 20000 numbers for one run"
)
ALTERNATIVES = Quantity(
    description="names of runs with which the run is compared. Absent: all that are offered for the algorithm"
)


@request
class RiskSimulation:
    """An algorithm, a problem, and how often to run it.

    Noise is given in the run, or else left to be calibrated to epsilon with one of delta and log10_delta. The run fixes
    the relation, unit and observer of the guarantee, and the guarantee of the result names them.
    """

    kind: Annotated[Literal["risk"], KIND] = "risk"
    run: Annotated[Run, RUN]
    problem: Annotated[AnyProblem, PROBLEM]
    epsilon: Annotated[float | None, EPSILON] = None
    delta: Annotated[float | None, DELTA] = None
    log10_delta: Annotated[float | None, LOG10_DELTA] = None
    repetitions: Annotated[int, REPETITIONS] = 100
    seed: Annotated[int, SEED] = 0
    points: Annotated[int, POINTS] = 50
    spacing: Annotated[Spacing, SPACING] = "linear"
    confidence: Annotated[float, CONFIDENCE] = 0.95
    alternatives: Annotated[tuple[str, ...] | None, ALTERNATIVES] = None
    return_model: Annotated[bool, RETURN_MODEL] = False

    def check(self) -> None:
        """Check that the request can be simulated: its problem, its comparison runs, and its noise or target.

        The noise of the run is either stated in the request, or calibrated to a target (ε, δ).

        Raises:
            InvalidInput: the algorithm does not run on the problem, a comparison run is unknown or repeated, noise and
                target are both given or both absent, or the target is not valid.
        """
        algorithm = algorithm_of(self.run)
        if not isinstance(self.problem, algorithm.problems):
            kinds = ", ".join(_kind_name(kind) for kind in algorithm.problems)
            raise InvalidInput.at("/problem/kind", f"is not a problem that {algorithm.name} runs on", allowed=kinds)
        self._check_alternatives(algorithm)
        self._check_noise_or_target(find_join(algorithm.name).noise)
        if self.epsilon is not None:
            Target.of(self.epsilon, self.delta, self.log10_delta)

    def _check_noise_or_target(self, noise_names: tuple[str, ...]) -> None:
        """Check that the request gives either the noise of the run or a target (ε, δ) to calibrate it to, but not both.

        Args:
            noise_names: fields of the run that state its noise; empty for an algorithm without noise.

        Raises:
            InvalidInput: both are given, an algorithm with noise has neither, or the target has δ but no ε.
        """
        given_noise = [name for name in noise_names if getattr(self.run, name) is not None]
        given_target = [name for name in ("epsilon", "delta", "log10_delta") if getattr(self, name) is not None]

        # Both at once would be contradictory: each given field is reported as a fault.
        if given_noise and given_target:
            message = "cannot be given together: noise is either given or calibrated"
            faults = [Fault(f"/run/{name}", f"and {given_target[0]} {message}") for name in given_noise]
            faults += [Fault(f"/{name}", f"and {given_noise[0]} {message}") for name in given_target]
            raise InvalidInput(*faults)

        # An algorithm with noise needs one of the two.
        if noise_names and not given_noise and not given_target:
            message = "is needed, 0 for none, unless epsilon and delta are given"
            raise InvalidInput.at(f"/run/{noise_names[0]}", message)

        # A target is the pair of ε and δ; δ by itself is not enough.
        if given_target and self.epsilon is None:
            raise InvalidInput.at("/epsilon", f"is needed beside {given_target[0]}")

    def _check_alternatives(self, algorithm: SimulatedAlgorithm) -> None:
        """Check that the algorithm offers every requested comparison run, and that none is listed twice.

        A comparison run is a second run on the same data, such as the same algorithm without noise.

        Args:
            algorithm: the algorithm of the request, with the names of its comparison runs.

        Raises:
            InvalidInput: a name is unknown or repeated. There is one fault for each such name.
        """
        names = self.alternatives or ()
        offered = algorithm.alternative_names
        allowed = ", ".join(offered) or None

        faults = []
        for index, name in enumerate(names):
            is_repeated = name in names[:index]
            is_unknown = name not in offered
            if is_repeated or is_unknown:
                faults.append(Fault(f"/alternatives/{index}", f"is not a run beside {algorithm.name}", allowed))
        if faults:
            raise InvalidInput(*faults)

    @property
    def target(self) -> Target | None:
        """The target (ε, δ) that the noise is calibrated to, or None if the run gives its noise."""
        if self.epsilon is None:
            return None
        return Target.of(self.epsilon, self.delta, self.log10_delta)


def _kind_name(problem: type) -> str:
    """Return the name that requests use for a class of learning problems, such as `mean-estimation`.

    Args:
        problem: a class of problems.

    Returns:
        Its class attribute `kind`, or the name of the class if it has none.
    """
    return str(getattr(problem, "kind", problem.__name__))
