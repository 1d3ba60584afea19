"""Noise cancellation: noise and step from the calibrator at the problem's constants, bounds at the run's own."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from epsilond.accountants.curve.enclosure import Interval
from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.json_types import Fields
from epsilond.accountants.target import Target
from epsilond.accountants.theorem import Status, Theorem
from epsilond.accountants.theorems.papers.reshef_levy.conversions import GAUSSIAN_DP_MU
from epsilond.accountants.theorems.risk.reshef_levy.certified_bound import CERTIFIED, CertifiedInputs
from epsilond.accountants.theorems.risk.reshef_levy.trusted_server import (
    BASELINE,
    INDEPENDENT,
    TRUSTED_RUN,
    BaselineInputs,
    IndependentInputs,
    TrustedRunInputs,
)
from epsilond.accountants.theorems.risk.reshef_levy.untrusted_server import PROVED_HERE, STATED, StatedInputs
from epsilond.accountants.verdict import Verdict
from epsilond.calibrators.answer import Calibration
from epsilond.calibrators.mu2_sgd.calibrator import CALIBRATOR
from epsilond.calibrators.mu2_sgd.family import ScheduleNoise, guarantee_at
from epsilond.calibrators.mu2_sgd.problem import Mu2SgdProblem
from epsilond.simulators.algorithms.mu2_sgd.run import Mu2SgdRun, fresh_noise_std, report_norm, step_size
from epsilond.simulators.problems.problem import SimulatedProblem
from epsilond.witness.join import Join, PromisedBound
from epsilond.witness.joins.settled import settled, target_fields
from epsilond.witness.joins.steps import at_step

NO_NOISE = 1e-30
"""Of a run without noise the bounds are taken at this share of S: they grow with the noise."""


def calibrate(problem: SimulatedProblem, run: Mu2SgdRun, target: Target) -> tuple[Mu2SgdRun, Calibration]:
    """The least certified base of the noise, and the step that the certified bound likes best where none is given.

    Raises:
        InvalidInput: the data is used more than once, or no bound applies that would choose a step.
        NoCertificate: as the calibrator.
    """
    if problem.objective != "population":
        message = "each record is to be used once: the data must be drawn from the population"
        raise InvalidInput.at("/problem/objective", message, allowed="population")
    answer = CALIBRATOR.solve(
        Mu2SgdProblem(
            **target_fields(target),
            server=run.server,
            participation=_participation(run),
            **_setting(run),
            **federation_of(problem, run),
        )
    )
    step = run.step_size or (None if run.method == "noisy-sgd" else answer.parameters.step_size)
    if step is None and run.method != "noisy-sgd":
        raise InvalidInput.at("/step_size", "is needed: no bound on the excess risk applies that would choose it")
    return replace(run, noise_std=answer.parameters.noise_std, step_size=step), answer


def certified_epsilon(problem: SimulatedProblem, run: Mu2SgdRun, log_delta: float) -> Interval:
    """What is certified of the most exposed record at this noise, if its client may report in every round."""
    asked = Mu2SgdProblem(
        gaussian_dp_mu=1.0,  # the noise decides, not this
        server=run.server,
        participation=_participation(run),
        **_setting(run),
        **federation_of(problem, run),
    )
    mu = ScheduleNoise(problem=asked, std=run.noise_std or 0.0).mu(asked.cap)
    return guarantee_at(asked, mu).curve.bound_epsilon(log_delta)


def _setting(run: Mu2SgdRun) -> Fields:
    """Return the relation, unit and observer of the run: a trusted server is no adversary."""
    observer = "server" if run.server == "untrusted" else "released-models"
    return {"relation": "replace-one", "unit": "record", "observer": observer}


def federation_of(problem: SimulatedProblem, run: Mu2SgdRun) -> Fields:
    """The run's fields as theorems and calibrator name them.

    What is not known by construction is left out, and then taken at its largest.
    """
    known = problem.constants
    alike = {"smoothness_heterogeneity": 0.0} if known.heterogeneity == 0.0 else {}
    return {
        "clients": problem.clients,
        "participants": run.reporting(problem.clients),
        "rounds": run.rounds,
        "dimension": problem.dimension,
        "lipschitz": known.lipschitz,
        "smoothness": known.smoothness,
        "diameter": known.diameter,
        "gradient_std": min(known.gradient_std, known.lipschitz),
        "heterogeneity": min(known.heterogeneity, known.lipschitz),
        **alike,
    }


def _participation(run: Mu2SgdRun) -> Any:
    groups = run.taking_part.groups
    if groups is None:
        return None
    told = tuple({"clients": group.clients, "rounds": group.rounds} for group in groups)
    return {"kind": "pattern", "groups": told}


# Bounds -------------------------------------------------------------------------------------------------------------
def bounds(problem: SimulatedProblem, run: Mu2SgdRun) -> tuple[PromisedBound, ...]:
    """Those of the method and the server at hand, at the run's noise and step."""
    by_method = {
        "cancelled-noise": _trusted if run.server == "trusted" else _cancelled,
        "independent-noise": _nothing if run.server == "trusted" else _independent,
        "noisy-sgd": _baseline,
        "gap-differences": _nothing,
    }
    return tuple(by_method[run.method](problem, run))


