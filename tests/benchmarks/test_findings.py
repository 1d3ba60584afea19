"""Where a peer is wrong, the document says so: below our interval, beside it, or in two ways; and the aims."""

import math
from dataclasses import replace

import pytest

from benchmarks import cases, findings, report, service, tables, targets
from benchmarks.environments import PEERS
from benchmarks.load import Load
from benchmarks.rows import WITH_KERNEL, Row
from benchmarks.runners import epsilond
from benchmarks.runners.loop import Question, Run


def row(accountant="epsilond", case="a", group="epsilon", **known):
    return Row(case=case, group=group, accountant=accountant, outcome="answered", **{"cpu": 0.5, **known})


def test_the_worst_shortfall_of_a_table_is_told():
    rows = [
        *(row(case=case, value=2.0, lower=1.0, upper=2.0) for case in "abc"),
        row("peer", "a", value=0.5),
        row("peer", "b", value=1.0 - 1e-9),
        row("peer", "c", value=9.0),
        row("careful", "a", value=2.5),
    ]
    found = list(findings.below(rows))
    assert found == [("peer", "epsilon", "2 of 3", "1", "-50 %", "a", "0.5", "[1, 2]")]
    assert "Values below" in report.markdown(rows, limits="20 s")
    assert "Values below" not in report.markdown([rows[0], rows[-1]], limits="20 s")


def test_nan_is_below():
    rows = [row(value=2.0, lower=1.0, upper=2.0), row("peer", value=math.nan)]
    assert [line[2:4] for line in findings.below(rows)] == [("1 of 1", "1")]


@pytest.mark.parametrize(("ends", "told"), [((0.0, 0.9), True), ((0.5, 1.0), False), ((2.1, 3.0), True)])
def test_intervals_that_do_not_meet_are_told(ends, told):
    lower, upper = ends
    rows = [row(value=2.0, lower=1.0, upper=2.0), row("peer", value=upper, lower=lower, upper=upper)]
    assert bool(list(findings.apart(rows))) is told


def test_twins_are_compared():
    (case, part), *_ = cases.TWINS.items()
    exact, once = findings.enumerated(part), findings.enumerated(replace(part, times=1))
    values = (("epsilond", exact, exact), ("peer", once, exact), ("low", exact / 2, exact), ("other", None, 1.0))
    rows = [
        row(name, each, "plain", value=value) for name, *both in values for each, value in zip(case, both, strict=True)
    ]
    told = {line[0]: line[-1] for line in findings.twins(rows)}
    assert told == {
        "epsilond": "covers it",
        "peer": "**is that of one run: the count is forgotten**",
        "low": "**too little**",
    }


def test_small_releases_are_enumerated():
    """Six of three answers at p = 0.8 and δ = 1e-5: a figure enumerated elsewhere. One answer: less what δ buys."""
    assert findings.enumerated(cases.SIX, 1e-5) == pytest.approx(3.356726, abs=5e-7)
    true, other = 1.0 - 0.8 + 0.8 / 3, 0.8 / 3
    assert findings.enumerated(replace(cases.SIX, times=1)) == pytest.approx(math.log((true - 1e-6) / other), rel=1e-12)


def test_what_is_enumerated_is_what_we_certify():
    for (repeated, listed), part in cases.TWINS.items():
        for case in (each for each in cases.plain() if each.id in (repeated, listed)):
            parts = [Run(*each) for each in case.body()["parts"]]
            answer = epsilond.certified(Question("epsilon", parts, None, case.delta, case.relation))
            assert answer.lower * (1 - 1e-12) <= findings.enumerated(part) <= answer.upper * (1 + 1e-12)


def test_the_overview_has_a_mean_for_each_table():
    rows = [row(value=1.0), row(case="b", group="small", value=1.0), row("peer", cpu=4.5), row("peer", "b", "small")]
    assert tables.overview(rows) == (("accountant", "epsilon", "small", "all"), [("peer", "9× (1)", "1× (1)", "3×")])


