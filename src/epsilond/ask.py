"""The questions: calibrate, sweep, plan, bound_risk, account, evaluate, simulate.

Each takes plain Python values or the frozen request classes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, overload

import numpy as np

from epsilond.accountants.errors import Fault, InvalidInput
from epsilond.accountants.quantities import Observer, Relation, Unit
from epsilond.accountants.rule import Effort
from epsilond.accountants.specs import Spec
from epsilond.accountants.theorem import Evaluation, Reading, Theorem
from epsilond.accountants.theorems import THEOREMS
from epsilond.calibrators import CALIBRATORS
from epsilond.calibrators import accounts as accounting
from epsilond.calibrators.accounts import AccountAnswer, Accounted, AccountProblem, AccountQuestion, Claim
from epsilond.calibrators.answer import Calibration
from epsilond.calibrators.calibration import Calibrator
from epsilond.calibrators.planning.answer import PlanAnswer
from epsilond.calibrators.planning.planners import PLANNERS
from epsilond.calibrators.planning.problem import PlanProblem
from epsilond.calibrators.planning.rankings import answer_of, drafts, settle
from epsilond.calibrators.risk.answer import RiskBoundsAnswer
from epsilond.calibrators.risk.bounder import RiskBounder
from epsilond.calibrators.risk.bounders import RISK_BOUNDS
from epsilond.parallel import Progress, in_silence, run_blocks
from epsilond.reading import named, read, read_value
from epsilond.sweeping import Sweep, sweep_of
from epsilond.witness import simulation
from epsilond.witness.presets import PRESETS, PresetSimulation
from epsilond.witness.requests import SimulationRequest


def calibrator(name: str) -> Calibrator:
    """The calibrator of that name.

    Raises:
        InvalidInput: there is none; the message proposes near names.
    """
    return named(name, {each.name: each for each in CALIBRATORS}, at="/algorithm", noun="algorithm")


def theorem(theorem_id: str) -> Theorem:
    """The theorem of that id.

    Raises:
        InvalidInput: there is none; the message proposes near ids.
    """
    return named(theorem_id, {each.id: each for each in THEOREMS}, at="/id", noun="theorem")


def calibrate(algorithm: str, /, **fields: Any) -> Calibration:
    """What to run `algorithm` with, so that the target (ε, δ) is certified.

    The fields are those of the HTTP body and of the command line. Guarantees: the upper end of the answer's guarantee
    meets the target at the parameters returned.

    Example:
        >>> import epsilond
        >>> answer = epsilond.calibrate(
        ...     "mb-sgd", epsilon=1.0, delta=1e-5, samples_per_client=1000, clients=10,
        ...     dimension=100, lipschitz=1.0, diameter=1.0, rounds=50, batch_size=100,
        ... )
        >>> answer.guarantee.epsilon.upper <= 1.0
        True

    Raises:
        InvalidInput: no such algorithm, or fields that no run can have; every fault carries a JSON pointer.
        NoCertificate: nothing can be certified; the error holds the condition with both sides and what is nearest.
    """
    chosen = calibrator(algorithm)
    answer = chosen.solve(read(chosen.problem, fields))
    assert isinstance(answer, Calibration)
    return answer


def sweep(algorithm: str, swept: str, values: Sequence[Any], /, **fields: Any) -> Sweep:
    """The answers of `calibrate` at each of 1 to 200 values of the field `swept`, which `fields` need not have.

    What is refused at a value stands there as that value's error; the others are answered.

    Example:
        >>> import epsilond
        >>> run = {"delta": 1e-5, "sampling": "full", "rounds": 10, "relation": "replace-one"}
        >>> found = epsilond.sweep("gaussian", "epsilon", [1.0, 2.0], solve_for="noise_multiplier", **run)
        >>> [round(each.answer.parameters.noise_multiplier, 2) for each in found.answers]
        [23.59, 12.61]

    Raises:
        InvalidInput: no such algorithm or field, too many values, or every value is refused for the same other field.
    """
    return sweep_of(calibrator(algorithm), swept, values, fields)


def plan(*, progress: Progress = in_silence, **fields: Any) -> PlanAnswer:
    """Every algorithm on one problem side by side, ranked among those whose guarantees are of one kind.

    The fields are those of the HTTP body: the target, the federation, the learning problem, whom the caller trusts, and
    what to rank by; or a risk to `reach`, and the field to solve for. An algorithm that does not apply says why. Each
    that does is calibrated in turn, which may take a minute for all; `progress` is called with how many are done and
    how many there are.

    Example:
        >>> import epsilond
        >>> found = epsilond.plan(
        ...     epsilon=1.0, delta=1e-5, clients=50, samples_per_client=1000, dimension=20, lipschitz=1.0, diameter=2.0,
        ...     smoothness=1.0, trust=["local"], algorithms=["one-pass-accelerated-mb-sgd", "mu2-sgd", "ppsgd"],
        ... )
        >>> [group.ranked for group in found.groups]
        [('one-pass-accelerated-mb-sgd', 'mu2-sgd (untrusted server)')]

    Raises:
        InvalidInput: fields that no run can have, or an algorithm that there is not.
    """
    problem = read(PlanProblem, fields)
    drafted = drafts(PLANNERS, problem)
    settled = []
    for done, each in enumerate(drafted):
        progress(done, len(drafted))
        settled.append((each, settle(each, problem)))
    progress(len(drafted), len(drafted))
    return answer_of(problem, settled)


def risk_bounder(name: str) -> RiskBounder:
    """The risk bounds of that algorithm.

    Raises:
        InvalidInput: there are none; the message proposes near names.
    """
    return named(name, {each.name: each for each in RISK_BOUNDS}, at="/algorithm", noun="algorithm")


def bound_risk(algorithm: str, /, **fields: Any) -> RiskBoundsAnswer:
    """Upper and lower bounds on the excess risk of a run of `algorithm`.

    The fields are those of the HTTP body and of the command line. Example:
        >>> import epsilond
        >>> answer = epsilond.bound_risk(
        ...     "mb-sgd", epsilon=1.0, delta=1e-5, samples_per_client=1000, clients=10, dimension=100,
        ...     lipschitz=1.0, diameter=1.0, smoothness=1.0, rounds=50, batch_size=100, noise_std=0.01,
        ... )
        >>> [bound.constant for bound in answer.upper], answer.lower[0].theorem
        (['explicit', 'explicit', 'explicit', 'hidden'], 'lowy.3.1')

    Raises:
        InvalidInput: no such algorithm, or fields that no run can have; every fault carries a JSON pointer.
        NoCertificate: no noise was given, and none can be certified.
    """
    chosen = risk_bounder(algorithm)
    return chosen.solve(read(chosen.problem, fields))


@overload
def account(
    spec: Spec | Mapping[str, Any],
    *,
    relation: Relation,
    unit: Unit = "record",
    observer: Observer = "server",
    epsilon: None = None,
    delta: None = None,
    log10_delta: None = None,
    claim: Claim | Mapping[str, Any] | None = None,
    effort: Effort = "default",
) -> Accounted: ...


@overload
def account(
    spec: Spec | Mapping[str, Any],
    *,
    relation: Relation,
    unit: Unit = "record",
    observer: Observer = "server",
    epsilon: float | Sequence[float] | None = None,
    delta: float | Sequence[float] | None = None,
    log10_delta: float | Sequence[float] | None = None,
    claim: Claim | Mapping[str, Any] | None = None,
    effort: Effort = "default",
) -> AccountAnswer: ...


def account(
    spec: Spec | Mapping[str, Any],
    *,
    relation: Relation,
    unit: Unit = "record",
    observer: Observer = "server",
    epsilon: float | Sequence[float] | None = None,
    delta: float | Sequence[float] | None = None,
    log10_delta: float | Sequence[float] | None = None,
    claim: Claim | Mapping[str, Any] | None = None,
    effort: Effort = "default",
) -> Accounted:
    """What can be proved of what was run, for a stated neighbouring relation, unit and observer.

    `spec` is a spec or its JSON form, a mapping with a `kind`. With one of `epsilon` [nat], `delta` and `log10_delta`,
    a number or a sequence of up to 1000, it answers what `POST /v1/accounts` answers: the guarantee there, the points,
    and what it means to an attacker. Without any it answers all but those, much faster; `guarantee.curve` can then be
    asked. `claim` is an (ε, δ) to be checked: a mapping of `epsilon` and of `delta` or `log10_delta`.

    Guarantees: every pair of ends encloses the truth over all neighbours in the stated setting.

    Example:
        >>> import epsilond
        >>> step = epsilond.Subsampled(sampling="poisson", rate=0.01, mechanism=epsilond.Gaussian(noise_multiplier=1.0))
        >>> run = epsilond.Repeated(times=1000, mechanism=step)
        >>> found = epsilond.account(
        ...     run, relation="add-or-remove-one", delta=1e-5, claim={"epsilon": 2.0, "delta": 1e-5}
        ... )
        >>> print(f"{found.guarantee.epsilon.lower:.4f} {found.guarantee.epsilon.upper:.4f} {found.claim.holds}")
        1.8282 1.8282 True
        >>> print(f"{found.guarantee.curve.delta(epsilon=2.0).upper:.2e}")
        2.67e-06

    Raises:
        InvalidInput: the spec describes nothing that can be run, several of ε, δ and log10 δ are given, or one of them
            is outside its domain.
        NoCertificate: no theorem covers some part of it under this relation, or the work exceeds the fixed budget.
    """
    fields = {"spec": spec, "relation": relation, "unit": unit, "observer": observer, "claim": claim}
    points = {"epsilon": epsilon, "delta": delta, "log10_delta": log10_delta}
    query = {f"{name}s" if np.ndim(value) else name: value for name, value in points.items() if value is not None}
    chosen: Effort = read_value(Effort, effort, at="/effort")
    if not query:
        return accounting.stated(read(AccountQuestion, fields), effort=chosen)
    try:
        problem = read(AccountProblem, {**fields, "query": {name: _listed(value) for name, value in query.items()}})
    except InvalidInput as error:
        raise InvalidInput(*map(_of_argument, error.faults)) from None
    return accounting.answer(problem, effort=chosen)


def _listed(value: Any) -> Any:
    """An array as a list."""
    return value.tolist() if isinstance(value, np.ndarray) else value


def _of_argument(fault: Fault) -> Fault:
    """A fault of the HTTP body's query, in terms of the argument: /query/deltas/3 is /delta/3."""
    query, _, place = fault.pointer.removeprefix("/query/").partition("/")
    if not fault.pointer.startswith("/query"):
        return fault
    pointer = "/" + "/".join(part for part in (query.removesuffix("s"), place) if part) if query else ""
    return Fault(
        pointer.replace("//query", ""), fault.message.replace(", epsilons, deltas, log10_deltas", ""), fault.allowed
    )


