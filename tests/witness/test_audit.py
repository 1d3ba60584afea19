"""Audits from request to verdict: lower bounds do not exceed the certificate, and refute false claims."""

from __future__ import annotations

import json
import math
import pickle
from dataclasses import replace
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from pydantic import TypeAdapter
from scipy.optimize import brentq

from epsilond.accountants.errors import InvalidInput, NoCertificate
from epsilond.accountants.schedules import Constant
from epsilond.accountants.specs import (
    Approximate,
    Composed,
    DiscreteLaplace,
    Gaussian,
    Laplace,
    ProjectedSgd,
    RandomizedResponse,
    Repeated,
    Shuffled,
    Subsampled,
    TruncatedDiscreteLaplace,
)
from epsilond.calibrators.answer import as_json
from epsilond.reading import read_body
from epsilond.simulators.audits.attack import (
    SplitStatistics,
    best,
    delta_score,
    epsilon_score,
    gaussian_epsilon,
    mu_score,
)
from epsilond.simulators.audits.message import QuantizedMessage
from epsilond.witness import simulation
from epsilond.witness.audits.audit import AUDIT, assemble, block_sizes, plan, prepare, run, run_block
from epsilond.witness.audits.family import printed_truncated_discrete_laplace, run_family
from epsilond.witness.audits.request import AuditClaim, AuditSimulation

GAUSSIAN = Gaussian(noise_multiplier=1.0)
SAMPLED = Subsampled(sampling="poisson", rate=0.2, mechanism=GAUSSIAN)
RESPONSE = RandomizedResponse(epsilon=2.0, categories=4)
TRUNCATED = TruncatedDiscreteLaplace(
    noise_levels=40, decay_rate=0.25, dimension=12, l1_sensitivity=9.0, linf_sensitivity=2.0
)
DRAWN = Subsampled(sampling="without-replacement", batch_size=4, population=20, mechanism=GAUSSIAN)
DESCENT = ProjectedSgd(
    clients=20,
    participants=4,
    lipschitz=1.0,
    radius=1.0,
    smoothness=1.0,
    step_schedule=Constant(value=0.5),
    noise_schedule=Constant(value=0.5),
)


def audit(spec: Any, relation: Any = "replace-one", **fields: Any) -> AuditSimulation:
    settings = {"unit": "record", "observer": "server", "delta": 1e-3, "samples": 20_000, "seed": 7} | fields
    return AuditSimulation(spec=spec, relation=relation, **settings)


FAMILY = (
    audit(GAUSSIAN),
    audit(GAUSSIAN, "add-or-remove-one"),
    audit(Laplace(scale_multiplier=1.0)),
    audit(DiscreteLaplace(decay_rate=0.5, sensitivity=3)),
    audit(TRUNCATED),
    audit(TRUNCATED, attack="mathematical"),
    audit(RESPONSE),
    audit(RandomizedResponse(epsilon=1.0, categories=2), "zero-out-one"),
    audit(Approximate(epsilon=1.5, delta=1e-4), "add-or-remove-one"),
    audit(SAMPLED, "add-or-remove-one"),
    audit(SAMPLED, "zero-out-one"),
    audit(SAMPLED),
    audit(DRAWN),
    audit(replace(DRAWN, sampling="with-replacement")),
    audit(DRAWN, unit="client"),
    audit(DRAWN, unit="client", observer="released-models"),
    audit(Repeated(times=10, mechanism=SAMPLED), "add-or-remove-one"),
    audit(Composed(mechanisms=(GAUSSIAN, Laplace(scale_multiplier=2.0), RESPONSE))),
    audit(Shuffled(clients=40, mechanism=RESPONSE), observer="shuffled-server"),
    audit(Shuffled(clients=20, mechanism=GAUSSIAN), observer="shuffled-server"),
    audit(DESCENT, observer="final-model"),
    audit(replace(DESCENT, release="random-stop", batches="cyclic"), observer="final-model"),
)


def test_no_audit_contradicts_a_certificate() -> None:
    answer = run_family(FAMILY, 0.999)
    assert answer.contradicted == ()
    assert answer.each == pytest.approx(1 - 0.001 / len(FAMILY), abs=1e-15)
    for member in answer.audits:
        assert 0.0 <= member.epsilon.lower <= member.certified.upper
        assert member.verdict == "consistent"
        assert member.escape.probability_lower <= 1e-3 or member.certified.upper == math.inf
        json.dumps(as_json(member), allow_nan=False)


def test_lower_bounds_are_close_to_the_certified_epsilon() -> None:
    pure = run(audit(Laplace(scale_multiplier=1.0)))
    assert pure.ratio is not None
    assert pure.ratio > 0.9
    shuffled = run(audit(Shuffled(clients=40, mechanism=RESPONSE), observer="shuffled-server"))
    assert shuffled.epsilon.lower > 0.5 * shuffled.certified.lower > 0


