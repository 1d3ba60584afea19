"""Pages about runs: the ε with its status, or the reasons why there is none."""

import pytest

import epsilond
from epsilond.runs.evidence import Evidence
from epsilond.runs.premises import FRESH_DRAW, NOISE, OUTSIDE_RECORDS
from epsilond.runs.report import report_run

STEP = epsilond.Subsampled(sampling="poisson", rate=0.01, mechanism=epsilond.Gaussian(noise_multiplier=1.0))
RUN = epsilond.Repeated(times=10, mechanism=STEP)
ASKED = {"delta": 1e-5, "relation": "add-or-remove-one", "unit": "record", "observer": "released-models"}


def evidence(*, declared=False, contradicted=False):
    run = Evidence([FRESH_DRAW, NOISE], outside=OUTSIDE_RECORDS)
    run.count_step([FRESH_DRAW, NOISE], count=10)
    if declared:
        run.rest_on_caller(FRESH_DRAW, "a batch was <skipped>")
    if contradicted:
        run.contradict(NOISE, "a step added no noise", remedy="Add noise.", count=3)
    return run


@pytest.mark.parametrize("declared", [False, True])
def test_the_page_has_the_status_and_its_epsilon_is_confirmed(declared):
    page = report_run(evidence(declared=declared), RUN, **ASKED, date="2026-01-31")
    assert f"Status of the run: {'declared' if declared else 'certified'}" in page
    assert ("a batch was &lt;skipped&gt;" in page) == declared
    assert all(sentence in page for sentence in OUTSIDE_RECORDS)
    verified = epsilond.verify(page)
    assert verified.outcome == "exactly"
    found = epsilond.account(RUN, relation="add-or-remove-one", unit="record", observer="released-models")
    upper = found.guarantee.curve.epsilon(delta=1e-5).upper
    assert verified.recomputed["guarantee"]["epsilon"]["upper"] == upper


def test_a_contradicted_run_has_reasons_in_the_place_of_the_figure():
    page = report_run(evidence(contradicted=True), RUN, **ASKED, date="2026-01-31")
    assert "No ε: the run differs from its record" in page
    assert "a step added no noise (3 times)" in page
    assert "is at most" not in page
    assert "<h2>Guarantee</h2>" not in page
    verified = epsilond.verify(page)
    assert (verified.outcome, verified.agrees) == ("refused", False)
    assert verified.reason == "the run differs from its record: the page has no ε"


@pytest.mark.parametrize("contradicted", [False, True])
def test_an_altered_page_is_broken(contradicted):
    page = report_run(evidence(contradicted=contradicted), RUN, **ASKED)
    altered = page.replace("added no noise", "added noise") if contradicted else page.replace("certified<", "declared<")
    assert altered != page
    assert epsilond.verify(altered).outcome == "broken"


def test_a_date_is_a_date():
    with pytest.raises(epsilond.InvalidInput):
        report_run(evidence(contradicted=True), RUN, **ASKED, date="yesterday")
