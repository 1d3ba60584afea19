"""`epsilond jobs` against a double of the service on loopback: what it asks, prints, and exits with."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from typer.testing import CliRunner

from epsilond.commands.exits import BAD_INPUT, NOT_CERTIFIED, UNANSWERED
from epsilond.commands.line import line

JOB = "/v1/jobs/job_1"
ANSWER = {"entries": [], "rankings": []}
INFEASIBLE = {
    "type": "/problems/infeasible",
    "title": "The target cannot be met",
    "status": 409,
    "detail": "No number of rounds meets it.",
    "nearest": {"epsilon": 2.5},
}


class Double:
    """Answers in the order of a script, by method and path; `seen` has what was asked, with its headers."""

    def __init__(self):
        self.scripted, self.seen = {}, []
        double = self

        class Handler(BaseHTTPRequestHandler):
            def answer(self):
                double.seen.append((f"{self.command} {self.path}", dict(self.headers)))
                answers = double.scripted[f"{self.command} {self.path}"]
                status, body, headers = answers.pop(0) if len(answers) > 1 else answers[0]
                content = b"" if body is None else json.dumps(body).encode()
                self.send_response(status)
                for name, value in {"Content-Length": str(len(content)), **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(content)

            do_GET = do_DELETE = answer  # noqa: N815  as the standard library names them

            def log_message(self, *_):
                """Say nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def script(self, asked, *answers):
        """What is answered to a request; the last one again and again."""
        told = [each if isinstance(each, tuple) else (200, each) for each in answers]
        self.scripted[asked] = [(*each, {}) if len(each) == 2 else each for each in told]

    def asked(self):
        return [asked for asked, _ in self.seen]


@pytest.fixture
def service():
    double = Double()
    thread = threading.Thread(target=double.server.serve_forever, daemon=True)
    thread.start()
    yield double
    double.server.shutdown()
    double.server.server_close()
    thread.join()


def job(state, **more):
    progress = {"done": 3, "of": 10, "seconds_spent": 4.5}
    told = {"id": "job_1", "kind": "plan", "name": "plan", "state": state, "created": "2026-01-31T12:00:00.000Z"}
    return told | {"progress": progress, "links": {"self": JOB}} | more


def run(service, *arguments, **options):
    environment = {"EPSILOND_URL": service.url, "COLUMNS": "200", "EPSILOND_API_KEY": None}
    environment |= options.pop("env", {})
    return CliRunner().invoke(line, ["jobs", *arguments], env=environment, **options)


def test_jobs_are_listed_page_by_page(service):
    service.script(
        "GET /v1/jobs?state=running&limit=1", {"jobs": [job("running")], "next": "/v1/jobs?limit=1&cursor=7"}
    )
    told = run(service, "list", "--state", "running", "--limit", "1")
    assert told.exit_code == 0
    assert all(word in told.output for word in ("job_1", "plan", "running", "3 of 10", "--cursor 7"))
    service.script("GET /v1/jobs", {"jobs": []})
    assert json.loads(run(service, "list", "--json").output) == {"jobs": []}
    assert run(service, "list").output.strip() == ""


def test_a_job_is_shown_without_what_is_large(service):
    service.script(f"GET {JOB}", job("running", request={"epsilon": 1.0}))
    told = run(service, "show", "job_1")
    assert told.exit_code == 0
    assert "progress.seconds_spent" in told.output
    assert "request" not in told.output
    assert json.loads(run(service, "show", "job_1", "--json").output)["request"] == {"epsilon": 1.0}


def test_a_job_is_waited_for(service):
    service.script(f"GET {JOB}", job("queued"), job("running"), job("done"))
    told = run(service, "wait", "job_1")
    assert told.exit_code == 0
    assert "done" in told.output
    assert [headers.get("Prefer") for _, headers in service.seen] == [None, "wait=2", "wait=2"]


def test_a_wait_that_is_over_leaves_the_job_alone(service):
    service.script(f"GET {JOB}", job("running"))
    told = run(service, "wait", "job_1", "--timeout", "0")
    assert told.exit_code == UNANSWERED
    assert "goes on" in told.stderr
    assert service.asked() == [f"GET {JOB}"]


