"""ppsgd: certified noise for a client against all others, what fixed-size draws are worth, and how much to share."""

from __future__ import annotations

import math
from typing import Any

import pytest

from epsilond.accountants.account import account
from epsilond.accountants.errors import ConditionViolated, InvalidInput
from epsilond.accountants.specs import Gaussian, Repeated, Subsampled
from epsilond.accountants.theorems.papers.bietti.noise import least_constant, least_noise_std
from epsilond.accountants.theorems.risk.bietti.full_participation import ANY_STEP, AnyStepInputs
from epsilond.accountants.theorems.risk.bietti.sampled_participation import PERSONALIZED_RISK, DrawnInputs
from epsilond.calibrators.answer import Calibration
from epsilond.calibrators.ppsgd.calibrator import CALIBRATOR
from epsilond.calibrators.ppsgd.problem import PpsgdProblem
from tests.answers import codes, remembered, risk_of

FULL: dict[str, Any] = {
    "epsilon": 4.0, "delta": 1e-5, "clients": 100, "rounds": 300, "clipping_norm": 1.0, "shared_dimension": 50,
    "smoothness": 2.0, "lipschitz": 1.0, "shared_gradient_std": 1.0, "local_gradient_std": 1.0, "optimum_norm": 1.0,
    "relation": "replace-one", "unit": "client", "observer": "other-clients",
}  # fmt: skip
POISSON: dict[str, Any] = {**FULL, "sampling": "poisson", "participation_rate": 0.1, "shared_gradient_norm": 0.0}
FIXED: dict[str, Any] = {
    **FULL, "sampling": "without-replacement", "participation_rate": 0.02, "clients": 500, "rounds": 2000,
    "shared_gradient_norm": 0.0,
}  # fmt: skip


def problem(base: dict[str, Any] = FULL, **changes: Any) -> PpsgdProblem:
    fields = {**base, **changes}
    return PpsgdProblem(**{name: value for name, value in fields.items() if value is not None})


@remembered
def solved(base: dict[str, Any] = FULL, **changes: Any) -> Calibration:
    return CALIBRATOR.solve(problem(base, **changes))


# Privacy ------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("relation", "factor"), [("replace-one", 2.0), ("zero-out-one", 1.0)])
@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 1e-5), (1.0, 1e-5), (8.0, 1e-60), (100.0, 1e-9)])
def test_full_participation_has_the_exact_noise(relation: Any, factor: float, epsilon: float, delta: float) -> None:
    answer = solved(relation=relation, epsilon=epsilon, delta=delta)
    exact = least_noise_std(
        clipping_norm=1.0,
        clients=100,
        rounds=300,
        epsilon=epsilon,
        log_delta=math.log(delta),
        sensitivity_factor=factor,
    )
    assert answer.parameters.noise_std == pytest.approx(exact, rel=1e-13)
    assert answer.parameters.noise_multiplier == pytest.approx(100 * exact, rel=1e-13)
    assert (answer.guarantee.tight, answer.guarantee.minimal) == ("proved", "proved")
    assert answer.guarantee.sensitivity == factor / 100
    constant = least_constant(epsilon=epsilon, log_delta=math.log(delta), sensitivity_factor=factor)
    assert answer.parameters.noise_constant == pytest.approx(constant, rel=1e-12)


def test_the_guarantee_is_joint_and_rests_on_the_billboard_lemma() -> None:
    for base in (FULL, POISSON, FIXED):
        answer = solved(base)
        said = answer.guarantee
        assert (said.definition, said.unit, said.observer) == ("joint", "client", "other-clients")
        assert answer.derivation[-1].theorem == "hsu-2014.billboard-lemma"
        declared = [one.id for one in answer.all_declared]
        assert {"own-parts-stay-home", "clipped-messages", "public-weight"} <= set(declared)
        assert len(declared) == len(set(declared))


@pytest.mark.parametrize("relation", ["replace-one", "zero-out-one", "add-or-remove-one"])
def test_poisson_draws_are_accounted_for_by_the_engine(relation: Any) -> None:
    answer = solved(POISSON, relation=relation)
    spec = Repeated(
        times=300,
        mechanism=Subsampled(
            sampling="poisson", rate=0.1, mechanism=Gaussian(noise_multiplier=answer.parameters.noise_multiplier)
        ),
    )
    curve = account(spec, relation=relation).guarantee.curve
    assert answer.guarantee.log10_delta.upper == pytest.approx(curve.log_delta(4.0).upper / math.log(10), rel=1e-12)
    assert answer.parameters.noise_std == pytest.approx(answer.parameters.noise_multiplier / 10)
    assert answer.parameters.noise_std < solved(relation=relation).parameters.noise_std * 1.2
    assert answer.parameters.participants is None


