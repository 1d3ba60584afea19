"""The mixed load in its short form: what it makes happen happens, and the service tells of it and ends well."""

from __future__ import annotations

import signal

from benchmarks import load_mixed


def test_cheap_requests_are_answered_whatever_becomes_of_the_heavy_ones() -> None:
    told = load_mixed.measure(count=20, pause=0.05, patience=0.2, deadline=1.5)
    assert {what: (len(found.latencies), found.failed) for what, found in told.cheap.items()} == {
        "cached": (20, 0),
        "closed form": (20, 0),
    }
    assert told.cheap["cached"].hits == 20
    assert told.failed == 0
    assert told.deaths.get("crashed", 0) <= told.killed
    assert told.deaths.get("abandoned", 0) <= told.left
    assert told.drained in (200, 202, 503)
    assert told.exit_code in (0, -signal.SIGTERM)  # uvicorn ends, and then passes the signal on
