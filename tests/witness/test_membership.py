"""Membership inference: lower bounds do not exceed the certificate, unless less noise was added than certified."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest

import epsilond
from epsilond.accountants.errors import InvalidInput
from epsilond.calibrators.answer import as_json
from epsilond.reading import read_value
from epsilond.simulators.memberships import likelihood
from epsilond.simulators.memberships.training import Members, train
from epsilond.simulators.seeds import generators
from epsilond.witness import simulation
from epsilond.witness.figures import draw
from epsilond.witness.memberships.membership import assemble, prepare, run_block
from epsilond.witness.memberships.verdict import _auc, _rare_true_positive_rate
from epsilond.witness.requests import SimulationRequest
from tests.witness.running import run_simulation

PROBLEM = {"kind": "logistic", "clients": 5, "samples_per_client": 4, "dimension": 60}
TRAINING = {
    "problem": PROBLEM,
    "unit": "record",
    "rounds": 10,
    "clipping_norm": 1.0,
    "noise_multiplier": 2.0,
    "step_size": 0.5,
    "canaries": 60,
}


def membership(training=None, **more):
    body = {"kind": "membership", "training": TRAINING | (training or {}), "runs": 4, "delta": 1e-5} | more
    return read_value(SimulationRequest, body, at="")


KINDS = {
    "gradient": {},
    "sampled": {"sampling_rate": 0.3},
    "flipped": {"canary": "flipped-labels", "canaries": 10},
    "ordinary": {"canary": "ordinary", "canaries": 10},
    "clients": {"unit": "client", "local_steps": 3, "canaries": 30},
    "flipped-clients": {"unit": "client", "canary": "flipped-labels", "canaries": 3},
}


@pytest.mark.parametrize("name", KINDS)
def test_lower_bounds_are_below_the_certificate(name):
    answer = run_simulation(membership(KINDS[name], references=6))
    assert [attack.attack for attack in answer.attacks] == [
        "every-model",
        "final-model",
        "likelihood-ratio",
        "offline-likelihood-ratio",
    ]
    for attack in answer.attacks:
        assert attack.verdict == "consistent"
        assert 0.0 <= attack.epsilon_lower <= answer.certified.upper
        assert 0 <= attack.right <= attack.guesses <= 4 * answer.canaries
    body = as_json(answer)
    json.dumps(body, allow_nan=False)
    assert "Membership inference" in draw(body, "svg").decode()


def test_attack_on_every_model_proves_more_than_on_the_last():
    answer = run_simulation(membership(runs=10))
    every, final = answer.attacks
    assert every.epsilon_lower > 0.25 * answer.certified.upper
    assert 0.0 < final.epsilon_lower < every.epsilon_lower
    assert every.auc > 0.8


def attack_with_less_noise(request, noise_multiplier):
    """Attack trainings with less noise than the request, and return the answer with the certificate of the request."""
    prepared = prepare(request)
    less_noise = replace(request.training, noise_multiplier=noise_multiplier)
    faulty = replace(prepared, request=replace(request, training=less_noise))
    blocks = [run_block(faulty, index) for index in range(simulation.plan(request).blocks)]
    return assemble(request, prepared, blocks)


def test_too_little_noise_contradicts_the_certificate_by_one_run():
    answer = attack_with_less_noise(membership({"noise_multiplier": 4.0}, runs=8), 0.4)
    assert answer.attacks[0].verdict == "contradicted"
    assert "one of the two is wrong" in answer.meaning


def test_too_little_noise_contradicts_the_certificate_by_counted_runs():
    answer = attack_with_less_noise(membership({"noise_multiplier": 4.0, "canaries": 1}, runs=1000), 0.4)
    assert {attack.verdict for attack in answer.attacks} == {"contradicted"}
    assert answer.attacks[0].method == "counted-runs"
    assert answer.attacks[0].trials == 250


def test_lower_bounds_are_below_the_true_epsilon_for_many_seeds():
    # One round without sampling, one canary a run: a Gaussian mechanism, whose ε is certified to many digits.
    bounds = []
    for seed in range(40):
        answer = run_simulation(
            membership({"rounds": 1, "noise_multiplier": 1.0}, runs=3, seed=seed, attacks=["every-model"])
        )
        bounds.append(answer.attacks[0].epsilon_lower)
    assert max(bounds) <= answer.certified.upper
    assert np.median(bounds) > 0.1 * answer.certified.upper


def test_score_of_a_gradient_canary_is_its_log_likelihood_ratio():
    training = membership({"rounds": 1, "canaries": 1}, runs=40).training
    data = Members.of(training)
    members = np.array([[True], [False]])
    trained = train(training, generators(3, range(2)), members)
    sent = data.contributions(training, np.zeros((1, 60)), data.ordinary)[0].sum(axis=0)
    total = -trained.models * len(data.ordinary.targets) / training.step_size
    along = (total - sent)[:, 0]
    assert trained.alignment[:, 0] == pytest.approx((along - 0.5) / 4.0, rel=1e-9)


def test_contributions_are_at_most_the_clipping_norm():
    training = membership({"canary": "flipped-labels", "canaries": 5, "clipping_norm": 0.1}).training
    data = Members.of(training)
    models = np.random.default_rng(1).standard_normal((3, 60))
    for sent in (data.contributions(training, models, data.ordinary), data.canary_contributions(training, models)):
        assert np.linalg.norm(sent, axis=-1).max() <= 0.1 * (1 + 1e-12)


def test_canaries_from_the_data_are_not_among_the_ordinary_members():
    training = membership({"canary": "flipped-labels", "canaries": 5}).training
    data = Members.of(training)
    assert len(data.ordinary.targets) == 15
    every = Members.of(membership({"canary": "gradient"}).training).ordinary
    both = np.concatenate([data.ordinary.features, data.canaries.features])
    assert sorted(map(tuple, both[:, 0])) == sorted(map(tuple, every.features[:, 0]))


def test_runs_do_not_depend_on_their_block():
    request = membership({"sampling_rate": 0.5})
    prepared = prepare(request)
    together = run_block(prepared, 0)
    for place in range(4):
        single = run_block(replace(prepared, block=1), place)
        assert np.array_equal(single.members[0], together.members[place])
        assert single.alignment[0] == pytest.approx(together.alignment[place], rel=1e-9, abs=1e-9)


def test_likelihood_ratios_match_known_normal_distributions():
    generator = np.random.default_rng(2)
    members = generator.random((4000, 3)) < 0.5
    means = np.array([0.0, 1.0, -2.0])
    references = means + np.where(members, 0.7, 0.0) + generator.standard_normal((4000, 3))
    scores = np.array([[0.5, 1.5, -1.0]])
    exact = (0.5 * (scores - means) ** 2 - 0.5 * (scores - means - 0.7) ** 2).ravel()
    assert likelihood.score_online(scores, references, members).ravel() == pytest.approx(exact, abs=0.1)
    assert likelihood.score_offline(scores, references, members).ravel() == pytest.approx(
        (scores - means).ravel(), abs=0.1
    )


def test_canary_without_reference_scores_zero():
    members = np.zeros((5, 2), dtype=bool)
    assert likelihood.score_online(np.ones((1, 2)), np.ones((5, 2)), members).tolist() == [[0.0, 0.0]]


def test_auc_and_rare_rate_match_their_definitions():
    inside, outside = np.array([3.0, 2.0, 2.0]), np.array([1.0, 2.0, 0.0, 5.0])
    pairs = [(a > b) + 0.5 * (a == b) for a in inside for b in outside]
    assert _auc(inside, outside) == pytest.approx(np.mean(pairs))
    assert _rare_true_positive_rate(inside, outside) == 0.0
    assert _rare_true_positive_rate(inside, np.arange(-100.0, 1.0)) == 1.0
    assert (_auc(inside, outside[:0]), _rare_true_positive_rate(inside, outside[:0])) == (0.5, 0.0)


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"runs": 41, "training": TRAINING | {"canaries": 1}}, "/runs"),
        ({"runs": 10, "training": TRAINING | {"canaries": 1}}, "/runs"),
        ({"references": 2}, "/references"),
        ({"attacks": ["likelihood-ratio"]}, "/references"),
        ({"attacks": ["final-model", "final-model"]}, "/attacks/1"),
        ({"training": TRAINING | {"canaries": 61}}, "/training/canaries"),
        ({"training": TRAINING | {"canaries": 20, "canary": "ordinary"}}, "/training/canaries"),
        ({"training": TRAINING | {"local_steps": 2}}, "/training/local_steps"),
        ({"training": TRAINING | {"problem": PROBLEM | {"kind": "linear"}}}, "/training/problem/kind"),
        ({"delta": None}, "/delta"),
        ({"runs": 100_000, "training": TRAINING | {"rounds": 10**6}}, "/runs"),
    ],
)
def test_invalid_request_names_its_field(change, pointer):
    body = {"kind": "membership", "training": TRAINING, "runs": 4, "delta": 1e-5} | change
    with pytest.raises(InvalidInput) as rejected:
        read_value(SimulationRequest, body, at="")
    assert pointer in [fault.pointer for fault in rejected.value.faults]


def test_repetitions_are_rejected_in_place_of_runs():
    with pytest.raises(InvalidInput, match="runs"):
        epsilond.simulate({"kind": "membership", "training": TRAINING, "runs": 4, "delta": 1e-5}, repetitions=3)


def test_terminal_shows_every_attack():
    from rich.console import Console

    from epsilond.terminal.simulations import simulation as shown

    console = Console(width=200)
    with console.capture() as caught:
        console.print(shown(run_simulation(membership(references=4))))
    text = caught.get()
    assert all(name in text for name in ("every-model", "offline-likelihood-ratio", "guesses right"))
    assert math.isfinite(run_simulation(membership()).certified.upper)
