"""Jobs while workers, connections of the database and whole services are killed: nothing is lost, nothing is left.

EPSILOND_CHAOS_SECONDS sets how long things are killed, instead of half a minute.
"""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import psycopg
import pytest

import epsilond
from epsilond.calibrators.mb_sgd.calibrator import CALIBRATOR
from epsilond.witness.kinds import KINDS
from epsilond.witness.one_thread import one_thread
from tests.app import toy_simulations
from tests.app.chaos.clients import TRY_SECONDS, Client, Question, Seen, check
from tests.app.chaos.replicas import Killer, Replica, running
from tests.deploy.proxy import NGINX, free_port, nginx

SECONDS = float(os.environ.get("EPSILOND_CHAOS_SECONDS", "30"))
CLIENTS, SEEDS = 4, 4
MOST_MEGABYTES = 400.0


def run_chaos(
    replicas: Sequence[Replica], questions: Sequence[Question], folder: Path, end_connection: Callable[[], int]
) -> Seen:
    """Kill at random while clients post, then let everything end; return what the clients have seen."""
    seen = Seen()
    with ExitStack() as stack:
        stack.enter_context(running(replicas))
        urls = [replica.url for replica in replicas]
        if len(replicas) == 2 and NGINX:
            port = stack.enter_context(nginx(folder, [replica.port for replica in replicas]))
            urls = [f"http://127.0.0.1:{port}"]
        clients = [Client(seed, urls, questions, seen) for seed in range(CLIENTS)]
        for client in clients:
            client.start()
        Killer(3, replicas, seen, end_connection).run(SECONDS)
        for client in clients:
            client.stopped.set()
        for client in clients:
            client.join(2 * TRY_SECONDS)
            if client.is_alive():
                seen.fault("a client hangs")
            client.client.close()
        last = Client(CLIENTS, urls, questions, seen)
        check(last)
        last.client.close()
        for replica in replicas:
            if left := replica.end(signal.SIGTERM):
                seen.fault(f"{left} processes were left at the end")
    return seen


def assert_nothing_was_lost(seen: Seen, replicas: Sequence[Replica]) -> None:
    assert not seen.faults
    assert seen.results
    assert seen.counts["workers killed"] > 0
    assert seen.counts["services ended"] > 0
    assert max(replica.largest for replica in replicas) < MOST_MEGABYTES


@pytest.mark.slow
def test_a_service_over_a_file_loses_nothing(tmp_path: Path) -> None:
    questions = [
        Question("/v1/simulations", json.dumps({**kind.example, "seed": seed}))
        for kind in toy_simulations.KINDS
        for seed in range(SEEDS)
    ]
    settings = {"EPSILOND_STORE_PATH": str(tmp_path / "jobs.sqlite")}
    replicas = [Replica("tests.app.toy_simulations", free_port(), settings)]
    assert_nothing_was_lost(run_chaos(replicas, questions, tmp_path, lambda: 0), replicas)


def answered_by(ask: Callable[..., Any], *names: str) -> Callable[[dict[str, Any]], Any]:
    """Return how the library answers a body, as JSON."""

    def answer(body: dict[str, Any]) -> Any:
        with one_thread():
            return json.loads(json.dumps(epsilond.as_json(ask(*names, **body) if names else ask(body))))

    return answer


@pytest.mark.slow
def test_two_services_over_one_database_lose_nothing_and_answer_as_the_library_does(
    postgresql_url: str, tmp_path: Path
) -> None:
    questions = [
        Question("/v1/simulations", json.dumps({**kind.example, "seed": seed}), answered_by(epsilond.simulate))
        for kind in KINDS
        for seed in range(SEEDS)
    ]
    name = CALIBRATOR.name
    questions += [
        Question(
            f"/v1/calibrations/{name}",
            json.dumps({**CALIBRATOR.example, "epsilon": 1.0 + place / 8}),
            answered_by(epsilond.calibrate, name),
        )
        for place in range(SEEDS)
    ]
    settings = {
        "EPSILOND_STORE_URL": postgresql_url.replace("postgresql://", "postgresql+psycopg://", 1),
        "EPSILOND_LEASE_SECONDS": "4",
        "EPSILOND_TRUSTED_PROXIES": "127.0.0.1",
    }

    def end_connection() -> int:
        ended = "SELECT pg_terminate_backend(pid) FROM (SELECT pid FROM pg_stat_activity WHERE datname = "
        ended += "current_database() AND pid <> pg_backend_pid() ORDER BY random() LIMIT 1) AS one"
        with psycopg.connect(postgresql_url, autocommit=True) as connection:
            return len(connection.execute(ended).fetchall())

    replicas = [Replica("", free_port(), settings) for _ in range(2)]
    seen = run_chaos(replicas, questions, tmp_path, end_connection)
    assert_nothing_was_lost(seen, replicas)
    assert seen.counts["connections of the database ended"] > 0