def test_a_rate_of_one_is_full_participation() -> None:
    whole = solved().parameters.noise_multiplier
    assert solved(POISSON, participation_rate=1.0).parameters.noise_multiplier == pytest.approx(whole, rel=1e-6)
    fixed = solved(FIXED, participation_rate=1.0, clients=100, rounds=300)
    assert fixed.parameters.noise_multiplier == pytest.approx(whole, rel=1e-6)
    assert fixed.parameters.participation is None


@pytest.mark.parametrize(("relation", "unseen"), [("zero-out-one", 4.84), ("replace-one", 8.32)])
def test_a_fixed_number_is_not_amplified_and_says_so_with_both_figures(relation: Any, unseen: float) -> None:
    """The experiments' N = 500, Q = 10, T = 2000, asked for the ε they report."""
    answer = solved(FIXED, epsilon=unseen, delta=1e-4, relation=relation)
    found = answer.parameters.participation
    assert found is not None
    assert found.expected_rounds == 40.0
    assert found.epsilon_against_other_clients.upper <= unseen
    assert found.epsilon_if_unseen.upper < found.epsilon_of_expected_rounds.upper
    assert found.epsilon_of_expected_rounds.upper < found.epsilon_against_other_clients.upper
    message = next(one.message for one in answer.warnings if one.code == "no-amplification")
    assert f"{found.epsilon_if_unseen.upper:.6g}" in message
    assert f"{found.epsilon_against_other_clients.upper:.6g}" in message
    (printed,) = answer.readings
    assert (printed.theorem, printed.reading) == ("bietti.section-6", "experimental")
    assert printed.true is not None
    assert printed.true.epsilon.lower > 5 * unseen
    if relation == "zero-out-one":
        assert printed.parameters["noise_multiplier"] == pytest.approx(1.0, rel=1e-3)
    assert {"printed-noise-not-private", "printed-noise-below-certified"} <= codes(answer)


def test_a_fixed_number_needs_about_the_noise_of_its_rounds_without_sampling() -> None:
    drawn = solved(FIXED).parameters.noise_multiplier
    plain = solved(rounds=40).parameters.noise_multiplier
    assert plain < drawn < 1.5 * plain


def test_absent_clients_are_missed_where_the_number_is_fixed() -> None:
    with pytest.raises(ConditionViolated):
        solved(FIXED, relation="add-or-remove-one")


# Printed ------------------------------------------------------------------------------------------------------------
def test_printed_noises_need_their_constant() -> None:
    assert {one.theorem for one in solved().readings} <= {"bietti.4.5"}
    enough = solved(noise_constant=3.4142135623731).readings[0]
    assert (enough.theorem, enough.reading) == ("bietti.4.1", "statement")
    assert enough.true is not None
    assert enough.true.epsilon.upper < 4.0
    assert [one.holds for one in enough.conditions] == ["yes"]
    few = solved(noise_constant=1.0)
    condition = few.readings[0].conditions[0]
    assert (condition.holds, condition.left) == ("no", 1.0)
    assert condition.right == pytest.approx(few.parameters.noise_constant, rel=1e-10)
    assert {"printed-condition-fails", "printed-noise-not-private", "printed-noise-below-certified"} <= codes(few)


def test_printed_noise_with_draws_stands_beside_its_true_figure() -> None:
    answer = solved(POISSON, noise_constant=5.0, personalization=0.03)
    noise, bound = answer.readings
    assert (noise.theorem, bound.theorem) == ("bietti.5.1", "bietti.b.4")
    assert noise.parameters["noise_std"] == pytest.approx(5.0 * math.sqrt(300 * math.log(1e5)) / 400)
    assert noise.conditions[0].holds == "undecidable"
    assert noise.true is not None
    assert noise.true.epsilon.upper < 4.0
    assert [one.holds for one in bound.conditions] == ["no", "yes"]
    assert solved(POISSON, weighting="samples", personalization=0.03).readings[0].theorem == "bietti.5.2"


