"""epsilond.train: what goes in, what comes out, what is refused, and what never shows."""

import dataclasses

import numpy as np
import pytest

import epsilond
from epsilond.accountants.errors import InvalidInput, LedgerExhausted, NoCertificate, RunDiffers
from epsilond.charges import spec_of
from epsilond.mechanisms import seeded
from epsilond.training import Client
from epsilond.training.loops.mini_batch import RoundMessages
from tests.training.runs import ALGORITHMS, CLIENTS, DIMENSION, RECORDS, Remembering, answered, held, question

STEPS = {"ppsgd": {"step_size": 0.1, "local_step_size": 0.1}}


def trained(algorithm, **run):
    steps = STEPS.get(algorithm, {})
    return epsilond.train(algorithm, held(algorithm).clients(), calibration=answered(algorithm), **steps, **run)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_the_guarantee_is_the_calibrations(algorithm):
    found = epsilond.train(algorithm, held(algorithm).clients(), **question(algorithm))
    answer = answered(algorithm)
    assert found.guarantee == answer.guarantee
    assert epsilond.as_json(found.calibration) == epsilond.as_json(answer)
    assert sorted([*found.carried_out, *found.left_to_you], key=answer.all_declared.index) == list(answer.all_declared)
    assert found.rounds == answer.parameters.rounds
    assert found.model.shape == (DIMENSION,)
    assert np.isfinite(found.model).all()
    assert (found.personal_models is not None) == (algorithm == "ppsgd")
    assert "randomness-is-not-secure" not in {one.code for one in found.cautions}


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_an_answer_may_be_given_and_randomness_repeated(algorithm):
    runs = [trained(algorithm, randomness=seeded(3)) for _ in range(2)]
    assert np.array_equal(runs[0].model, runs[1].model)
    assert runs[0].guarantee is answered(algorithm).guarantee
    assert "randomness-is-not-secure" in {one.code for one in runs[0].cautions}
    other = trained(algorithm)
    assert not np.array_equal(runs[0].model, other.model)


def test_bits_are_those_that_the_calibration_counts():
    for algorithm in ("mb-sgd", "norm-fedavg", "mu2-sgd", "accelerated-mb-sgd"):
        found = trained(algorithm)
        assert found.bits == found.calibration.communication.total_bits
    assert trained("shuffled-mb-sgd").bits is None


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_what_has_to_stay_secret_is_not_told(algorithm):
    told = []
    found = trained(algorithm, on_round=lambda one, model: told.append((one, model)))
    assert [one for one, _ in told] == list(found.log)
    assert [one.number for one in found.log] == list(range(1, found.rounds + 1))
    seen = found.guarantee.observer == "server"
    assert all((one.participants is not None) == seen == (one.bits is not None) for one in found.log)
    assert all(one.unprotected is None for one in found.log)
    hidden = algorithm == "projected-sgd"
    assert all((model is None) == hidden for _, model in told)
    if not hidden:
        assert np.array_equal(told[-1][1], found.model)


def test_what_no_guarantee_covers_is_told_where_it_is_asked_for():
    found = trained("mb-sgd", unprotected=True)
    seen = [one.unprotected for one in found.log]
    assert all(len(one.participants) == 4 for one in seen)
    assert max(one.largest_norm for one in seen) > 0.7
    assert sum(one.clipped for one in seen) > 0


def test_a_run_ends_where_it_is_asked_to_unless_its_models_are_hidden():
    found = trained("mb-sgd", on_round=lambda one, _: one.number == 3)
    assert found.rounds == 3
    assert found.guarantee == trained("mb-sgd").guarantee
    assert trained("projected-sgd", on_round=lambda *_: True).rounds == 3


