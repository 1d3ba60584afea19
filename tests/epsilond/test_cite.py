"""BibTeX for an answer: the works of its derivation, each theorem named, and this software."""

import json
import re

import pytest
from typer.testing import CliRunner

import epsilond
from epsilond.accountants.bibliography import WORKS
from epsilond.accountants.bibliography.bibtex import bibtex, entry
from epsilond.accountants.theorems import THEOREMS
from epsilond.commands.line import line

ENTRY = re.compile(r"^@(\w+)\{([\w-]+),\n((?:  \w+ = \{.*\},\n)+)\}$", re.MULTILINE)
GAUSSIAN = {
    "solve_for": "noise_multiplier",
    "relation": "add-or-remove-one",
    "sampling": "poisson",
    "rate": 0.1,
    "epsilon": 1.0,
    "delta": 1e-6,
    "rounds": 10,
    "unit": "record",
    "observer": "server",
}


def entries(text):
    """Every entry's key with its fields."""
    found = {
        key: dict(re.findall(r"^  (\w+) = \{(.*)\},$", body, re.MULTILINE)) for _, key, body in ENTRY.findall(text)
    }
    assert text.count("@") == len(found)
    return found


def balanced(text):
    depth = 0
    for sign in text:
        depth += {"{": 1, "}": -1}.get(sign, 0)
        assert depth >= 0
    return depth == 0


@pytest.mark.parametrize("key", [key for key in WORKS if key != "epsilond"])
def test_every_work_is_an_entry(key):
    work = WORKS[key]
    text = entry(key, work, ["Theorem 1 (some.id)"])
    fields = entries(text)[key]
    assert balanced(text)
    assert fields["author"].split(" and ") == list(work.authors)
    assert fields["title"] == f"{{{work.title}}}"
    assert fields["year"] == str(work.year)
    assert fields.get("eprint") == work.arxiv
    assert {"booktitle", "journal", "howpublished"} & set(fields)


def test_signs_that_mean_something_to_tex_are_escaped():
    work = next(iter(WORKS.values()))
    assert r"50\% \& \_x" in entry("key", work, ["50% & _x"])


def test_every_theorem_can_be_cited():
    found = entries(bibtex(each.id for each in THEOREMS))
    assert set(found) == {each.source.key for each in THEOREMS} | {"epsilond"}
    notes = " ".join(each["note"] for each in found.values())
    assert all(each.id.replace("_", r"\_") in notes for each in THEOREMS)


def test_an_answer_cites_what_its_derivation_uses_and_no_more():
    answer = epsilond.calibrate("gaussian", **GAUSSIAN)
    used = {step.theorem for step in answer.derivation}
    by_id = {each.id: each for each in THEOREMS}
    wanted = {by_id[name].source.key for name in used | {each.theorem for each in answer.readings}} | {"epsilond"}
    assert set(entries(epsilond.cite(answer))) == wanted
    assert epsilond.cite(epsilond.as_json(answer)) == epsilond.cite(answer)


def test_an_account_with_a_query_and_without_is_cited_alike():
    spec = epsilond.Gaussian(noise_multiplier=1.0)
    asked = {"relation": "add-or-remove-one", "unit": "record", "observer": "server"}
    bare, queried = epsilond.account(spec, **asked), epsilond.account(spec, **asked, delta=1e-5)
    assert set(entries(epsilond.cite(bare))) == set(entries(epsilond.cite(queried))) >= {"balle2018analytic"}


@pytest.mark.parametrize("cited", ["no.such.theorem", {"a": 1}, 3])
def test_what_has_no_derivation_is_refused(cited):
    with pytest.raises(epsilond.InvalidInput):
        epsilond.cite(cited)


def test_the_command_prints_the_same(tmp_path):
    ran = CliRunner().invoke(line, ["cite", "lowy.2.1"])
    assert ran.stdout.strip() == epsilond.cite("lowy.2.1")
    answer = epsilond.as_json(epsilond.calibrate("gaussian", **GAUSSIAN))
    (tmp_path / "answer.json").write_text(json.dumps(answer), encoding="utf-8")
    ran = CliRunner().invoke(line, ["cite", "--answer", str(tmp_path / "answer.json")])
    assert (ran.exit_code, ran.stdout.strip()) == (0, epsilond.cite(answer))
    assert CliRunner().invoke(line, ["cite", "no.such"]).exit_code == 2


def test_a_report_says_how_to_cite_it():
    request = {
        "spec": {"kind": "gaussian", "noise_multiplier": 2.0},
        "relation": "replace-one",
        "query": {"delta": 1e-5},
        "unit": "record",
        "observer": "server",
    }
    page = epsilond.report("account", request=request, date="2026-01-31")
    assert "<h3>Citation</h3>" in page
    assert "@inproceedings{balle2018analytic," in page
