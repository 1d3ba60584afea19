"""What a notebook shows: every figure, small, and nothing that a text could smuggle in."""

from dataclasses import replace
from html.parser import HTMLParser

import epsilond

RUN = {
    "sampling": "full",
    "rounds": 10,
    "relation": "replace-one",
    "epsilon": 1.0,
    "delta": 1e-5,
    "unit": "record",
    "observer": "server",
}
FEDERATION = {
    "epsilon": 1.0, "delta": 1e-5, "samples_per_client": 1000, "clients": 10, "dimension": 100, "lipschitz": 1.0,
    "diameter": 1.0, "smoothness": 1.0, "rounds": 50, "batch_size": 100, "noise_std": 0.01, "relation": "replace-one", "unit": "record", "observer": "server",
}  # fmt: skip


class Reader(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.tags, self.cells = set(), []
        self.feed(text)

    def handle_starttag(self, tag, _):
        self.tags.add(tag)

    def handle_data(self, data):
        self.cells.append(data)


def rows(answer):
    read = Reader(answer._repr_html_())
    assert read.tags == {"table", "tr", "th", "td"}
    return dict(zip(read.cells[::2], read.cells[1::2], strict=True))


def test_a_calibration_shows_what_to_run_with_and_what_is_guaranteed():
    answer = epsilond.calibrate("gaussian", solve_for="noise_multiplier", **RUN)
    shown = rows(answer)
    ends = answer.guarantee.epsilon
    assert shown["parameters.noise_multiplier"] == str(answer.parameters.noise_multiplier)
    assert shown["epsilon"] == f"[{ends.lower}, {ends.upper}]"
    assert shown["in_words"] == answer.guarantee.in_words
    assert len(answer._repr_html_()) < 4000


def test_an_account_and_its_guarantee_show_their_ends():
    noise = epsilond.Gaussian(noise_multiplier=2.0)
    answer = epsilond.account(
        noise,
        relation="replace-one",
        delta=1e-5,
        claim={"epsilon": 9.0, "delta": 1e-5},
        unit="record",
        observer="server",
    )
    ends = answer.guarantee.epsilon
    assert rows(answer)["epsilon"] == rows(answer.guarantee)["epsilon"] == f"[{ends.lower}, {ends.upper}]"
    assert rows(answer)["claim.holds"] == "yes"
    assert "in_words" in rows(epsilond.account(noise, relation="replace-one", unit="record", observer="server"))


def test_risk_bounds_show_each_theorem():
    answer = epsilond.bound_risk("mb-sgd", **FEDERATION)
    shown = rows(answer)
    for place, bound in enumerate(answer.upper, start=1):
        assert shown[f"upper {place}"].startswith(bound.theorem)


def test_what_is_shown_is_escaped():
    answer = epsilond.calibrate("gaussian", solve_for="noise_multiplier", **RUN)
    hostile = replace(answer, algorithm="<script>alert(1)</script>")
    assert "<script" not in hostile._repr_html_()
    assert rows(hostile)["algorithm"] == "<script>alert(1)</script>"
