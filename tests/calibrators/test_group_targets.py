"""Groups of clients with targets of their own: ε = 0 and risks, against closed forms and single calibrations."""

from __future__ import annotations

from typing import Any

import pytest
from mpmath import mp, sqrt

import epsilond
from epsilond.accountants.errors import InvalidInput
from epsilond.calibrators.mb_sgd.risk import MbSgdRiskProblem
from epsilond.reading import read
from tests.calibrators.test_risk_targets import LEARNING, RISKS, exact_mu

OWN: dict[str, dict[str, float]] = RISKS | {"zero epsilon": {"epsilon": 0.0, "delta": 0.01}}
REQUESTS: dict[str, dict[str, float]] = {
    "point": {"epsilon": 1.0, "delta": 1e-5},
    "advantage": {"advantage": 0.05},
    "zero epsilon": {"epsilon": 0.0, "delta": 0.02},
}
each_request = pytest.mark.parametrize("request_target", REQUESTS)
each_own = pytest.mark.parametrize("own", OWN)
RUN = LEARNING | {"batch_size": 100, "rounds": 7}


def calibrated(request_target: str, own: str, algorithm: str = "mb-sgd", **changes: Any) -> Any:
    groups = [{"clients": 20, "samples_per_client": 1000}, {"clients": 30, "samples_per_client": 1000, **OWN[own]}]
    fields = RUN | changes | REQUESTS[request_target]
    return epsilond.calibrate(algorithm, **fields, client_groups=groups)  # type: ignore[call-overload]


@pytest.mark.parametrize("algorithm", ["mb-sgd", "accelerated-mb-sgd"])
@each_request
@each_own
def test_whole_clients_have_the_noise_of_their_own_target(own: str, request_target: str, algorithm: str) -> None:
    first, second = calibrated(request_target, own, algorithm, unit="client").parameters.groups
    for group, fields in ((first, REQUESTS[request_target]), (second, OWN[own])):
        assert {name: getattr(group.guarantee.target, name) for name in fields} == fields
    fields = {"advantage": 0.01} if own == "zero epsilon" else OWN[own]
    with mp.workdps(40):
        exact = float(2 * sqrt(7) / exact_mu(fields))
    assert exact * (1 - 1e-12) <= second.noise_multiplier <= exact * (1 + 2e-6)


@each_request
@each_own
def test_a_group_has_the_noise_of_a_request_with_its_target(own: str, request_target: str) -> None:
    groups = calibrated(request_target, own).parameters.groups
    for group, fields in zip(groups, (REQUESTS[request_target], OWN[own]), strict=True):
        single = epsilond.calibrate("mb-sgd", **RUN, **fields)  # type: ignore[call-overload]
        assert group.noise_multiplier == pytest.approx(single.parameters.noise_multiplier, rel=2e-3)
    if "epsilon" not in OWN[own]:  # a risk is read at the request's δ
        assert groups[1].guarantee.target.delta == REQUESTS[request_target].get("delta", 1e-5)


@each_own
def test_printed_noise_is_compared_only_if_every_group_has_a_positive_epsilon(own: str) -> None:
    answer = calibrated("point", own)
    least = min(group.guarantee.target.epsilon for group in answer.parameters.groups)
    codes = {caution.code for caution in answer.warnings}
    assert bool(answer.readings) == (least > 0.0)
    assert ("nothing-printed-at-zero" in codes) == (least == 0.0)
    assert "guarantee-per-group" in codes


@each_own
def test_a_run_is_chosen_for_groups_with_targets_of_their_own(own: str) -> None:
    answer = calibrated("point", own, rounds=None, batch_size=None)
    assert answer.parameters.rounds >= 1
    assert {name: getattr(answer.parameters.groups[1].guarantee.target, name) for name in OWN[own]} == OWN[own]


@pytest.mark.parametrize(
    ("own", "pointer"),
    [
        ({"advantage": 0.1, "rho": 0.1}, "/rho"),
        ({"advantage": 0.1, "epsilon": 1.0}, "/epsilon"),
        ({"true_positive_rate": 0.1}, "/false_positive_rate"),
        ({"true_positive_rate": 0.1, "false_positive_rate": 0.3}, "/true_positive_rate"),
        ({"advantage": 1.0}, "/advantage"),
        ({"gaussian_dp_mu": 0.0}, "/gaussian_dp_mu"),
        ({"epsilon": -1.0}, "/epsilon"),
        ({"rho": float("nan")}, "/rho"),
    ],
)
def test_a_target_of_a_group_that_is_none_is_rejected_by_name(own: dict[str, float], pointer: str) -> None:
    groups = [{"clients": 50, "samples_per_client": 1000, **own}]
    with pytest.raises(InvalidInput) as error:
        epsilond.calibrate("mb-sgd", **RUN, epsilon=1.0, delta=1e-5, client_groups=groups)
    assert f"/client_groups/0{pointer}" in {fault.pointer for fault in error.value.faults}


@each_own
def test_bounds_on_the_risk_need_an_epsilon_of_each_group(own: str) -> None:
    groups = [{"clients": 50, "samples_per_client": 1000, **OWN[own]}]
    with pytest.raises(InvalidInput) as error:
        read(MbSgdRiskProblem, RUN | {"epsilon": 1.0, "delta": 1e-5, "noise_std": 1.0, "client_groups": groups})
    name = "epsilon" if own == "zero epsilon" else next(iter(OWN[own]))
    assert f"/client_groups/0/{name}" in {fault.pointer for fault in error.value.faults}
