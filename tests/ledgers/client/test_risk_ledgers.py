"""Ledgers of a risk from the library and the command line: shown, charged, calibrated within, reported and verified."""

import json

import pytest
from typer.testing import CliRunner

import epsilond
from epsilond.commands.line import line
from epsilond.ledgers.client.auditing import audited
from epsilond.ledgers.log.canonical import canonical
from tests.ledgers.client.places import opened

NONE = {"epsilon": None, "delta": None}
RISKS = {
    "advantage": {"advantage": 0.1},
    "true positives": {"true_positive_rate": 0.2, "false_positive_rate": 0.01},
    "mu": {"gaussian_dp_mu": 0.7},
    "rho": {"rho": 0.3},
}
ZERO = {"zero epsilon": {"epsilon": 0.0, "delta": 0.1}}
RUN = epsilond.Gaussian(noise_multiplier=20.0)


@pytest.mark.parametrize("target", RISKS | ZERO)
def test_a_ledger_of_a_risk_from_its_opening_to_its_audit(tmp_path, target):
    fields = (RISKS | ZERO)[target]
    books, ledger = opened(tmp_path, **NONE | {"plan": None} | fields)
    with books:
        shown = ledger.show()
        assert fields.items() <= shown["target"].items()
        named = " ".join(str(ledger).split())
        for name, value in RISKS.get(target, {}).items():
            assert f"{name} = {value:g}" in named
        assert ("attacker" in shown["guarantee"]["in_words"]) == (
            "advantage" in fields or "true_positive_rate" in fields
        )
        fit = ledger.calibrate("gaussian", {"sampling": "full", "rounds": 5})
        assert fit["slack"] == 0.001
        with ledger.reserve("query", spec=RUN, slot="gdp", count=2) as run:
            run.commit()
        (tmp_path / "bundle").write_bytes(books.bundle().to_bytes())
        (tmp_path / "keys").write_bytes(canonical(books.keys()))
        page = ledger.report()
        for name in RISKS.get(target, {}):
            assert f"{name} = " in page
    verification = audited(tmp_path / "bundle", tmp_path / "keys", [])
    assert verification.holds
    sentences = " ".join(verification.sentences())
    assert "were computed again" in sentences
    for name, value in RISKS.get(target, {}).items():
        assert f"{name} = {value:g}" in sentences


@pytest.mark.parametrize("target", RISKS | ZERO)
def test_the_command_line_opens_it(tmp_path, target):
    fields = (RISKS | ZERO)[target]
    options = [text for name, value in fields.items() for text in (f"--{name.replace('_', '-')}", str(value))]
    setting = ["--dataset", "d", "--unit", "record", "--relation", "replace-one", "--observer", "server", "--sealed"]
    place = ["--at", str(tmp_path / "ledger.db"), "--slot", "gdp", "--json"]
    result = CliRunner().invoke(line, ["ledger", "open", "a", *setting, *options, *place])
    assert result.exit_code == 0, result.output
    assert fields.items() <= json.loads(result.stdout)["target"].items()


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ([], "--epsilon"),
        (["--epsilon", "0"], "--delta"),
        (["--advantage", "0"], "--advantage"),
        (["--advantage", "nan"], "--advantage"),
        (["--advantage", "0.1", "--rho", "1"], "--rho"),
        (["--advantage", "0.1", "--epsilon", "1", "--delta", "1e-5"], "--epsilon"),
        (["--true-positive-rate", "0.1"], "--false-positive-rate"),
        (["--true-positive-rate", "0.1", "--false-positive-rate", "0.2"], "--true-positive-rate"),
    ],
)
def test_the_command_line_names_the_option_of_a_target_that_is_none(tmp_path, options, word):
    setting = ["--dataset", "d", "--unit", "record", "--relation", "replace-one", "--observer", "server", "--sealed"]
    result = CliRunner().invoke(
        line, ["ledger", "open", "a", *setting, *options, "--slot", "gdp", "--at", str(tmp_path / "ledger.db")]
    )
    assert result.exit_code == 2
    assert word in result.output