# Clients that do not do what they should -------------------------------------------------------------------------------
def unusual(returned, algorithm="mb-sgd", **more):
    """Client 0 returns what `returned` makes of its gradients."""
    data = held(algorithm)
    clients = data.clients()
    first = clients[0]
    clients[0] = dataclasses.replace(first, gradient=lambda model, places: returned(first.gradient(model, places)))
    return epsilond.train(algorithm, clients, calibration=answered(algorithm), **STEPS.get(algorithm, {}), **more)


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("algorithm", [name for name in ALGORITHMS if name != "projected-sgd"])
def test_what_is_no_number_counts_as_zeros_and_does_not_show(algorithm, wrong):
    spoilt = unusual(lambda given: given + wrong, algorithm, randomness=seeded(0), unprotected=True)
    zeros = unusual(lambda given: 0.0 * given, algorithm, randomness=seeded(0))
    assert np.array_equal(spoilt.model, zeros.model)
    assert sum(one.unprotected.not_finite for one in spoilt.log) > 0
    assert not {one.code for one in spoilt.cautions} - {one.code for one in zeros.cautions}


@pytest.mark.parametrize("wrong", [lambda given: given + np.nan, lambda given: 1e3 + given])
def test_a_gradient_beyond_lipschitz_voids_a_run_of_which_one_model_is_seen(wrong):
    rounds = []
    with pytest.raises(RunDiffers, match="nothing is released"):
        unusual(wrong, "projected-sgd", on_round=lambda one, _: rounds.append(one.number))
    assert rounds == [1, 2, 3]


@pytest.mark.parametrize("wrong", [lambda given: given[:, 1:], lambda given: given[0], lambda _: 7.25])
def test_another_shape_ends_the_run_and_the_message_has_no_values(wrong):
    with pytest.raises(InvalidInput) as refused:
        unusual(wrong)
    (fault,) = refused.value.faults
    assert fault.pointer == "/clients/0"
    assert "." not in fault.message
    assert fault.allowed == "shape (3, 3)"


def test_an_error_of_a_client_is_handed_on():
    def fails(_):
        raise OSError("the client is away")

    with pytest.raises(OSError, match="away"):
        unusual(fails)


def test_a_client_cannot_write_into_the_model():
    def overwrites(model, places):
        model[:] = 1e9
        return np.zeros((len(places), DIMENSION))

    clients = [Client(gradient=overwrites, records=RECORDS)] * CLIENTS
    found = epsilond.train("mb-sgd", clients, calibration=answered("mb-sgd"))
    assert np.linalg.norm(found.model) <= 1.5 * (1.0 + 1e-12)


def test_gradients_of_an_envelope_are_asked_for_where_the_calibration_is_for_them():
    asked = {name: value for name, value in question("mb-sgd", strong_convexity=0.0).items() if name != "smoothness"}
    found = epsilond.train("mb-sgd", Remembering().clients(), **asked)
    assert "envelope-gradients" in {one.code for one in found.cautions}
    assert "envelope-gradients" not in {one.code for one in trained("mb-sgd").cautions}


def test_local_steps_of_norm_fedavg_are_part_of_its_question():
    asked = question("norm-fedavg", rounds=1)
    found = epsilond.train("norm-fedavg", held("norm-fedavg").clients(), local_steps=5, **asked)
    assert found.calibration.parameters.local_steps == 5
    assert "steps-are-yours" not in {one.code for one in found.cautions}
    assert refusal("norm-fedavg", calibration=answered("norm-fedavg"), local_steps=5) == {"/local_steps"}


def test_means_are_declared():
    data = Remembering()
    whole = data.clients()
    means = [
        Client(gradient=lambda m, p, one=one: one.gradient(m, p).mean(axis=0), records=RECORDS, returns="means")
        for one in whole
    ]
    found = epsilond.train("mb-sgd", means, calibration=answered("mb-sgd"))
    assert "bounded-gradients" in {one.id for one in found.left_to_you}
    assert "means-are-declared" in {one.code for one in found.cautions}
    assert "bounded-gradients" in {one.id for one in trained("mb-sgd").carried_out}
    single = [dataclasses.replace(one, records=1) for one in means]
    with pytest.raises(InvalidInput, match="means"):
        epsilond.train("projected-sgd", single, **question("projected-sgd"))