def evaluate(theorem_id: str, /, reading: Reading = "printed", **inputs: Any) -> Evaluation:
    """A theorem's formula at given inputs, its conditions there, its status and its errata.

    Example:
        >>> import epsilond
        >>> release = {"epsilon": 1.0, "noise_multiplier": 4.0, "relation": "add-or-remove-one"}
        >>> epsilond.evaluate("balle-wang-2018.8", **release).status
        <Status.PROVED: 'proved'>

    Raises:
        InvalidInput: no such theorem, reading or input, or the theorem is a rule between guarantees without a formula.
    """
    chosen = theorem(theorem_id)
    return chosen.evaluate(read(chosen.inputs, inputs) if chosen.inputs is not None else None, reading)


def simulation_request(asked: SimulationRequest | Mapping[str, Any] | str, **overrides: Any) -> Any:
    """The simulation that is asked for: a request, its JSON form, or the name of a preset; overrides take precedence.

    Raises:
        InvalidInput: there is no such preset, or the request describes nothing that can be run.
    """
    given = {name: value for name, value in overrides.items() if value is not None}
    if isinstance(asked, str):
        preset = named(asked, {each.name: each for each in PRESETS}, at="/preset", noun="preset")
        return read(PresetSimulation, {"preset": preset.name, **given})
    kind = asked.get("kind") if isinstance(asked, Mapping) else asked.kind
    if "repetitions" in given and kind == "audit":
        raise InvalidInput.at("/repetitions", "an audit has samples, not repetitions")
    if isinstance(asked, Mapping):
        return read_value(SimulationRequest, {**asked, **given}, at="")
    return replace(asked, **given) if given else asked


def simulate(
    asked: SimulationRequest | Mapping[str, Any] | str,
    *,
    repetitions: int | None = None,
    seed: int | None = None,
    workers: int = 1,
    progress: Progress = in_silence,
) -> Any:
    """Run what a bound or a guarantee speaks of, and set the measurement beside it.

    `asked` is a request (`kind` risk, audit or preset) or its JSON form, or a preset's name; `repetitions` and `seed`
    override its own. With several `workers` the blocks run in processes, and a script needs the usual
    `if __name__ == "__main__":`. The answer does not depend on their number. `progress` is called with the blocks done
    and their number. `epsilond.as_json` renders the answer, and `epsilond.draw` a figure of that.

    Raises:
        InvalidInput: the request describes nothing that can be run; every fault carries a JSON pointer.
        NoCertificate: noise is to be calibrated, and nothing can be certified.
    """
    request = simulation_request(asked, repetitions=repetitions, seed=seed)
    if workers < 1:
        raise InvalidInput.at("/workers", "is out of range", allowed="≥ 1")
    prepared = simulation.prepare(request)
    return simulation.assemble(prepared, run_blocks(prepared, workers, progress))