@pytest.mark.parametrize("epsilon", [1.0, 2.0, 4.0, 8.0])
def test_lower_bound_is_at_least_half_of_epsilon_for_a_gaussian(epsilon: float) -> None:
    """Compute σ from δ(ε) = Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ) in mpmath, without the accountant."""

    def delta(mu: mp.mpf) -> mp.mpf:
        return mp.ncdf(mu / 2 - epsilon / mu) - mp.exp(epsilon) * mp.ncdf(-mu / 2 - epsilon / mu)

    with mp.workdps(30):
        mu = mp.findroot(lambda m: mp.log(delta(m)) - mp.log("1e-5"), (0.2 * epsilon, 0.3 * epsilon), solver="anderson")
    request = audit(Gaussian(noise_multiplier=float(1 / mu)), "add-or-remove-one", delta=1e-5, samples=1_000_000)
    answer = run(request)
    assert 0.5 * epsilon <= answer.epsilon.lower <= epsilon
    assert 0.9 * float(mu) <= answer.gaussian.mu_lower <= float(mu)
    assert 0.9 * epsilon <= answer.gaussian.epsilon_if_gaussian <= epsilon


def least_share_of_epsilon(epsilon: float, seeds: range) -> float:
    """Return the least ratio of the lower bound to ε at δ = 1e-5 over the seeds, with 10⁶ samples of a Gaussian each."""
    mu = brentq(lambda mu: gaussian_epsilon(mu, math.log(1e-5)) - epsilon, 0.05 * epsilon, 0.5 * epsilon)
    shares = []
    for seed in seeds:
        generator = np.random.default_rng(seed)
        halves = SplitStatistics.of(generator.standard_normal(1_000_000) + mu, generator.standard_normal(1_000_000))
        shares.append(best(halves, epsilon_score(1e-5), 0.05).value / epsilon)
    return min(shares)


@pytest.mark.parametrize("seed", [2, 3, 11])
def test_chosen_test_keeps_most_of_epsilon(seed: int) -> None:
    """Check seeds with which a test was chosen by chance, when tests competed at the error of the bound."""
    assert least_share_of_epsilon(1.0, range(seed, seed + 1)) > 0.55


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [1.0, 2.0, 4.0, 8.0])
def test_chosen_test_keeps_most_of_epsilon_for_many_seeds(epsilon: float) -> None:
    assert least_share_of_epsilon(epsilon, range(30)) > 0.55


@pytest.mark.parametrize(("mu", "delta"), [(0.05, 1e-9), (0.5, 0.1), (1.0, 1e-5), (6.0, 1e-12)])
def test_epsilon_of_a_gaussian_inverts_its_profile(mu: float, delta: float) -> None:
    epsilon = gaussian_epsilon(mu, math.log(delta))
    with mp.workdps(40):
        m = mp.mpf(mu)
        exact = mp.ncdf(m / 2 - epsilon / m) - mp.exp(epsilon) * mp.ncdf(-m / 2 - epsilon / m)
        assert epsilon == 0.0 or abs(exact / delta - 1) < 1e-7
        assert epsilon > 0.0 or mp.ncdf(m / 2) - mp.ncdf(-m / 2) <= delta


def test_printed_noise_is_refuted() -> None:
    answer = run(printed_truncated_discrete_laplace())
    assert answer.claim is not None
    assert answer.claim.violated == "yes"
    assert answer.epsilon.lower > 8 * answer.claim.epsilon
    assert answer.claim.delta_lower > 0.99
    assert answer.escape.probability_lower > 0.99
    assert answer.certified.upper == math.inf
    assert answer.verdict == "consistent"
    assert answer.evidence == "escape"
    assert answer.escape.epsilon_lower == math.inf
    assert "disproved" in answer.meaning
    assert as_json(answer)["claim"]["ratio"] == "unbounded"


def test_impossible_outputs_refute_an_epsilon_beyond_the_samples() -> None:
    """Refute ε = 10: a test would need more than e^10 runs, but one impossible output refutes the claim."""
    answer = run(
        printed_truncated_discrete_laplace(
            epsilon=10.0, dimension=40, l1_sensitivity=60.0, linf_sensitivity=2.0, samples=20_000
        )
    )
    assert answer.epsilon.lower < 10.0
    assert answer.claim is not None
    assert answer.claim.violated == "yes"
    rare = run(audit(replace(TRUNCATED, noise_levels=60), delta=1e-2, samples=20_000))
    assert rare.escape.epsilon_lower == 0.0
    assert rare.evidence == "test"