def test_a_constant_that_nothing_is_printed_with_is_said() -> None:
    assert "field-not-used" in codes(solved(FIXED, noise_constant=1.0))
    assert "field-not-used" not in codes(solved(POISSON, noise_constant=1.0))


def test_readings_can_be_chosen() -> None:
    assert solved(noise_constant=1.0, readings=()).readings == ()
    assert solved(FIXED, readings=("statement",)).readings == ()


# How much to share --------------------------------------------------------------------------------------------------
def test_the_optimised_alpha_sits_at_the_end_that_the_lemma_names() -> None:
    """So smooth that only the variance counts: local below the threshold on ε, global above it."""
    for epsilon in (1.0, 12.0, 14.0, 50.0):
        answer = solved(smoothness=1e-9, epsilon=epsilon)
        sharing = answer.parameters.sharing
        assert sharing is not None
        assert sharing.threshold is not None
        local = epsilon <= sharing.threshold.epsilon
        assert local == (sharing.threshold.rounds <= 300)
        assert answer.parameters.personalization == (0.0 if local else "unbounded")
        assert ("nothing-is-shared" in codes(answer)) == local
        end = sharing.local_only if local else sharing.global_only
        assert risk_of(answer) == pytest.approx(end.proved_excess_risk, rel=1e-12)


def test_clients_with_different_optima_have_no_threshold() -> None:
    """The lemma is for one common optimum. Own optima far apart make sharing nothing best at any ε."""
    sharing = solved(optimum_spread=1.0).parameters.sharing
    assert sharing is not None
    assert sharing.threshold is None


def test_the_optimised_alpha_beats_both_ends_where_the_bias_counts() -> None:
    """The paper's synthetic regime: optima far away, hardly any noise."""
    answer = solved(
        clients=1000, optimum_norm=100.0, shared_gradient_std=0.02, local_gradient_std=0.02, epsilon=1000.0,
        rounds=10, clipping_norm=0.05, lipschitz=0.05,
    )  # fmt: skip
    sharing = answer.parameters.sharing
    assert sharing is not None
    assert answer.parameters.personalization == 1e-3
    assert risk_of(answer) < 0.8 * min(sharing.local_only.proved_excess_risk, sharing.global_only.proved_excess_risk)
    assert sharing.best == sharing.balanced


@pytest.mark.parametrize("base", [FULL, POISSON, FIXED])
@pytest.mark.parametrize("spread", [0.0, 0.05])
def test_no_alpha_that_is_given_does_better(base: dict[str, Any], spread: float) -> None:
    best = risk_of(solved(base, optimum_spread=spread, epsilon=30.0))
    for alpha in (0.0, 1e-4, 0.01, 0.05, 0.3, 5.0, "unbounded"):
        answer = solved(base, optimum_spread=spread, epsilon=30.0, personalization=alpha)
        assert risk_of(answer) >= best * (1 - 1e-9)
        assert answer.parameters.personalization == alpha
        sharing = answer.parameters.sharing
        assert sharing is not None
        assert not sharing.optimised
        assert sharing.best.proved_excess_risk == pytest.approx(best, rel=1e-9)
        assert alpha in [point.personalization for point in sharing.curve]


def test_what_is_recommended_is_the_least_that_is_proved() -> None:
    """Chosen by 4L + 3σ, the α of the least proved bound is missed: local only has 0.7833 by (23) where 1.2574 stood."""
    asked: dict[str, Any] = {
        **FIXED, "clients": 1000, "rounds": 300, "participation_rate": 0.05, "shared_dimension": 100, "epsilon": 1.0,
        "delta": 1e-6, "shared_gradient_norm": None,
    }  # fmt: skip
    answer = solved(asked)
    sharing = answer.parameters.sharing
    assert sharing.local_only.excess_risk_at_step == pytest.approx(0.78333, rel=1e-4)
    points = (*sharing.curve, sharing.best, sharing.local_only, sharing.balanced, sharing.global_only)
    assert risk_of(answer) == pytest.approx(min(point.proved_excess_risk for point in points), rel=1e-12)
    assert risk_of(answer) <= min(point.excess_risk_at_step for point in points) * (1.0 + 1e-12)
    assert risk_of(answer) < 0.7
    chosen = sharing.best
    assert answer.parameters.personalization == chosen.personalization
    assert answer.parameters.step_size == chosen.step_size
    for alpha in (0.0, 1e-4, 1e-3, 0.0196, 0.1, 1.0):
        other = solved(asked, personalization=alpha)
        assert risk_of(other) >= risk_of(answer) * (1 - 1e-9)


