"""The accountant, the engine and the noise against Opacus itself, on small models that are really trained."""

import json
import math
import re
import runpy
import warnings
from pathlib import Path

import pytest
import torch
from opacus import PrivacyEngine
from opacus.accountants import PRVAccountant, RDPAccountant, create_accountant
from opacus.accountants.utils import get_noise_multiplier as their_noise_multiplier
from opacus.utils.batch_memory_manager import BatchMemoryManager
from scipy.stats import norm
from torch import nn
from torch.utils.data import DataLoader, Subset, SubsetRandomSampler, WeightedRandomSampler

import epsilond
from epsilond.integrations import opacus as ours
from epsilond.integrations.budget import LedgerBudget
from epsilond.ledgers.client.auditing import audited
from tests.integrations.opacus.opacus_loops import RATE, RECORDS, data, loader, made, trained
from tests.integrations.shown import assert_goes_as_shown

pytestmark = [
    pytest.mark.filterwarnings("ignore:Secure RNG turned off"),
    pytest.mark.filterwarnings("ignore:Full backward hook is firing"),
    pytest.mark.filterwarnings("ignore:Optimal order is the largest"),
]
EXAMPLES = Path(__file__).parents[3] / "examples"


@pytest.fixture(autouse=True)
def registered():
    ours.register()
    torch.manual_seed(0)


def with_history(kind, history):
    accountant = kind()
    accountant.history = list(history)
    return accountant


def test_the_accountant_is_created_by_its_name_and_registering_again_changes_nothing():
    assert isinstance(create_accountant("epsilond"), ours.EpsilondAccountant)
    ours.register()
    assert create_accountant("epsilond").mechanism() == "epsilond"


@pytest.mark.filterwarnings("ignore::epsilond.integrations.opacus.DataDependentDenominator")
def test_opacus_own_engine_records_the_steps_that_were_taken():
    engine = PrivacyEngine(accountant="epsilond")
    trained(*made(engine), steps=25)
    assert engine.accountant.history == [(1.0, RATE, 25)]
    assert len(engine.accountant) == 25
    assert engine.get_epsilon(1e-5) == engine.accountant.epsilon(delta=1e-5).upper
    run = epsilond.account(
        epsilond.spec_from_opacus_history([(1.0, RATE, 25)]),
        relation="add-or-remove-one",
        unit="record",
        observer="server",
    )
    assert engine.accountant.epsilon(delta=1e-5) == run.guarantee.curve.epsilon(delta=1e-5)


@pytest.mark.parametrize(
    "history",
    [
        [(1.0, 0.01, 1000)],
        [(0.7, 0.05, 50)],
        [(3.0, 0.2, 200)],
        [(1.1, 0.01, 500), (0.9, 0.01, 100), (1.1, 0.02, 10)],
    ],
)
@pytest.mark.parametrize("delta", [1e-4, 1e-6])
def test_epsilon_is_below_renyi_and_within_the_error_of_opacus_prv(history, delta):
    found = with_history(ours.EpsilondAccountant, history).epsilon(delta=delta)
    assert found.upper <= with_history(RDPAccountant, history).get_epsilon(delta) * (1 + 1e-9)
    prv = with_history(PRVAccountant, history).get_epsilon(delta, eps_error=0.01, delta_error=delta / 1000)
    assert prv - 0.02 <= found.lower <= found.upper <= prv


@pytest.mark.parametrize(("noise", "steps"), [(1.0, 1), (4.0, 30)])
def test_a_full_batch_is_the_gaussian_mechanism(noise, steps):
    accountant = with_history(ours.EpsilondAccountant, [(noise, 1.0, steps)])
    mu = math.sqrt(steps) / noise
    for epsilon in (0.2, 1.5):
        exact = norm.cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * norm.cdf(-mu / 2 - epsilon / mu)
        assert exact * (1 - 1e-9) <= accountant.get_delta(epsilon) <= exact * (1 + 1e-6)