class Foreign:
    """An array of another package: it hands its memory over, and refuses while a graph holds it."""

    def __init__(self, values, held=True):
        self.values, self.held = values, held

    def detach(self):
        return Foreign(self.values, held=False)

    def __dlpack__(self, **options):
        if self.held:
            raise BufferError("detach it first")
        return self.values.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.values.__dlpack_device__()

    def __array_namespace__(self):
        return np


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_gradients_of_other_packages_are_read(dtype):
    foreign = unusual(lambda given: Foreign(given.astype(dtype)), randomness=seeded(1))
    own = unusual(lambda given: given.astype(dtype), randomness=seeded(1))
    assert np.array_equal(foreign.model, own.model)


def test_tables_tell_what_is_known_of_their_losses():
    parts = [(np.eye(3)[place % 3 : place % 3 + 1], [0.5]) for place in range(6)]
    asked = {"epsilon": 2.0, "delta": 1e-5, "participants": 3, "radius": 2.0}
    asked["step_schedule"] = {"kind": "constant", "value": 0.5}
    asked |= {"relation": "replace-one", "unit": "record", "observer": "final-model"}
    for start, length in (([0.0, 0.0, 0.0], 0.0), ([0.0, 3.0, 4.0], 5.0)):
        found = epsilond.train("projected-sgd", parts, loss="least-squares", start=start, **asked)
        problem = found.calibration.problem
        assert (problem.clients, problem.dimension, problem.smoothness) == (6, 3, 1.0)
        assert problem.lipschitz == pytest.approx(2.0 + length + 1.0)
        assert np.linalg.norm(found.model - start) <= 2.0 * (1.0 + 1e-12)
    with pytest.raises(InvalidInput) as refused:
        epsilond.train(
            "projected-sgd",
            parts,
            loss="huber",
            **{**asked, "radius": "long", "relation": "replace-one", "unit": "record", "observer": "final-model"},
        )
    assert "/radius" in {fault.pointer for fault in refused.value.faults}
    shared = epsilond.tabular(parts, loss="huber", strong_convexity=0.5)
    found = epsilond.train(
        "ppsgd",
        shared,
        epsilon=2.0,
        delta=1e-5,
        rounds=3,
        clipping_norm=1.0,
        optimum_norm=1.0,
        relation="replace-one",
        unit="client",
        observer="other-clients",
    )
    assert (found.calibration.problem.smoothness, found.calibration.problem.lipschitz) == (3.0, None)
    assert repr(found).startswith("Trained(ppsgd: 3 coordinates in 3 rounds; one client against other-clients has ε ≤")


def test_own_parts_may_be_coordinates_of_their_own():
    zeros = [Client(gradient=lambda _, places: np.zeros((len(places), 5)), records=RECORDS)] * CLIENTS
    steps = STEPS["ppsgd"]
    found = epsilond.train("ppsgd", zeros, own_start=[1.0, 2.0], calibration=answered("ppsgd"), **steps)
    assert found.model.shape == (3,)
    assert np.array_equal(found.personal_models, np.tile([*found.model, 1.0, 2.0], (CLIENTS, 1)))
    asked = {name: value for name, value in question("ppsgd").items() if name != "clients"}
    assert epsilond.train("ppsgd", zeros, own_start=[1.0, 2.0], **asked, **steps).model.shape == (3,)
    assert refusal(own_start=[1.0], calibration=answered("mb-sgd")) == {"/own_start"}
    assert refusal("ppsgd", zeros, own_start=[[1.0]], calibration=answered("ppsgd")) == {"/own_start"}


# What does not fit -----------------------------------------------------------------------------------------------------
def refusal(algorithm="mb-sgd", given=None, **fields):
    with pytest.raises(InvalidInput) as refused:
        epsilond.train(algorithm, held(algorithm).clients() if given is None else given, **fields)
    return {fault.pointer for fault in refused.value.faults}