def test_clients_that_differ_cannot_share_everything() -> None:
    answer = solved(optimum_spread=0.05, personalization="unbounded")
    assert risk_of(answer) == math.inf
    assert answer.parameters.sharing.global_only.excess_risk == math.inf


@pytest.mark.parametrize("base", [FULL, POISSON, FIXED])
@pytest.mark.parametrize("weighting", ["clients", "samples"])
def test_the_risk_is_that_of_the_theorem_it_names(base: dict[str, Any], weighting: Any) -> None:
    n = base["clients"]
    groups = ({"clients": n - 20, "batch_size": 2}, {"clients": 20, "batch_size": 6})
    alpha = 0.03
    answer = solved(
        base, weighting=weighting, client_groups=groups, personalization=alpha, lipschitz=0.1, shared_gradient_norm=0.05
    )
    squared = n / (alpha * n + 1)
    inputs = DrawnInputs(
        client_groups=tuple(
            {**one, "shared_gradient_std": 1.0, "local_gradient_std": 1.0, "shared_gradient_norm": 0.05}
            for one in groups
        ),  # type: ignore[arg-type]
        rounds=base["rounds"], smoothness=2.0, personalization=alpha, weighted_optimum_norm=math.sqrt(squared),
        shared_dimension=50, noise_std=answer.parameters.noise_std, sampling=base.get("sampling", "full"),
        participation_rate=base.get("participation_rate", 1.0), weighting=weighting,
    )  # fmt: skip
    found = PERSONALIZED_RISK.evaluate(inputs).outputs
    at_step = AnyStepInputs(
        rounds=base["rounds"], step_size=found["step_size"], smoothness=found["weighted_smoothness"],
        weighted_optimum_norm=math.sqrt(squared), gradient_std=math.sqrt(found["variance"]),
    )  # fmt: skip
    assert answer.risk is not None
    assert answer.risk.upper is not None
    assert answer.risk.upper.theorem == ANY_STEP.id
    assert risk_of(answer) == pytest.approx(ANY_STEP.evaluate(at_step).outputs["excess_risk"], rel=1e-12)
    assert risk_of(answer) == pytest.approx(math.fsum(answer.risk.upper.terms.values()), rel=1e-12)
    assert risk_of(answer) <= found["excess_risk_at_step"] * (1 + 1e-12) <= found["excess_risk"] * (1 + 2e-12)
    assert answer.parameters.step_size == pytest.approx(found["step_size"], rel=1e-12)
    assert answer.parameters.shared_step_size == pytest.approx(alpha * found["step_size"], rel=1e-12)
    weight = n if weighting == "clients" else 2 * (n - 20) + 120
    drawn = base.get("participation_rate", 1.0) * weight
    assert answer.parameters.local_step_size == pytest.approx(found["step_size"] / drawn, rel=1e-12)
    chosen = next(one for one in answer.parameters.sharing.curve if one.personalization == alpha)
    assert chosen.excess_risk_at_step == pytest.approx(found["excess_risk_at_step"], rel=1e-12)


def test_what_is_unknown_is_taken_at_its_largest_and_said() -> None:
    bare = solved(POISSON, lipschitz=None, shared_gradient_std=None, local_gradient_std=None, shared_gradient_norm=None)
    assert {
        "assumed-lipschitz", "assumed-shared-gradient-std", "assumed-local-gradient-std",
        "assumed-shared-gradient-norm",
    } <= codes(bare)  # fmt: skip
    assert risk_of(bare) >= risk_of(solved(POISSON))
    assert not any(code.startswith("assumed") for code in codes(solved(POISSON)))


def test_without_the_problem_there_is_noise_and_no_risk() -> None:
    for missing in ({"smoothness": None}, {"optimum_norm": None}):
        answer = solved(**missing)
        assert answer.risk is None
        assert answer.parameters.sharing is None
        assert answer.parameters.personalization is None
        assert "no-risk-without-the-problem" in codes(answer)
        assert answer.parameters.noise_std == solved().parameters.noise_std
    assert solved(smoothness=None, personalization=0.5).parameters.personalization == 0.5