def test_nothing_is_lost_before_the_first_step_and_everything_without_noise():
    accountant = ours.EpsilondAccountant()
    assert accountant.get_epsilon(1e-5) == accountant.get_delta(1.0) == 0.0
    accountant.step(noise_multiplier=0.0, sample_rate=0.0)
    assert accountant.get_epsilon(1e-5) == 0.0
    accountant.step(noise_multiplier=0.0, sample_rate=0.5)
    assert accountant.get_epsilon(1e-5) == math.inf
    assert accountant.get_delta(1.0) == 1.0


def test_a_checkpoint_goes_on_where_it_was_saved(tmp_path):
    engine = ours.EpsilondPrivacyEngine(public_size=True)
    model, optimizer, batches = made(engine)
    trained(model, optimizer, batches, 7)
    engine.save_checkpoint(path=tmp_path / "checkpoint.pt", module=model, optimizer=optimizer)
    other = ours.EpsilondPrivacyEngine(public_size=True)
    model, optimizer, batches = made(other)
    other.load_checkpoint(path=tmp_path / "checkpoint.pt", module=model, optimizer=optimizer)
    assert other.get_epsilon(1e-5) == engine.get_epsilon(1e-5) > 0.0
    trained(model, optimizer, batches, 3)
    assert other.accountant.history == [(1.0, RATE, 10)]
    assert engine.accountant.history == [(1.0, RATE, 7)]


def test_a_state_survives_json_and_a_history_of_opacus_accountants_is_taken_over():
    first = with_history(ours.EpsilondAccountant, [(1.0, 0.01, 1000)])
    second = ours.EpsilondAccountant()
    second.load_state_dict(json.loads(json.dumps(first.state_dict())))
    assert second.get_epsilon(1e-5) == first.get_epsilon(1e-5)
    second.load_state_dict(with_history(RDPAccountant, [(2.0, 0.01, 10), (0.0, 0.01, 1)]).state_dict())
    assert second.get_epsilon(1e-5) == math.inf
    second.step(noise_multiplier=0.0, sample_rate=0.01)
    assert second.history == [(2.0, 0.01, 10), (0.0, 0.01, 2)]


@pytest.mark.parametrize(
    "state",
    [
        None,
        {},
        {"history": []},
        {"history": [], "mechanism": "other"},
        {"history": [(1.0, 2.0, 1)], "mechanism": "rdp"},
    ],
)
def test_what_is_no_state_is_refused_and_changes_nothing(state):
    accountant = with_history(ours.EpsilondAccountant, [(1.0, 0.01, 5)])
    with pytest.raises(ValueError, match=r"state|accountant|history"):
        accountant.load_state_dict(state)
    assert accountant.history == [(1.0, 0.01, 5)]


# Noise for a target ----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("words", [{"steps": 500}, {"epochs": 5}, {"epochs": 5.5}])
def test_the_noise_meets_the_target_and_is_below_what_opacus_finds(words):
    asked = {"target_epsilon": 1.0, "target_delta": 1e-5, "sample_rate": 1 / 49} | words
    noise = ours.get_noise_multiplier(**asked)
    steps = words.get("steps") or {5: 245, 5.5: 270}[words["epochs"]]  # 269.5 steps begin 270
    assert 1.0 - 1e-4 < with_history(ours.EpsilondAccountant, [(noise, 1 / 49, steps)]).get_epsilon(1e-5) <= 1.0
    theirs = their_noise_multiplier(**asked, accountant="epsilond")  # their search, with our accountant
    assert noise <= theirs * (1 + 1e-3)
    assert noise <= their_noise_multiplier(**asked, accountant="rdp")