def test_what_does_not_fit_is_refused_before_a_client_is_asked():
    asked = question("mb-sgd")
    answer = answered("mb-sgd")
    data = Remembering()
    clients = data.clients()
    few = [*clients[:-1], dataclasses.replace(clients[-1], records=RECORDS - 1)]
    assert refusal(given=few, calibration=answer) == {"/clients/5"}
    assert refusal(given=clients[:-1], calibration=answer) == {"/clients"}
    assert refusal(given=clients, calibration=answer, rounds=3) == {"/rounds"}
    assert refusal("shuffled-mb-sgd", clients, calibration=answer) == {"/calibration"}
    quieter = dataclasses.replace(answer.parameters, noise_std=0.1 * answer.parameters.noise_std)
    steeper = dataclasses.replace(answer.problem, lipschitz=2.0 * answer.problem.lipschitz)
    for edit in ({"problem": None}, {"problem": steeper}, {"parameters": quieter}):
        edited = dataclasses.replace(answer, **edit)
        assert refusal(given=clients, calibration=edited) == {"/calibration"}
    assert refusal(given=clients, calibration=answer, start=[0.0]) == {"/start"}
    assert refusal(given=clients, calibration=answer, start=[0.0, np.nan, 0.0]) == {"/start"}
    assert refusal(given=clients, calibration=answer, local_step_size=1.0) == {"/local_step_size"}
    assert refusal(given=clients, calibration=answer, local_steps=2) == {"/local_steps"}
    assert refusal("projected-sgd", step_size=1.0, **question("projected-sgd")) == {"/step_size"}
    assert refusal("accelerated-mb-sgd", step_size=1.0, **question("accelerated-mb-sgd")) == {"/step_size"}
    assert refusal(given=[], **asked) == {"/clients"}
    assert refusal(given=[*clients[:-1], ([[1.0]], [1.0])], **asked) == {"/clients"}
    assert refusal("gaussian", clients) == {"/algorithm"}
    assert refusal(given=clients, calibration=answer, slot="gdp") == {"/slot"}
    for wrong in (-1.0, np.nan, np.inf):
        assert refusal(given=clients, calibration=answer, step_size=wrong) == {"/step_size"}
    assert refusal(given=clients, calibration=answer, local_steps=0) == {"/local_steps"}
    assert not data.asked


def test_a_client_of_mu2_sgd_has_a_record_for_every_report():
    data = Remembering(records=5)
    with pytest.raises(InvalidInput, match="records"):
        epsilond.train("mu2-sgd", data.clients(), **question("mu2-sgd"))
    groups = [{"clients": 3, "rounds": [1, 2, 5]}, {"clients": 3, "rounds": [4]}]
    pattern = {"kind": "pattern", "groups": groups}
    found = epsilond.train("mu2-sgd", data.clients(), participation=pattern, step_size=0.1, **question("mu2-sgd"))
    assert [one.participants for one in found.log] == [(0, 1, 2), (0, 1, 2), (), (3, 4, 5), (0, 1, 2), ()]
    assert "oblivious-participation" in {one.id for one in found.left_to_you}
    read = [(client, int(places[0])) for client, _, places in data.asked]
    assert len(set(read)) == len(read) // 2 == 12


def test_clients_that_differ_run_with_their_own_noise_and_batches():
    sizes = [8, 8, 4]
    data = [Remembering(clients=1, records=size, seed=place) for place, size in enumerate(sizes)]
    clients = [one.clients()[0] for one in data]
    groups = [
        {"clients": 2, "samples_per_client": 8, "epsilon": 2.0, "weight": 3.0},
        {"clients": 1, "samples_per_client": 4, "lipschitz": 0.1},
    ]
    asked = question("mb-sgd", clients=3, participants=3, client_groups=groups, batch_size=4, strong_convexity=0.0)
    found = epsilond.train("mb-sgd", clients, randomness=seeded(0), **asked)
    assert [len(places) for _, _, places in data[0].asked] == [4] * 7
    assert [len(places) for _, _, places in data[2].asked] == [2] * 7
    parameters = found.calibration.parameters
    assert parameters.noise_std is None
    assert found.rounds == 7
    reporting = RoundMessages.of(found.calibration.problem, parameters, 3)
    of_group = [parameters.groups[place] for place in (0, 0, 1)]
    assert reporting.bounds * reporting.scales == pytest.approx([one.lipschitz for one in of_group], rel=1e-12)
    assert reporting.noise_stds.tolist() == [one.noise_std for one in of_group]


# The ledger --------------------------------------------------------------------------------------------------------------
@pytest.fixture
def books(tmp_path):
    with epsilond.ledger(tmp_path / "ledger.db") as opened:
        yield opened


