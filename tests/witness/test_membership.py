"""Membership inference: what attacks prove never exceeds the certificate, and does where less noise was added."""

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
from epsilond.witness.memberships.verdict import _auc, _rare
from epsilond.witness.requests import SimulationRequest

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


def asked(training=None, **more):
    body = {"kind": "membership", "training": TRAINING | (training or {}), "runs": 4, "delta": 1e-5} | more
    return read_value(SimulationRequest, body, at="")


def answered(request):
    ready = simulation.prepare(request)
    return simulation.assemble(ready, [simulation.run_block(ready, index) for index in range(ready.plan.blocks)])


KINDS = {
    "gradient": {},
    "sampled": {"sampling_rate": 0.3},
    "flipped": {"canary": "flipped-labels", "canaries": 10},
    "ordinary": {"canary": "ordinary", "canaries": 10},
    "clients": {"unit": "client", "local_steps": 3, "canaries": 30},
    "flipped-clients": {"unit": "client", "canary": "flipped-labels", "canaries": 3},
}


@pytest.mark.parametrize("name", KINDS)
def test_every_kind_of_training_is_attacked_and_stays_below_its_certificate(name):
    answer = answered(asked(KINDS[name], references=6))
    assert [each.attack for each in answer.attacks] == [
        "every-model",
        "final-model",
        "likelihood-ratio",
        "offline-likelihood-ratio",
    ]
    for each in answer.attacks:
        assert each.verdict == "consistent"
        assert 0.0 <= each.epsilon_lower <= answer.certified.upper
        assert 0 <= each.right <= each.guesses <= 4 * answer.canaries
    body = as_json(answer)
    json.dumps(body, allow_nan=False)
    assert "Membership inference" in draw(body, "svg").decode()


def test_worst_canaries_are_found_by_whoever_sees_every_model_and_less_by_who_sees_the_last():
    answer = answered(asked(runs=10))
    every, final = answer.attacks
    assert every.epsilon_lower > 0.25 * answer.certified.upper
    assert 0.0 < final.epsilon_lower < every.epsilon_lower
    assert every.auc > 0.8


def test_too_little_noise_contradicts_the_certificate_by_one_run():
    request = asked({"noise_multiplier": 4.0}, runs=8)
    ready = prepare(request)
    broken = replace(ready, asked=replace(request, training=replace(request.training, noise_multiplier=0.4)))
    answer = assemble(request, ready, [run_block(broken, index) for index in range(simulation.plan(request).blocks)])
    assert answer.attacks[0].verdict == "contradicted"
    assert "one of the two is wrong" in answer.meaning


def test_too_little_noise_contradicts_the_certificate_by_counted_runs():
    request = asked({"noise_multiplier": 4.0, "canaries": 1}, runs=1000)
    ready = prepare(request)
    broken = replace(ready, asked=replace(request, training=replace(request.training, noise_multiplier=0.4)))
    answer = assemble(request, ready, [run_block(broken, index) for index in range(simulation.plan(request).blocks)])
    assert {each.verdict for each in answer.attacks} == {"contradicted"}
    assert answer.attacks[0].method == "counted-runs"
    assert answer.attacks[0].trials == 250


def test_over_many_seeds_bounds_exceed_the_truth_no_more_often_than_they_may():
    # One round without sampling, one canary a run: a Gaussian mechanism, whose ε is certified to many digits.
    bounds = []
    for seed in range(40):
        answer = answered(asked({"rounds": 1, "noise_multiplier": 1.0}, runs=3, seed=seed, attacks=["every-model"]))
        bounds.append(answer.attacks[0].epsilon_lower)
    assert max(bounds) <= answer.certified.upper
    assert np.median(bounds) > 0.1 * answer.certified.upper


def test_one_round_of_a_gradient_canary_scores_its_exact_log_likelihood_ratio():
    training = asked({"rounds": 1, "canaries": 1}, runs=40).training
    known = Members.of(training)
    members = np.array([[True], [False]])
    trained = train(training, generators(3, range(2)), members)
    sent = known.contributions(training, np.zeros((1, 60)), known.ordinary)[0].sum(axis=0)
    total = -trained.models * len(known.ordinary.targets) / training.step_size
    along = (total - sent)[:, 0]
    assert trained.alignment[:, 0] == pytest.approx((along - 0.5) / 4.0, rel=1e-9)