def test_clipping_that_may_bind_leaves_no_risk() -> None:
    for changes in ({"lipschitz": 1.5}, {"weighting": "samples", "batch_size": 2}):
        answer = solved(**changes)
        assert answer.risk is None
        assert "clipping-may-bind" in codes(answer)
    assert solved(weighting="samples", batch_size=2, lipschitz=0.5).risk is not None


# Size and shape -----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("sampling", ["full", "poisson", "without-replacement"])
def test_a_million_clients_are_counts(sampling: str) -> None:
    groups = tuple({"clients": 10_000 * (1 + place % 2) - 5_000, "batch_size": 1 + place} for place in range(100))
    answer = solved(
        clients=10**6, client_groups=groups, sampling=sampling, weighting="samples", lipschitz=0.01,
        participation_rate=None if sampling == "full" else 1e-3, optimum_spread=0.1, rounds=100_000,
    )  # fmt: skip
    assert math.isfinite(risk_of(answer))
    assert answer.guarantee.epsilon.upper <= answer.guarantee.target.epsilon


def test_communication() -> None:
    whole, drawn = solved().communication, solved(POISSON).communication
    assert whole is not None
    assert drawn is not None
    assert whole.total_bits == 32 * 50 * 300 * 100
    assert whole.expected_total_bits is None
    assert drawn.total_bits == whole.total_bits
    assert drawn.expected_total_bits == pytest.approx(whole.total_bits / 10)
    assert solved(FIXED).communication.total_bits == 32 * 50 * 2000 * 10


def test_cost() -> None:
    assert CALIBRATOR.cost(problem()) == "closed-form"
    assert CALIBRATOR.cost(problem(POISSON)) == "search"


@pytest.mark.parametrize(
    ("base", "changes", "pointer"),
    [
        (POISSON, {"participation_rate": None}, "/participation_rate"),
        (POISSON, {"participation_rate": 1.2}, "/participation_rate"),
        (FULL, {"participation_rate": 0.5}, "/participation_rate"),
        (FIXED, {"participation_rate": 0.0213}, "/participation_rate"),
        (FULL, {"sampling": "with-replacement"}, "/sampling"),
        (FULL, {"unit": "record"}, "/unit"),
        (FULL, {"observer": "server"}, "/observer"),
        (FULL, {"rounds": 0}, "/rounds"),
        (FULL, {"delta": 1.0}, "/delta"),
        (FULL, {"log10_delta": -5.0}, "/delta"),
        (FULL, {"personalization": -1.0}, "/personalization"),
        (FULL, {"personalization": "global"}, "/personalization"),
        (FULL, {"personalization": math.inf}, "/personalization"),
        (FULL, {"client_groups": ({"clients": 99},)}, "/client_groups"),
        (FULL, {"client_groups": ({"clients": 100},), "batch_size": 2}, "/client_groups"),
        (FULL, {"optimum_norm": 1e150}, "/optimum_norm"),
        (FULL, {"readings": ("proof",)}, "/readings"),
        (FULL, {"weighting": "rounds"}, "/weighting"),
    ],
)
def test_problems_that_no_run_can_have(base: dict[str, Any], changes: dict[str, Any], pointer: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        problem(base, **changes)
    assert pointer in {fault.pointer for fault in caught.value.faults}


@pytest.mark.parametrize(
    "changes",
    [
        {"epsilon": 1e-6},
        {"epsilon": 1e6},
        {"delta": None, "log10_delta": -1e5},
        {"rounds": 1, "clients": 1, "epsilon": 0.5},
        {"rounds": 10**9, "clients": 10**9},
    ],
)
@pytest.mark.parametrize("base", [FULL, POISSON, FIXED])
def test_extremes_are_certified(base: dict[str, Any], changes: dict[str, Any]) -> None:
    if changes.get("clients") == 1 and base is FIXED:
        changes = {**changes, "participation_rate": 1.0}
    answer = solved(base, **changes)
    assert answer.guarantee.epsilon.upper <= answer.guarantee.target.epsilon
    assert answer.guarantee.log10_delta.upper <= answer.guarantee.target.log10_delta
    assert risk_of(answer) >= 0.0


def test_the_example_is_a_problem() -> None:
    assert problem(dict(CALIBRATOR.example)).sampling == "poisson"