def test_an_engine_is_made_private_for_a_target():
    engine = ours.EpsilondPrivacyEngine(public_size=True)
    model = nn.Linear(4, 2)
    model, optimizer, batches = engine.make_private_with_epsilon(
        module=model,
        optimizer=torch.optim.SGD(model.parameters(), lr=0.1),
        data_loader=loader(),
        target_epsilon=2.0,
        target_delta=1e-5,
        epochs=3,
        max_grad_norm=1.0,
    )
    trained(model, optimizer, batches, 30)
    assert 1.999 < engine.get_epsilon(1e-5) <= 2.0


def test_noise_for_a_target_after_earlier_steps_is_warned_of():
    engine = ours.EpsilondPrivacyEngine(public_size=True)
    engine.accountant.step(noise_multiplier=1.0, sample_rate=RATE)
    model = nn.Linear(4, 2)
    with pytest.warns(UserWarning, match="earlier steps"):
        engine.make_private_with_epsilon(
            module=model,
            optimizer=torch.optim.SGD(model.parameters(), lr=0.1),
            data_loader=loader(),
            target_epsilon=2.0,
            target_delta=1e-5,
            epochs=3,
            max_grad_norm=1.0,
        )


# A ledger that stops it ------------------------------------------------------------------------------------------------
@pytest.fixture
def books(tmp_path):
    with epsilond.ledger(tmp_path / "ledger.db") as opened:
        yield opened


def ledger_of(books, steps):
    step = epsilond.Subsampled(sampling="poisson", rate=RATE, mechanism=epsilond.Gaussian(noise_multiplier=1.0))
    return books.open(
        name="survey",
        dataset="survey",
        unit="record",
        relation="add-or-remove-one",
        observer="server",
        epsilon=8.0,
        delta=1e-5,
        plan={"train": epsilond.Repeated(times=steps, mechanism=step)},
        sealed=True,
    )


def test_the_ledger_stops_the_training_before_the_model_moves(books):
    ledger = ledger_of(books, 13)
    with LedgerBudget(ledger, "train", chunk=5) as budget:
        engine = ours.EpsilondPrivacyEngine(budget=budget, public_size=True)
        model, optimizer, batches = made(engine)
        committed = []
        optimizer.original_optimizer.register_step_pre_hook(
            lambda *_: committed.append(sum(receipt.entry["count"] for receipt in budget.receipts))
        )
        assert not engine.accountant.would_exceed(noise_multiplier=1.0, sample_rate=RATE, steps=13)
        assert engine.accountant.would_exceed(noise_multiplier=1.0, sample_rate=RATE, steps=14)
        trained(model, optimizer, batches, 13)
        before = [parameter.detach().clone() for parameter in model.parameters()]
        with pytest.raises(epsilond.LedgerExhausted):
            trained(model, optimizer, batches, 1)
    assert committed == [5] * 5 + [10] * 5 + [13] * 3  # committed before each step, never after
    assert all(torch.equal(one, two) for one, two in zip(before, model.parameters(), strict=True))
    assert all(parameter.grad is None and parameter.grad_sample is None for parameter in optimizer.params)
    assert engine.accountant.history == [(1.0, RATE, 13)]
    assert ledger.show().plan[0]["committed"] == budget.taken == 13


def test_steps_with_less_noise_than_the_plans_are_refused(books):
    with LedgerBudget(ledger_of(books, 5), "train") as budget:
        engine = ours.EpsilondPrivacyEngine(budget=budget, public_size=True)
        model, optimizer, batches = made(engine, noise=0.5)
        with pytest.raises(epsilond.NoCertificate):
            trained(model, optimizer, batches, 1)
    assert engine.accountant.history == []


def test_a_logical_batch_in_parts_is_one_step():
    engine = ours.EpsilondPrivacyEngine(public_size=True)
    model, optimizer, batches = made(engine)
    with BatchMemoryManager(data_loader=batches, max_physical_batch_size=4, optimizer=optimizer) as parts:
        for features, labels in parts:
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(features), labels).backward()
            optimizer.step()
    assert engine.accountant.history == [(1.0, RATE, 10)]


