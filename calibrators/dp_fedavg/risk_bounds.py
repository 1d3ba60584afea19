"""Risk bounds of dp-fedavg: the average of noisy gradient steps, and the central lower bound for clients."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Protocol

from epsilond.accountants.attempts import ConditionResult
from epsilond.accountants.errors import Fault, InvalidInput
from epsilond.accountants.quantities import STEP_SIZE, request
from epsilond.accountants.quantities.risks import PairTarget
from epsilond.accountants.theorem import Condition, Sides
from epsilond.accountants.theorems.risk.averaged_steps import AVERAGED_STEPS, MEAN_NOISE_STD
from epsilond.accountants.theorems.risk.lowy_razaviyayn.lower_bounds.statements import CENTRAL_EMPIRICAL
from epsilond.calibrators.dp_fedavg.problem import DpFedavgProblem
from epsilond.calibrators.envelope import TheoremAtInputs
from epsilond.calibrators.risk.baseline import start_of
from epsilond.calibrators.risk.given_noise import GivenNoiseRiskPart, NoisyRun, explicit_upper
from epsilond.calibrators.risk.part import Bounds
from epsilond.calibrators.risk.parts import LowerBoundSetting, RiskFields, lower_bound

if TYPE_CHECKING:
    from epsilond.calibrators.risk.answer import LowerBound, UpperBound

PROJECTED = Condition(
    "projected-steps", "the server projects the model onto the domain after every step, and starts inside it"
)
MEAN_MODEL = Condition("mean-of-rounds", "the model is the mean of the models at the start of all rounds")


@request
class DpFedavgRiskProblem(PairTarget, DpFedavgProblem):
    """A run of dp-fedavg in which every participant sends one gradient in a round.

    `lipschitz` and `diameter` are needed. `noise_std` is that of the mean of a round, the smallest certified one if
    absent. If it is given, `rounds` must be too. If `step_size` is absent, it minimises the bound.
    """

    noise_std: Annotated[float | None, MEAN_NOISE_STD] = None
    step_size: Annotated[float | None, STEP_SIZE] = None

    def check(self) -> None:
        """Check the fields of dp-fedavg and those of the risk bound.

        Raises:
            InvalidInput: the Lipschitz constant or the diameter is missing, a noise is given without rounds, or a field
                of dp-fedavg is invalid.
        """
        super().check()
        faults = [
            Fault(f"/{name}", "is needed for a bound on the risk")
            for name in ("lipschitz", "diameter")
            if getattr(self, name) is None
        ]
        if self.noise_std is not None and self.rounds is None:
            faults.append(Fault("/noise_std", "needs rounds: it is the noise of one run"))
        if faults:
            raise InvalidInput(*faults)

    @property
    def constants(self) -> tuple[float, float]:
        """The Lipschitz constant L and the diameter D, which `check` demands."""
        assert self.lipschitz is not None
        assert self.diameter is not None
        return self.lipschitz, self.diameter


def given_run(problem: DpFedavgRiskProblem) -> NoisyRun | None:
    """Return the noise of the mean of a round and the number of rounds that a request gives; None without noise."""
    if problem.noise_std is None:
        return None
    assert problem.rounds is not None  # `check` demands the rounds with the noise
    return NoisyRun(noise_std=problem.noise_std, rounds=problem.rounds)


class CertifiedRounds(Protocol):
    """Protocol of the parameters of a calibration: the certified noise, and the number of rounds.

    Attributes:
        noise_std_of_mean: standard deviation per coordinate of the noise in the mean of a round.
        rounds: number of rounds.
    """

    noise_std_of_mean: float
    rounds: int


def certified_run(problem: DpFedavgRiskProblem, parameters: CertifiedRounds) -> NoisyRun:
    """Return the run at the certified noise of the mean."""
    del problem
    return NoisyRun(noise_std=parameters.noise_std_of_mean, rounds=parameters.rounds)


def bounds(problem: DpFedavgRiskProblem, run: NoisyRun) -> Bounds:
    """Return the bound on the empirical excess risk of the average model, and the order of the central lower bound.

    There is no upper bound if the clipping norm adapts or is below the Lipschitz constant: gradients may then be
    clipped, and their mean may differ from the gradient of the mean loss.

    Args:
        problem: the request, with the constants of the losses.
        run: the number of rounds, and the standard deviation of the noise in the mean of a round.

    Returns:
        The bounds. Without an upper bound, `open_question` has the reason.
    """
    lipschitz, diameter = problem.constants
    reason = _reason_for_no_bound(problem)
    upper: tuple[UpperBound, ...] = ()
    step_size = None
    if reason is None:
        step_size, bound = _averaged_steps(problem, run)
        upper = (bound,)

    return Bounds(
        upper=upper,
        start=start_of("empirical", distance=diameter, lipschitz=lipschitz),
        lower=(_lower_bound_for_clients(problem),),
        declared=(*AVERAGED_STEPS.conditions, PROJECTED, MEAN_MODEL) if upper else (),
        open_question=reason,
        step_size=step_size,
    )


def _reason_for_no_bound(problem: DpFedavgRiskProblem) -> str | None:
    """Return why no theorem bounds the risk of the run, or None if one does.

    Theorems exist only for gradients that are never clipped, since clipping biases their mean.

    Args:
        problem: the request, with the Lipschitz constant of the loss and the clipping norm.

    Returns:
        The reason as a clause of a sentence; None if gradients cannot exceed the clipping norm.
    """
    lipschitz, _ = problem.constants
    if problem.adaptive_clipping is not None:
        return "a clipping norm that adapts may fall below gradients, and no theorem here bounds the bias of clipping"
    if lipschitz > problem.clipping_norm:
        return (
            f"lipschitz is {lipschitz:.6g} and clipping_norm {problem.clipping_norm:.6g}: gradients may be clipped, "
            "and no theorem here bounds the bias of clipping"
        )
    return None


def _averaged_steps(problem: DpFedavgRiskProblem, run: NoisyRun) -> tuple[float, UpperBound]:
    """Bound the empirical excess risk of the average model of a run that never clips a gradient.

    It has the condition that the Lipschitz constant is at most the clipping norm, because clipping would bias the mean
    gradient.

    Args:
        problem: the request, with the constants of the losses, the clipping norm and the sampling of clients.
        run: the number of rounds, and the standard deviation of the noise in the mean of a round.

    Returns:
        The step size of the bound, and the bound.
    """
    lipschitz, _ = problem.constants
    outputs = TheoremAtInputs.of(
        AVERAGED_STEPS,
        problem,
        sampling="full" if problem.reporting == problem.clients else problem.sampling,
        participants=problem.reporting,
        noise_std=run.noise_std,
        rounds=run.rounds,
    ).outputs
    unclipped = Sides.at_most(lipschitz, problem.clipping_norm)
    statement = "the Lipschitz constant is at most the clipping norm, so that no gradient is clipped"
    condition = ConditionResult("nothing-is-clipped", statement, unclipped.holds, unclipped.left, unclipped.right)
    terms = {name: float(outputs[name]) for name in ("without_noise", "noise_alone")}
    value = float(outputs["excess_risk"])
    return float(outputs["step_size"]), explicit_upper(AVERAGED_STEPS, terms, value=value, conditions=(condition,))


def _lower_bound_for_clients(problem: DpFedavgRiskProblem) -> LowerBound:
    """Return the lower bound on the empirical risk of any algorithm that protects whole clients, up to a constant.

    It is for central differential privacy, with a trusted server. A client's loss counts as one record, because the
    protected unit is the client.

    Args:
        problem: the request, with its target and the constants of the loss.

    Returns:
        The order of the bound, in the unit of the loss.
    """
    lipschitz, diameter = problem.constants
    target = problem.target
    setting = LowerBoundSetting(
        epsilon=target.epsilon,
        log10_delta=target.log10_delta,
        samples_per_client=1,
        clients=problem.clients,
        dimension=problem.dimension,
        lipschitz=lipschitz,
        diameter=diameter,
        strong_convexity=0.0,
    )
    return lower_bound(RiskFields(problem="empirical"), setting, "central")


RISK = GivenNoiseRiskPart(
    title="Excess risk of DP-FedAvg with one gradient step a round",
    summary=(
        "An upper bound with explicit constants on the mean loss of all clients, at the run's noise and any step size. "
        "The order of the central lower bound for clients is given for comparison."
    ),
    problem=DpFedavgRiskProblem,
    theorems=(AVERAGED_STEPS.id,),
    lower_theorems=(CENTRAL_EMPIRICAL.id,),
    example_fields={"lipschitz": 1.0, "diameter": 2.0, "clipping_norm": 1.0, "noise_std": 0.001, "rounds": 100},
    given_run=given_run,
    certified_run=certified_run,
    bounds=bounds,
)
