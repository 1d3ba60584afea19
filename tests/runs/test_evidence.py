"""Evidence of a run: its status, its declared items, its contradictions, and its checkpoints."""

import json
import pickle

import pytest

import epsilond
from epsilond import Interval, InvalidInput, RunDiffers, RunStatus
from epsilond.runs.evidence import Evidence
from epsilond.runs.premises import CLIPPING, FRESH_DRAW, NOISE, OUTSIDE_RECORDS, PARAMETERS, PREMISES
from epsilond.runs.statement import state_run

SETTING = {"relation": "add-or-remove-one", "unit": "record", "observer": "released-models"}


class Budget:
    def __init__(self):
        self.calls = []

    def contradict(self, observations):
        self.calls.append(tuple(observations))


def evidence(budget=None):
    return Evidence([FRESH_DRAW, NOISE, PARAMETERS], outside=OUTSIDE_RECORDS, budget=budget)


def statement(run):
    return state_run(run, Interval(1.0, 1.5), delta=1e-5, **SETTING)


def test_a_run_without_a_step_is_certified():
    assert statement(evidence()).status == RunStatus.CERTIFIED


def test_a_run_is_certified_only_if_each_step_showed_each_premise():
    run = evidence()
    run.count_step([FRESH_DRAW, NOISE, PARAMETERS], count=3)
    assert run.status == "certified"
    assert run.declared == ()
    run.count_step([FRESH_DRAW, NOISE])
    assert run.status == "declared"
    assert run.declared == (f"{PARAMETERS.statement} Observed in 3 of 4 steps.",)
    assert run.shown == {"fresh-draw": 4, "noise": 4, "parameters": 3}


def test_a_reason_is_listed_with_its_count():
    run = evidence()
    run.count_step([FRESH_DRAW, NOISE, PARAMETERS], count=3)
    run.rest_on_caller(FRESH_DRAW, "a batch was skipped", count=2)
    run.rest_on_caller(FRESH_DRAW, "a batch was skipped")
    assert run.declared == (f"{FRESH_DRAW.statement} Not observed: a batch was skipped (3 times).",)


def test_a_contradicted_run_has_no_statement_and_the_error_lists_every_observation_with_its_count():
    run = evidence()
    run.count_step([FRESH_DRAW, NOISE, PARAMETERS], count=3)
    run.contradict(NOISE, "a step added no noise", remedy="Add noise.", count=2)
    run.contradict(NOISE, "a step added no noise", remedy="Add noise.")
    run.contradict(PARAMETERS, "another optimizer stepped", remedy="Step the private one.")
    assert run.status == "contradicted"
    with pytest.raises(RunDiffers) as raised:
        statement(run)
    assert [(each.premise, each.count) for each in raised.value.observations] == [("noise", 3), ("parameters", 1)]
    assert "noise: a step added no noise (3 times). Add noise." in str(raised.value)
    assert "parameters: another optimizer stepped (once). Step the private one." in str(raised.value)


def test_the_error_crosses_processes():
    run = evidence()
    run.contradict(NOISE, "a step added no noise", remedy="Add noise.")
    error = RunDiffers.of(run.observations)
    again = pickle.loads(pickle.dumps(error))
    assert again.observations == error.observations
    assert str(again) == str(error)
    assert isinstance(error, epsilond.NoCertificate)
    assert error.slug == "run-differs"


def test_the_budget_is_informed_of_the_first_contradiction_only():
    budget = Budget()
    run = evidence(budget)
    run.contradict(NOISE, "a step added no noise", remedy="Add noise.")
    run.contradict(NOISE, "a step added no noise", remedy="Add noise.")
    run.contradict(PARAMETERS, "another optimizer stepped", remedy="Step the private one.")
    assert [[each.message for each in call] for call in budget.calls] == [["a step added no noise"]]


def test_a_declaration_turns_later_contradictions_of_its_premise_into_declared_items():
    run = evidence()
    run.vouch("parameters", "weights are averaged after each epoch")
    run.count_step([FRESH_DRAW, NOISE, PARAMETERS])
    run.contradict(PARAMETERS, "parameters changed between steps", remedy="…")
    assert run.status == "declared"
    assert run.declared == (
        f"{PARAMETERS.statement} Declared by the caller: weights are averaged after each epoch",
        f"{PARAMETERS.statement} Not observed: parameters changed between steps.",
    )


def test_what_may_be_declared_is_said_where_it_may_not():
    run = evidence()
    with pytest.raises(InvalidInput) as raised:
        run.vouch("noise", "it was added by hand")
    assert raised.value.faults[0].allowed == "fresh-draw, parameters"
    with pytest.raises(InvalidInput):
        run.vouch("clipping", "not a premise of this run")
    with pytest.raises(InvalidInput):
        run.vouch("parameters", "  ")


@pytest.mark.parametrize("contradicted", [False, True])
def test_a_checkpoint_keeps_the_status_and_is_json(contradicted):
    run = evidence()
    run.vouch("parameters", "weights are averaged")
    run.count_step([FRESH_DRAW, NOISE], count=5)
    run.rest_on_caller(FRESH_DRAW, "a batch was skipped")
    if contradicted:
        run.contradict(NOISE, "a step added no noise", remedy="Add noise.", count=4)
    resumed = evidence()
    resumed.load_state_dict(json.loads(json.dumps(run.state_dict())))
    assert resumed.status == run.status
    assert resumed.declared == run.declared
    assert resumed.observations == run.observations
    assert resumed.steps == 5
    assert resumed.state_dict() == run.state_dict()


@pytest.mark.parametrize(
    "state",
    [{}, {"steps": "many"}, {"steps": 1, "shown": {"nobody": 1}, "reasons": [], "vouched": {}, "observations": []}],
)
def test_another_state_is_rejected(state):
    with pytest.raises(InvalidInput, match="evidence"):
        evidence().load_state_dict(state)


def test_a_statement_prints_the_declared_items_and_what_no_run_shows():
    run = evidence()
    run.count_step([FRESH_DRAW, NOISE], count=2)
    made = statement(run)
    text = str(made)
    assert text.startswith("declared: ε in [1, 1.5] at δ = 1e-05 after 2 steps (add-or-remove-one, one record")
    assert PARAMETERS.statement in text
    assert all(sentence in text for sentence in OUTSIDE_RECORDS)
    assert json.loads(json.dumps(made.as_json()))["epsilon"] == {"lower": 1.0, "upper": 1.5}
    unbounded = state_run(run, Interval(float("inf"), float("inf")), delta=1e-5, **SETTING)
    assert unbounded.as_json()["epsilon"] == {"lower": "unbounded", "upper": "unbounded"}


def test_every_premise_is_a_sentence_and_those_that_protect_the_noise_cannot_be_declared():
    assert all(premise.statement.endswith(".") for premise in PREMISES.values())
    assert CLIPPING.declaration == NOISE.declaration == ""


def test_no_declaration_stands_against_a_statistical_observation():
    run = evidence()
    run.vouch("fresh-draw", "trust me")
    run.count_step([FRESH_DRAW, NOISE, PARAMETERS])
    run.contradict(FRESH_DRAW, "a batch has 400 records", remedy="…", declarable=False)
    assert run.status == "contradicted"