def test_ghost_clipping_is_accounted_for_and_stopped_alike(books):
    with LedgerBudget(ledger_of(books, 3), "train") as budget:
        engine = ours.EpsilondPrivacyEngine(budget=budget, public_size=True)
        model, optimizer, criterion, batches = made(engine, grad_sample_mode="ghost", criterion=nn.CrossEntropyLoss())

        def train():
            for features, labels in batches:
                optimizer.zero_grad()
                criterion(model(features), labels).backward()
                before[:] = [parameter.detach().clone() for parameter in model.parameters()]
                optimizer.step()

        before = []
        with pytest.raises(epsilond.LedgerExhausted):
            train()
    assert engine.accountant.history == [(1.0, RATE, 3)]
    assert all(torch.equal(one, two) for one, two in zip(before, model.parameters(), strict=True))


# Pitfalls --------------------------------------------------------------------------------------------------------------
def said(call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    return [each.category for each in caught if issubclass(each.category, ours.OpacusPrivacyWarning)]


def test_a_plain_loader_with_a_public_size_is_no_pitfall():
    engine = ours.EpsilondPrivacyEngine(public_size=True)
    assert said(lambda: trained(*made(engine), steps=20)) == []
    assert said(lambda: made(engine, given=loader(shuffle=True))) == []


def test_a_mean_over_records_is_warned_of_once():
    assert said(lambda: trained(*made(ours.EpsilondPrivacyEngine()), steps=20)) == [ours.DataDependentDenominator]
    assert said(lambda: trained(*made(PrivacyEngine(accountant="epsilond")), steps=20)) == [
        ours.DataDependentDenominator
    ]
    assert said(lambda: made(ours.EpsilondPrivacyEngine(), loss_reduction="sum")) == []


@pytest.mark.parametrize(
    "words",
    [
        {"sampler": WeightedRandomSampler([1.0] * RECORDS, RECORDS)},
        {"sampler": SubsetRandomSampler(range(60))},
        {"drop_last": True},
    ],
)
def test_a_sampler_that_is_replaced_is_warned_of(words):
    engine = ours.EpsilondPrivacyEngine(public_size=True)
    assert said(lambda: made(engine, given=loader(**words))) == [ours.SamplerReplaced]


def test_a_subset_is_a_data_set_of_its_own_and_no_pitfall():
    engine = ours.EpsilondPrivacyEngine(public_size=True)
    given = DataLoader(Subset(data(), range(60)), batch_size=6)
    assert said(lambda: made(engine, given=given)) == []


# The example -----------------------------------------------------------------------------------------------------------
def test_the_example_trains_on_digits_until_the_ledger_refuses(tmp_path, capsys):
    runpy.run_path(str(EXAMPLES / "opacus_loop.py"))["main"](tmp_path)
    lines = capsys.readouterr().out.splitlines()
    told = "\n".join(lines)
    epochs, steps = map(int, re.search(r"for (\d+) epochs of (\d+) steps", lines[0]).groups())
    assert lines[1].startswith(f"stopped after {epochs * steps} steps: ")
    assert "certified: ε in [" in told
    lower, upper = map(float, re.search(r"ε within \[(.*), (.*)\]", told).groups())
    assert 2.99 < lower <= upper <= 3.0
    prv, rdp = (float(re.search(rf"Opacus {name} ε = ([\d.]+)", told)[1]) for name in ("prv", "rdp"))
    assert upper <= prv < rdp
    assert float(re.search(r"accuracy on held-out images ([\d.]+)", told)[1]) > 0.85
    assert sum(map(int, re.findall(r"receipt for (\d+) steps", told))) == epochs * steps
    assert audited(tmp_path / "ledger.db", tmp_path / "ledger.db.keys").holds


def test_the_session_of_the_documents():
    assert_goes_as_shown("opacus/test_opacus.py")


def test_the_first_screen_of_the_readme():
    assert_goes_as_shown("opacus/test_opacus.py", "README.md")
