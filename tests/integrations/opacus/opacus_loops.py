"""Small runs of Opacus: records, a loader, the objects of make_private, a loop, and the expected status."""

import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

import epsilond
from epsilond.runs.status import RunStatus

RECORDS, BATCH = 120, 12
RATE = BATCH / RECORDS


def data(records=RECORDS):
    return TensorDataset(torch.randn(records, 4), torch.randint(0, 2, (records,)))


def loader(**words):
    return DataLoader(data(), **({"batch_size": BATCH} | words))


def made(engine, *, noise=1.0, given=None, model=None, optimizer=None, **words):
    model = model or nn.Linear(4, 2)
    return engine.make_private(
        module=model,
        optimizer=optimizer or torch.optim.SGD(model.parameters(), lr=0.1),
        data_loader=given or loader(),
        noise_multiplier=noise,
        **({"max_grad_norm": 1.0} | words),
    )


def step(model, optimizer, features, labels, loss=nn.functional.cross_entropy):
    optimizer.zero_grad()
    loss(model(features), labels).backward()
    optimizer.step()


def trained(model, optimizer, batches, steps, loss=nn.functional.cross_entropy):
    """So many steps, over as many epochs as that needs."""
    taken = 0
    while taken < steps:
        for features, labels in batches:
            step(model, optimizer, features, labels, loss)
            taken += 1
            if taken == steps:
                return


def assert_certified(accountant, steps):
    statement = accountant.statement(delta=1e-5)
    assert accountant.status is RunStatus.CERTIFIED, statement.declared
    assert statement.shown == dict.fromkeys(statement.shown, steps)
    assert statement.steps == steps
    assert statement.declared == ()
    expected = epsilond.account(accountant.spec, relation="add-or-remove-one", unit="record", observer="server")
    assert statement.epsilon == expected.guarantee.curve.epsilon(delta=1e-5)
    assert accountant.get_epsilon(1e-5) == statement.epsilon.upper


def assert_contradicted(accountant, *premises):
    assert accountant.status is RunStatus.CONTRADICTED
    for figure in (
        lambda: accountant.get_epsilon(1e-5),
        lambda: accountant.get_delta(1.0),
        lambda: accountant.epsilon(delta=1e-5),
        lambda: accountant.statement(delta=1e-5),
    ):
        with pytest.raises(epsilond.RunDiffers) as raised:
            figure()
    assert {each.premise for each in raised.value.observations} >= set(premises)
    assert all(each.remedy and each.count for each in raised.value.observations)
    return str(raised.value)


def declarations(accountant):
    assert accountant.status is RunStatus.DECLARED
    assert accountant.get_epsilon(1e-5) > 0.0
    return " ".join(accountant.statement(delta=1e-5).declared)