def verdicts(problem: SimulatedProblem, run: Mu2SgdRun) -> Mapping[str, Verdict]:
    """What problems and runs are by construction.

    Losses of our problems are smooth on the whole space. Their gradients are only bounded on the domain, and the
    proofs bound none elsewhere.
    """
    everyone = run.reporting(problem.clients) == problem.clients
    groups = run.taking_part.groups
    always = groups is not None and everyone and all(len(group.rounds) == run.rounds for group in groups)
    return {
        "smooth-on-a-neighbourhood": Verdict.YES,
        "domain": Verdict.YES,
        "uniform-participation": Verdict.of(groups is None or always),
        "fresh-records": Verdict.YES,
        "planned-divisor": Verdict.YES,
        "loss": Verdict.YES,
    }


def _cancelled(problem: SimulatedProblem, run: Mu2SgdRun) -> Iterator[PromisedBound]:
    norm = report_norm(problem)
    base = max(run.noise_std or 0.0, NO_NOISE * norm)
    given, step = federation_of(problem, run), step_size(problem, run)
    yield _bound(CERTIFIED, CertifiedInputs(**given, base_std=base, step_size=step), "excess_risk", problem, run)
    mu = 2.0 * norm * math.sqrt(1.0 + math.log(run.rounds)) / base  # whose printed schedule this noise is
    if GAUSSIAN_DP_MU.contains(mu):
        stated = StatedInputs(**given, gaussian_dp_mu=mu, step_size=step)
        found = _bound(STATED, stated, "excess_risk_at_step_size", problem, run)
        proved = all(one.holds == Verdict.YES for one in found.conditions if one.id == PROVED_HERE.id)
        yield replace(found, status=Status.PROVED) if proved else found


def _trusted(problem: SimulatedProblem, run: Mu2SgdRun) -> Iterator[PromisedBound]:
    norm, reporting = report_norm(problem), run.reporting(problem.clients)
    std = max(run.noise_std or 0.0, NO_NOISE * norm)
    mu = 2.0 * norm * math.sqrt(run.rounds) / (std * reporting)
    inputs = TrustedRunInputs(
        **federation_of(problem, run),
        gaussian_dp_mu=min(mu, GAUSSIAN_DP_MU.le or mu),  # the noise that is given decides
        noise_std=std,
        step_size=step_size(problem, run),
    )
    yield _bound(TRUSTED_RUN, inputs, "excess_risk_at_step_size", problem, run)


def _independent(problem: SimulatedProblem, run: Mu2SgdRun) -> Iterator[PromisedBound]:
    fresh = fresh_noise_std(problem, run)
    mu = 2.0 * report_norm(problem) / fresh if fresh > 0.0 else math.inf
    if GAUSSIAN_DP_MU.contains(mu):
        inputs = IndependentInputs(**federation_of(problem, run), gaussian_dp_mu=mu, step_size=step_size(problem, run))
        yield _bound(INDEPENDENT, inputs, "excess_risk", problem, run)


def _baseline(problem: SimulatedProblem, run: Mu2SgdRun) -> Iterator[PromisedBound]:
    known, reporting = problem.constants, run.reporting(problem.clients)
    fresh = fresh_noise_std(problem, run)
    each = fresh * math.sqrt(reporting) if run.server == "trusted" else fresh
    mu = 2.0 * known.lipschitz / each if each > 0.0 else math.inf
    if not GAUSSIAN_DP_MU.contains(mu):
        return
    inputs = BaselineInputs(
        lipschitz=known.lipschitz,
        diameter=known.diameter,
        dimension=problem.dimension,
        participants=reporting,
        rounds=run.rounds,
        gaussian_dp_mu=mu,
    )
    found = _bound(BASELINE, inputs, "excess_risk", problem, run)
    promised = BASELINE.evaluate(inputs).outputs["step_size"]
    yield replace(found, conditions=(*found.conditions, at_step(step_size(problem, run), promised)))


def _nothing(problem: SimulatedProblem, run: Mu2SgdRun) -> Iterator[PromisedBound]:  # noqa: ARG001  as the others are called
    """Of fresh noise that a trusted server adds nothing is proved here, nor of differences since the last report."""
    return iter(())


def _bound(theorem: Theorem, inputs: object, value: str, problem: SimulatedProblem, run: Mu2SgdRun) -> PromisedBound:
    return PromisedBound(
        theorem=theorem.id,
        status=theorem.status,
        value=theorem.evaluate(inputs).outputs[value],
        constant="explicit",
        conditions=settled((one.at(inputs) for one in theorem.conditions), verdicts(problem, run)),
    )


JOIN = Join(algorithm="mu2-sgd", calibrate=calibrate, account=certified_epsilon, bounds=bounds)