def test_the_problem_of_a_job_is_that_of_a_refusal(service):
    service.script(f"GET {JOB}", job("failed", problem=INFEASIBLE))
    service.script(f"GET {JOB}/result", (409, INFEASIBLE))
    for told in (run(service, "wait", "job_1"), run(service, "result", "job_1")):
        assert told.exit_code == NOT_CERTIFIED
        assert "not certified (infeasible): No number of rounds meets it." in told.stderr
        assert "nearest epsilon: 2.5" in told.stderr


def test_a_job_that_was_given_up_has_no_result(service):
    service.script(f"GET {JOB}", job("cancelled"))
    assert run(service, "wait", "job_1").exit_code == UNANSWERED


def test_a_result_is_what_the_service_answered(service, tmp_path):
    service.script(f"GET {JOB}/result", ANSWER)
    assert json.loads(run(service, "result", "job_1").output) == ANSWER
    file = tmp_path / "answer.json"
    assert run(service, "result", "job_1", "--out", str(file)).output == ""
    assert json.loads(file.read_text()) == ANSWER
    assert run(service, "result", "job_1", "--out", str(tmp_path / "no" / "answer.json")).exit_code == BAD_INPUT


def test_a_job_is_cancelled_and_one_that_has_ended_is_not_forgotten(service):
    service.script(f"GET {JOB}", job("running"), job("done"))
    service.script(f"DELETE {JOB}", job("cancelled"))
    assert "cancelled" in run(service, "cancel", "job_1").output
    assert "has ended: done" in run(service, "cancel", "job_1").output
    assert service.asked().count(f"DELETE {JOB}") == 1


def test_a_key_is_read_from_a_file_and_sent(service, tmp_path):
    service.script("GET /v1/jobs", {"jobs": []})
    file = tmp_path / "key"
    file.write_text("a-key\n")
    assert run(service, "list", "--key-file", str(file)).exit_code == 0
    assert service.seen[-1][1]["Authorization"] == "Bearer a-key"
    assert run(service, "list", env={"EPSILOND_API_KEY": "another"}).exit_code == 0
    assert service.seen[-1][1]["Authorization"] == "Bearer another"
    assert run(service, "list").exit_code == 0
    assert "Authorization" not in service.seen[-1][1]


@pytest.mark.parametrize("held", ["", "two\nlines", "clé"])
def test_a_file_that_holds_no_key_is_named_and_not_shown(service, tmp_path, held):
    file = tmp_path / "key"
    file.write_text(held)
    told = run(service, "list", "--key-file", str(file))
    assert told.exit_code == BAD_INPUT
    assert "--key-file must hold only a key" in told.stderr
    assert not held or held not in told.stderr
    assert service.seen == []


def test_what_the_service_puts_off_is_asked_again(service):
    busy = {"type": "/problems/too-many-requests", "status": 429, "detail": "Too many."}
    service.script("GET /v1/jobs", (429, busy, {"Retry-After": "0"}), {"jobs": []})
    assert run(service, "list").exit_code == 0
    assert len(service.seen) == 2
    service.script("GET /v1/jobs", (429, busy, {"Retry-After": "86400"}))
    told = run(service, "list")
    assert told.exit_code == UNANSWERED
    assert "Too many." in told.stderr
    assert len(service.seen) == 3


@pytest.mark.parametrize("status", [401, 403, 404, 422])
def test_a_refusal_is_told_in_its_own_words(service, status):
    errors = [{"parameter": "state", "message": "is not valid"}]
    service.script("GET /v1/jobs", (status, {"status": status, "detail": "It is refused.", "errors": errors}))
    told = run(service, "list")
    assert told.exit_code == BAD_INPUT
    assert "It is refused." in told.stderr
    assert "state: is not valid" in told.stderr


def test_a_service_that_is_not_there_and_a_url_that_is_none_are_told(service):
    service.server.server_close()
    told = run(service, "list", "--service", "http://127.0.0.1:1")
    assert told.exit_code == UNANSWERED
    assert "does not answer" in told.stderr
    for url in ("ftp://host", "nothing", "http://"):
        assert run(service, "list", "--service", url).exit_code == BAD_INPUT
    assert run(service, "show", "../healthz").exit_code == BAD_INPUT
