"""Test the time to wait that a Prefer header states."""

from __future__ import annotations

import pytest

from epsilond.app.http.body import wait_of


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ([], None),
        (["respond-async"], 0),
        (["wait=10"], 10),
        (["Wait = 10"], 10),
        (['wait="10"'], 10),
        (["respond-async, wait=7"], 7),
        (["respond-async", "wait=7; strict"], 7),
        (["wait=1, wait=2"], 1),
        (["wait"], None),
        (["wait=soon"], None),
        (["wait=-1"], None),
        (["wait=1.5"], None),
        (["wait=9999999999"], None),
        (['note="wait=3"'], None),
        (["await=3"], None),
    ],
)
def test_wait(headers: list[str], seconds: int | None) -> None:
    assert wait_of(headers) == seconds