@pytest.mark.parametrize(
    ("noise_multiplier", "violated"),
    [(0.7, "yes"), (1.4, "undecidable"), (3.0, "no")],
)
def test_claim_is_judged_by_samples_and_certificate(noise_multiplier: float, violated: str) -> None:
    spec = Gaussian(noise_multiplier=noise_multiplier)
    answer = run(audit(spec, "add-or-remove-one", claim=AuditClaim(epsilon=2.0)))
    assert answer.claim is not None
    assert answer.claim.violated == violated
    assert (answer.claim.delta_lower > 1e-3 and answer.claim.ratio > 1) == (violated == "yes")
    assert (answer.certified.lower > 2.0) == (violated != "no")


def test_faulty_implementation_contradicts_its_certificate() -> None:
    """Sample with half the noise of the spec that is certified."""
    request = audit(Gaussian(noise_multiplier=2.0))
    prepared = prepare(request)
    faulty = replace(prepared, target=audit(GAUSSIAN).target())
    answer = assemble(request, faulty, [run_block(faulty, index) for index in range(len(faulty.sizes))])
    assert answer.verdict == "contradicted"
    assert "contradicts" in answer.meaning


MESSAGE_SETTING: dict[str, Any] = {"relation": "replace-one", "unit": "record", "observer": "server"}
MESSAGE = QuantizedMessage(
    first=(1.0, 0.0, 0.0), second=(0.3, 0.7, -0.5), quantization_levels=8, noise_levels=60, decay_rate=0.15
)


def test_messages_of_two_updates_are_audited() -> None:
    message = MESSAGE
    answers = [
        run(AuditSimulation(message=message, delta=1e-2, samples=40_000, attack=attack, **MESSAGE_SETTING))
        for attack in ("implemented", "mathematical")
    ]
    for answer in answers:
        assert 0.5 * answer.certified.upper < answer.epsilon.lower <= answer.certified.upper
    assert answers[0].epsilon.lower == pytest.approx(answers[1].epsilon.lower, rel=0.1)
    equal_updates = replace(message, second=message.first)
    answer_to_equal = run(AuditSimulation(message=equal_updates, delta=1e-2, samples=1000, **MESSAGE_SETTING))
    assert answer_to_equal.certified.upper == 0.0 == answer_to_equal.epsilon.lower


EXTREMES: tuple[tuple[Any, dict[str, Any]], ...] = (
    (Gaussian(noise_multiplier=1e-6), {}),
    (Gaussian(noise_multiplier=1e15), {}),
    (Laplace(scale_multiplier=1e-6), {}),
    (DiscreteLaplace(decay_rate=1e-300, sensitivity=1), {}),
    (DiscreteLaplace(decay_rate=700.0, sensitivity=10**15), {}),
    (replace(TRUNCATED, noise_levels=2**40, decay_rate=1e-12), {"attack": "mathematical"}),
    (replace(TRUNCATED, noise_levels=1, decay_rate=30.0), {}),
    (RandomizedResponse(epsilon=1e9, categories=10**15), {}),
    (
        Shuffled(clients=3, mechanism=RandomizedResponse(epsilon=1e9, categories=10**15)),
        {"observer": "shuffled-server"},
    ),
    (Shuffled(clients=3, mechanism=RandomizedResponse(epsilon=40.0, categories=3)), {"observer": "shuffled-server"}),
    (
        Shuffled(clients=10**12, mechanism=RandomizedResponse(epsilon=5.0, categories=2)),
        {"observer": "shuffled-server"},
    ),
    (replace(SAMPLED, rate=1e-300), {}),
    (replace(SAMPLED, rate=1.0), {}),
    (replace(DRAWN, sampling="with-replacement", batch_size=10**5, population=1), {}),
    (replace(DRAWN, population=10**15), {"attack": "mathematical"}),
    (replace(DESCENT, radius=1e-9), {"observer": "final-model"}),
)


@pytest.mark.parametrize("place", range(len(EXTREMES)))
def test_extreme_specs_give_finite_json(place: int) -> None:
    spec, setting = EXTREMES[place]
    prepared = prepare(audit(spec, samples=300, **setting))
    answer = assemble(audit(spec, samples=300, **setting), prepared, [run_block(prepared, 0)])
    assert answer.verdict == "consistent"
    json.dumps(as_json(answer), allow_nan=False)


def test_empty_family_is_rejected() -> None:
    with pytest.raises(InvalidInput):
        run_family((), 0.999)


def test_order_of_blocks_does_not_change_a_bit() -> None:
    request = audit(TRUNCATED, samples=150_000)
    answer = run(request)
    prepared = pickle.loads(pickle.dumps(prepare(request)))
    count = len(prepared.sizes)
    assert count == plan(request).blocks == 3
    blocks = {index: run_block(prepared, index) for index in reversed(range(count))}
    again = assemble(request, prepared, [blocks[index] for index in range(count)])
    assert again == answer
    assert run(replace(request, seed=8)).roc != answer.roc