def test_nobody_sends_more_than_the_clipping_norm():
    training = asked({"canary": "flipped-labels", "canaries": 5, "clipping_norm": 0.1}).training
    known = Members.of(training)
    models = np.random.default_rng(1).standard_normal((3, 60))
    for sent in (known.contributions(training, models, known.ordinary), known.canary_contributions(training, models)):
        assert np.linalg.norm(sent, axis=-1).max() <= 0.1 * (1 + 1e-12)


def test_canaries_from_the_data_are_not_among_the_ordinary_members():
    training = asked({"canary": "flipped-labels", "canaries": 5}).training
    known = Members.of(training)
    assert len(known.ordinary.targets) == 15
    every = Members.of(asked({"canary": "gradient"}).training).ordinary
    both = np.concatenate([known.ordinary.features, known.canaries.features])
    assert sorted(map(tuple, both[:, 0])) == sorted(map(tuple, every.features[:, 0]))


def test_runs_do_not_depend_on_those_beside_them():
    request = asked({"sampling_rate": 0.5})
    ready = prepare(request)
    together = run_block(ready, 0)
    for place in range(4):
        alone = run_block(replace(ready, block=1), place)
        assert np.array_equal(alone.members[0], together.members[place])
        assert alone.alignment[0] == pytest.approx(together.alignment[place], rel=1e-9, abs=1e-9)


def test_likelihood_ratios_are_those_of_normal_laws_that_are_known():
    generator = np.random.default_rng(2)
    members = generator.random((4000, 3)) < 0.5
    means = np.array([0.0, 1.0, -2.0])
    references = means + np.where(members, 0.7, 0.0) + generator.standard_normal((4000, 3))
    told = np.array([[0.5, 1.5, -1.0]])
    exact = (0.5 * (told - means) ** 2 - 0.5 * (told - means - 0.7) ** 2).ravel()
    assert likelihood.online(told, references, members).ravel() == pytest.approx(exact, abs=0.1)
    assert likelihood.offline(told, references, members).ravel() == pytest.approx((told - means).ravel(), abs=0.1)


def test_a_canary_that_no_reference_saw_scores_nothing():
    members = np.zeros((5, 2), dtype=bool)
    assert likelihood.online(np.ones((1, 2)), np.ones((5, 2)), members).tolist() == [[0.0, 0.0]]


def test_observed_rates_are_those_of_their_definition():
    inside, outside = np.array([3.0, 2.0, 2.0]), np.array([1.0, 2.0, 0.0, 5.0])
    pairs = [(a > b) + 0.5 * (a == b) for a in inside for b in outside]
    assert _auc(inside, outside) == pytest.approx(np.mean(pairs))
    assert _rare(inside, outside) == 0.0
    assert _rare(inside, np.arange(-100.0, 1.0)) == 1.0
    assert (_auc(inside, outside[:0]), _rare(inside, outside[:0])) == (0.5, 0.0)


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
def test_faults_are_pointed_to(change, pointer):
    body = {"kind": "membership", "training": TRAINING, "runs": 4, "delta": 1e-5} | change
    with pytest.raises(InvalidInput) as refused:
        read_value(SimulationRequest, body, at="")
    assert pointer in [fault.pointer for fault in refused.value.faults]


def test_repetitions_are_no_word_for_runs():
    with pytest.raises(InvalidInput, match="runs"):
        epsilond.simulate({"kind": "membership", "training": TRAINING, "runs": 4, "delta": 1e-5}, repetitions=3)


def test_the_terminal_tells_of_every_attack():
    from rich.console import Console

    from epsilond.terminal.simulations import simulation as shown

    console = Console(width=200)
    with console.capture() as caught:
        console.print(shown(answered(asked(references=4))))
    told = caught.get()
    assert all(name in told for name in ("every-model", "offline-likelihood-ratio", "guesses right"))
    assert math.isfinite(answered(asked()).certified.upper)
