"""The examples of docs/jobs.md: commands are run in their order, on a service and in a shell of their own."""

import json
import re
import shlex
import subprocess
import sys

from epsilond.app.main import create_app
from tests import documents
from tests.app.conftest import PATIENT, serving
from tests.documents import ROOT

BLOCKS = documents.blocks((ROOT / "docs/jobs.md").read_text(encoding="utf-8"))
ADDRESS = "http://127.0.0.1:8000"
MARK = "--- next ---"


def typed():
    """The commands as they are typed; one that only sets a variable is one too."""
    shell = "".join(block.text for block in BLOCKS if block.language == "console")
    return re.split(r"^\$ ", shell, flags=re.MULTILINE)[1:]


def test_the_commands_do_what_the_page_says(tmp_path):
    program = f'epsilond() {{ {shlex.quote(sys.executable)} -m epsilond "$@"; }}\n'
    with serving(PATIENT, create_app(settings=PATIENT)) as client:
        script = program + f"echo '{MARK}'\n".join(typed()).replace(ADDRESS, str(client.base_url).rstrip("/"))
        environment = {"PATH": "/usr/local/bin:/usr/bin:/bin", "PYTHONPATH": str(ROOT), "COLUMNS": "200"}
        run = ["bash", "-euo", "pipefail", "-c", script]
        ran = subprocess.run(run, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        kept = client.get("/v1/jobs").json()["jobs"]
    assert ran.returncode == 0, ran.stderr
    printed = dict(zip(typed(), ran.stdout.split(f"{MARK}\n"), strict=True))

    def of(words):
        (found,) = [text for command, text in printed.items() if words in command]
        return found

    waited = json.loads(of("prefer: wait=30"))
    assert (waited["state"], waited["kind"]) == ("done", "calibration")
    assert "event: done\n" in of("/events")
    answer = json.loads(of("$job/result"))
    assert answer == waited["result"]
    assert [each["id"] for each in json.loads(of("state=done"))["jobs"]] == [waited["id"]]
    assert waited["id"] in of("jobs list")
    assert "done" in of("jobs show")
    assert "done" in of("jobs wait")
    assert json.loads((tmp_path / "answer.json").read_text(encoding="utf-8")) == answer
    assert "has ended: done" in of("jobs cancel")
    assert (of("DELETE"), kept) == ("", [])


def test_the_lines_of_typescript_are_those_of_a_test():
    (shown,) = [block.text for block in BLOCKS if block.language == "typescript"]
    tested = (ROOT / "clients/typescript/test/client.test.ts").read_text(encoding="utf-8").split("\n")
    assert set(shown.splitlines()) <= {line.strip() for line in tested}


def test_the_python_example_is_run_where_the_client_is_installed():
    assert "docs/jobs.md" in (ROOT / "clients/python/tests/test_answers.py").read_text(encoding="utf-8")