def test_audit_runs_as_a_simulation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("epsilond.witness.simulation.KINDS", (AUDIT,))
    request = audit(GAUSSIAN)
    prepared = simulation.prepare(request)
    blocks = [simulation.run_block(prepared, index) for index in range(prepared.plan.blocks)]
    assert simulation.assemble(prepared, blocks) == run(request)


@pytest.mark.parametrize(("samples", "work"), [(100, 1.0), (200_001, 30.0), (1_000_000, 1e4), (1000, 1e9)])
def test_blocks_contain_all_samples_and_are_bounded(samples: int, work: float) -> None:
    sizes = block_sizes(samples, work)
    assert sum(sizes) == samples
    assert max(sizes) * work <= max(4e7, work)
    assert max(sizes) <= 65_536


def test_plan_grows_with_samples_and_work() -> None:
    small, more = plan(audit(GAUSSIAN)), plan(audit(GAUSSIAN, samples=2_000_000))
    long = plan(audit(Repeated(times=1000, mechanism=GAUSSIAN)))
    assert small.seconds < more.seconds < 2
    assert small.blocks == 1
    assert long.seconds > 500 * (small.seconds - 0.2)
    assert max(cost.bytes for cost in (small, more, long)) < 5e8


def test_bounds_use_only_the_second_half_of_the_samples() -> None:
    """Distinguish the data sets in the first halves only: no bound above 0 is valid."""
    zeros = np.zeros(1000)
    first, second = np.concatenate([zeros + 1, zeros]), np.concatenate([zeros, zeros])
    halves = SplitStatistics.of(first, second)
    for score in (epsilon_score(0.0), mu_score, delta_score(0.5)):
        bound = best(halves, score, 0.05)
        assert bound.value == 0.0
        assert bound.rule.trials == 1000
    assert best(SplitStatistics.of(second, second), epsilon_score(1e-5), 0.05).value == 0.0


def test_bounds_cover_both_directions_and_both_signs() -> None:
    generator = np.random.default_rng(4)
    sure, unsure = generator.random(20_000) < 0.6, generator.random(20_000) < 0.2
    for sign in (1.0, -1.0):
        a, b = sign * sure, sign * unsure
        for first, second, positive in ((a, b, True), (b, a, False)):
            bound = best(SplitStatistics.of(first, second), epsilon_score(0.0), 0.05)
            assert math.log(3) - 0.15 < bound.value < math.log(3)
            assert bound.rule.first_is_positive is positive
            assert bound.rule.above is (sign > 0)


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"delta": None}, "/delta"),
        ({"log10_delta": -3.0}, "/delta"),
        ({"spec": None, "message": MESSAGE, "relation": "add-or-remove-one"}, "/relation"),
        ({"spec": None, "message": MESSAGE, "observer": "released-models"}, "/observer"),
        ({"spec": None}, "/spec"),
        ({"samples": 50}, "/samples"),
        ({"samples": 3_000_000}, "/samples"),
        ({"confidence": 1.0}, "/confidence"),
        ({"seed": -1}, "/seed"),
        ({"attack": "both"}, "/attack"),
        ({"spec": RESPONSE, "relation": "add-or-remove-one"}, "/relation"),
        ({"spec": DESCENT}, "/observer"),
        ({"spec": replace(SAMPLED, mechanism=RESPONSE)}, "/spec/sampling"),
        ({"spec": Repeated(times=80_000, mechanism=GAUSSIAN), "samples": 2_000_000}, "/samples"),
        ({"spec": Repeated(times=10**9, mechanism=GAUSSIAN), "samples": 100}, "/spec"),
        ({"spec": replace(DRAWN, population=10**9)}, "/spec"),
    ],
)
def test_invalid_request_names_its_field(change: dict[str, Any], pointer: str) -> None:
    with pytest.raises(InvalidInput) as rejected:
        AuditSimulation(**{"spec": GAUSSIAN, "delta": 1e-5, **MESSAGE_SETTING} | change)
    assert rejected.value.faults[0].pointer == pointer


def test_spec_without_theorem_is_rejected_before_drawing() -> None:
    request = audit(replace(SAMPLED, level="clients"), "add-or-remove-one", unit="client")
    with pytest.raises(NoCertificate):
        prepare(request)


def test_request_is_read_from_json() -> None:
    body = {
        "kind": "audit",
        "spec": {"kind": "gaussian", "noise_multiplier": 1},
        "relation": "replace-one",
        "unit": "record",
        "observer": "released-models",
        "log10_delta": -400,
    }
    request = read_body(AuditSimulation, body)
    assert request.spec == GAUSSIAN
    answer = run(replace(request, samples=1000))
    assert answer.delta is None
    assert answer.log10_delta == pytest.approx(-400)
    assert "AuditSimulation" in json.dumps(TypeAdapter(AuditSimulation).json_schema())
    TypeAdapter(type(answer)).json_schema()
