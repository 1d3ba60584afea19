"""Lists of jobs, read page by page."""

from __future__ import annotations

from pathlib import Path

from tests.app.conftest import PATIENT, problem, serving
from tests.app.jobs.support import JOBS, asked, done, finished
from tests.app.toys import may_end


def test_the_list_is_read_page_by_page(tmp_path: Path) -> None:
    with serving(PATIENT) as client:
        assert client.get(JOBS).json() == {"jobs": []}
        made = [finished(client, {"kind": "coin", "seed": seed})["id"] for seed in range(5)]
        finished(client, {"kind": "dice", "way": "fail"})
        question = asked(client, tmp_path / "diary")
        may_end(tmp_path / "diary").touch()
        done(client, question.headers["location"])
        first = client.get(JOBS, params={"limit": 2, "state": "done", "kind": "simulation"}).json()
        second = client.get(first["next"]).json()
        third = client.get(second["next"]).json()
        pages = [[each["id"] for each in page["jobs"]] for page in (first, second, third)]
        assert pages == [[made[4], made[3]], [made[2], made[1]], [made[0]]]
        assert "next" not in third
        simulations = client.get(JOBS, params={"limit": 1, "kind": "simulation"}).json()["jobs"]
        assert [each["state"] for each in simulations] == ["failed"]
        newest = client.get(JOBS, params={"limit": 1}).json()["jobs"]
        assert [each["id"] for each in newest] == [question.json()["id"]]
        assert not {"request", "result", "problem"} & newest[0].keys()
        assert [each["kind"] for each in client.get(JOBS, params={"kind": "calibration"}).json()["jobs"]] == [
            "calibration"
        ]
        for wrong in (
            {"limit": 0},
            {"limit": 101},
            {"state": "lost"},
            {"kind": "No Kind"},
            {"cursor": "x"},
            {"cursor": "-1"},
        ):
            problem(client.get(JOBS, params=wrong), 422, "invalid-input")


def test_what_there_is_not_is_not_found() -> None:
    with serving(PATIENT) as client:
        for name in ("job_unknown", "x" * 300, "%00", "%ff"):
            for response in (client.get(f"{JOBS}/{name}"), client.delete(f"{JOBS}/{name}")):
                problem(response, 404, "not-found")
            problem(client.get(f"{JOBS}/{name}/events"), 404, "not-found")