def test_aims_are_met_or_not():
    quick, slow = (
        row(case=f"ε q=0.01 z=1 T=1e{n}", cpu=cpu, lower=1.0, upper=1.0) for n, cpu in ((3, 1e-3), (6, 4e-3))
    )
    said = {line[0]: line[2:] for line in targets.lines([quick, slow])}
    assert said["slowest ε(δ) or δ(ε) of the grid"] == ("4 ms", "not yet")
    assert said["mean CPU at 1e6 steps over that at 1e3"] == ("4×", "not yet")
    assert {line[0]: line[3] for line in targets.lines([quick])}["slowest ε(δ) or δ(ε) of the grid"] == "yes"


def test_our_kernel_is_compared_with_the_same_peer_and_is_none_itself():
    case = "ε q=0.01 z=1 T=1e3"
    rows = [
        row(case=case, lower=1.0, upper=1.0, cpu=2e-3),
        row(WITH_KERNEL, case, lower=1.0, upper=1.0, cpu=0.5e-3),
        row("dp-accounting PLD", case, cpu=0.3, value=0.5),
    ]
    told = {line[0]: line[2:] for line in targets.lines(rows)}
    assert told["the same mean with our compiled kernel, of 1 questions"] == ("600×", "yes")
    assert told[f"{case} with our compiled kernel"] == ("0.5 ms", "yes")
    assert [line[0] for line in findings.below(rows)] == ["dp-accounting PLD"]
    assert [line[0] for line in tables.worst(rows)] == ["dp-accounting PLD"]
    assert not [line for line in targets.lines(rows[:1]) if "kernel" in line[0]]


def test_a_question_we_did_not_answer_is_an_aim_not_met():
    rows = [
        row(lower=1.0, upper=1.0),
        Row(case="1000 different", group="different", accountant="epsilond", outcome="over", reason="20 s"),
    ]
    told = {line[0]: line[2:] for line in targets.lines(rows)}
    assert told["1000 different mechanisms"] == ("over the limit: 20 s", "not yet")
    assert told["questions answered"] == (f"1 of 2 asked, of {len(cases.everything())}", "not yet")


def test_the_aims_of_the_service_look_at_the_tail_beside_a_heavy_calibration():
    alone, beside = Load(latencies=[0.001] * 100, wall=0.05), Load(latencies=[0.03] * 100, wall=3.0)
    heavy, nothing = Load(latencies=[0.5]), Load()

    def line(what, found, heavy=None):
        return service.Line(what=what, connections=1, found=found, main_cpu=0.0, worker_cpu=0.0, heavy=heavy)

    def told(*lines):
        return [aim[2:] for aim in targets.service(lines)]

    assert told(line("new", alone), line("new", beside, heavy)) == [("2000", "yes"), ("30 ms", "not yet")]
    assert told(line("new", beside), line("new", alone, heavy)) == [("33", "not yet"), ("1 ms", "yes")]
    unanswered = told(line("new", alone), line("new", alone, nothing))[1]
    assert unanswered == ("1 ms, but no heavy one was answered beside a line", "not yet")


def test_our_runner_asks_for_what_the_plain_cases_say():
    for case in cases.plain():
        body = case.body()
        question = Question("epsilon", [Run(*part) for part in body["parts"]], None, case.delta, case.relation)
        spec = epsilond._spec(question.parts)
        each = spec.mechanisms[0] if len(question.parts) > 1 else spec.mechanism
        if question.parts[0].mechanism == "randomised response":
            # 3/4 the truth and 1/4 the other answer; 7/15 the truth and 4/15 each other one
            assert math.exp(each.epsilon) == pytest.approx({2: 3.0, 3: 7 / 4}[each.categories])
        else:
            assert each.scale_multiplier == question.parts[0].noise


def test_what_is_installed_is_pinned():
    for peer in PEERS:
        assert all(package.count("==") == 1 for package in (*peer.packages, *peer.bare))


def test_the_load_of_both_sides_is_told():
    rows = [row(load=0.5, lower=1.0, upper=2.0), row("peer", load=1.0), row("peer", "b", load=2.3)]
    text = report.markdown(rows, limits="20 s")
    assert "The load average was 0.5 to 0.5 for our own rows and 1.0 to 2.3 for the peers'." in text