def opened(books, **changed):
    fields = {"relation": "replace-one", "unit": "client", "observer": "other-clients", "epsilon": 1.2, "delta": 1e-5}
    return books.open(name="survey", dataset="survey", slots=["gdp"], sealed=True, **{**fields, **changed})


FULL = {"sampling": "full", "participation_rate": 1.0}


def test_clients_with_unequal_records_are_groups_of_the_question():
    sizes = (50, 60, 60, 50)
    clients = [(np.full((n, 3), 0.1), np.ones(n)) for n in sizes]
    asked = {"epsilon": 2.0, "delta": 1e-5, "diameter": 4.0, "rounds": 3, "batch_size": 10}
    asked |= {"relation": "replace-one", "unit": "record", "observer": "server"}
    found = epsilond.train("mb-sgd", clients, loss="logistic", **asked)
    groups = [{"clients": count, "samples_per_client": n} for count, n in ((1, 50), (2, 60), (1, 50))]
    known = {
        "clients": 4,
        "samples_per_client": 50,
        "dimension": 3,
        "lipschitz": 1.0,
        "smoothness": 0.25,
    }
    assert found.guarantee == epsilond.calibrate("mb-sgd", **known, **asked, client_groups=groups).guarantee


def test_clients_with_unequal_records_are_refused_where_theorems_take_equal_ones():
    clients = [(np.full((n, 3), 0.1), np.ones(n)) for n in (50, 60)]
    with pytest.raises(InvalidInput, match="/clients: hold 50 to 60 records"):
        epsilond.train(
            "shuffled-mb-sgd",
            clients,
            loss="logistic",
            epsilon=2.0,
            delta=1e-5,
            diameter=4.0,
            rounds=3,
            relation="replace-one",
            unit="record",
            observer="shuffled-server",
        )


def test_a_ledger_is_paid_before_the_first_round_and_refuses_the_second_run(books):
    budget, data = opened(books), held("ppsgd")
    asked = question("ppsgd", **FULL)
    spent = []
    found = epsilond.train(
        "ppsgd", data.clients(), ledger=budget, on_round=lambda *_: spent.append(len(budget.entries())), **asked
    )
    assert found.receipt.entry["count"] == asked["rounds"]
    assert set(spent) == {len(budget.entries())}
    before = len(data.asked)
    with pytest.raises(LedgerExhausted):
        epsilond.train("ppsgd", data.clients(), ledger=budget, **asked)
    assert len(data.asked) == before


def test_a_ledger_of_another_setting_is_refused_unspent(books):
    budget = opened(books, observer="server", unit="record")
    entries = len(budget.entries())
    assert refusal("ppsgd", ledger=budget, **question("ppsgd", **FULL)) == {"/ledger"}
    assert len(budget.entries()) == entries
    with pytest.raises(InvalidInput):
        epsilond.train("ppsgd", held("ppsgd").clients()[:-1], ledger=budget, **question("ppsgd", **FULL))


@pytest.mark.parametrize("algorithm", ["mb-sgd", "one-pass-accelerated-mb-sgd", "mu2-sgd", "accelerated-mb-sgd"])
def test_a_run_may_be_an_item_of_the_plan(books, algorithm):
    spec = spec_of(answered(algorithm))
    budget = books.open(
        name="planned", dataset="planned", unit="record", relation="replace-one", observer="server", epsilon=1.0001,
        delta=1e-5, plan={"first": spec}, sealed=True,
    )  # fmt: skip
    assert trained(algorithm, ledger=budget, item="first").receipt is not None
    with pytest.raises(NoCertificate):
        trained(algorithm, ledger=budget, item="first")


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_the_charged_spec_has_the_guarantee(algorithm):
    said = answered(algorithm).guarantee
    account = epsilond.account(
        spec_of(answered(algorithm)), relation=said.relation, unit=said.unit, observer=said.observer, delta=1e-5
    )
    upper = account.guarantee.epsilon.upper
    assert upper >= said.epsilon.upper * (1.0 - 1e-6)
    if algorithm != "norm-fedavg":  # there the ledger charges distances that rounding never exceeds
        assert upper <= 1.0 + 1e-4
