"""Parts of questions on threads, processes and a Dask cluster: the same numbers, and words for what goes wrong."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import pytest
from threadpoolctl import threadpool_info
from typer.testing import CliRunner

import epsilond
from epsilond import executors
from epsilond.accountants.errors import Infeasible, InvalidInput
from epsilond.calibrators.planning.examples import EXAMPLES
from epsilond.commands.exits import NO_CLUSTER
from epsilond.commands.line import line
from epsilond.executors import ClusterError, dask_executor, run_batch, run_in_order
from epsilond.extras import MissingExtra
from epsilond.witness.one_thread import one_thread
from tests.clusters import PATIENCE, cluster, double, double_and_die, hold, refuse
from tests.epsilond.test_simulate import AUDIT
from tests.epsilond.test_simulate import REQUEST as RISK

SWEEP = {
    "delta": 1e-5,
    "rounds": 10,
    "relation": "replace-one",
    "sampling": "full",
    "unit": "record",
    "observer": "server",
}
PLAN = EXAMPLES["one problem"] | {
    "algorithms": ["one-pass-accelerated-mb-sgd", "mu2-sgd", "mb-sgd"],
    "relation": "replace-one",
    "unit": "record",
    "observers": ["server", "shuffled-server", "released-models", "final-model", "other-clients"],
}


@pytest.fixture(scope="module")
def address():
    with cluster() as running:
        yield running.scheduler_address


@pytest.fixture(scope="module", params=["threads", "processes", "dask"])
def executor(request):
    if request.param == "dask":
        with dask_executor(request.getfixturevalue("address")) as found:
            yield found
        return
    made: Executor = (
        ThreadPoolExecutor(2) if request.param == "threads" else ProcessPoolExecutor(2, mp_context=get_context("spawn"))
    )
    with made:
        yield made


@pytest.mark.parametrize("asked", [RISK, AUDIT], ids=["risk", "audit"])
def test_a_simulation_is_the_same_on_any_executor(asked, executor):
    heard = []
    found = epsilond.simulate(asked, executor=executor, progress=lambda done, of: heard.append((done, of)))
    assert epsilond.as_json(found) == epsilond.as_json(epsilond.simulate(asked))
    assert heard == [(done, heard[0][1]) for done in range(heard[0][1] + 1)]


def test_a_sweep_is_the_same_on_any_executor(executor):
    values = [0.5, 1.0, -1.0, "x"]
    asked = {"solve_for": "noise_multiplier", **SWEEP}
    found = epsilond.sweep("gaussian", "epsilon", values, executor=executor, **asked)
    here = epsilond.sweep("gaussian", "epsilon", values, **asked)
    assert found.answers[:2] == here.answers[:2]
    assert [each.error.faults for each in found.answers[2:]] == [each.error.faults for each in here.answers[2:]]


def test_what_cannot_be_certified_comes_back_whole(executor):
    asked = {"solve_for": "rounds", **SWEEP, "rounds": None, "epsilon": 1.0}
    errors = [
        epsilond.sweep("gaussian", "noise_multiplier", [1e-6], executor=place, **asked).answers[0].error
        for place in (executor, None)
    ]
    assert all(isinstance(error, Infeasible) for error in errors)
    assert vars(errors[0]) == vars(errors[1])


def test_a_plan_is_the_same_on_any_executor(executor):
    heard = []
    found = epsilond.plan(executor=executor, progress=lambda done, of: heard.append((done, of)), **PLAN)
    assert epsilond.as_json(found) == epsilond.as_json(epsilond.plan(**PLAN))
    assert heard[-1] == (len(found.entries), len(found.entries))


def test_answers_stand_in_the_order_of_the_parts(executor):
    assert run_in_order(executor, double, [(value,) for value in range(20)]) == list(range(0, 40, 2))
    assert run_in_order(executor, double, []) == []


def test_parts_that_cost_little_share_messages(monkeypatch):
    heard, sent = [], []
    with ThreadPoolExecutor(2) as pool:
        submit = pool.submit

        def send(*call):
            sent.append(len(call[-1]))
            return submit(*call)

        monkeypatch.setattr(pool, "submit", send)
        told = run_in_order(pool, double, [(value,) for value in range(200)], lambda done, _: heard.append(done))
    assert told == list(range(0, 400, 2))
    assert heard == list(range(201))
    assert sum(sent) == 200
    assert len(sent) <= 8


def test_parts_that_a_batch_has_no_time_for_come_back(monkeypatch):
    monkeypatch.setattr(executors, "LONGEST_SECONDS", 0.0)
    assert run_batch(epsilond.ENGINE_VERSION, double, [(1,), (2,)]).answers == [2]
    with ThreadPoolExecutor(2) as pool:
        assert run_in_order(pool, double, [(value,) for value in range(20)]) == list(range(0, 40, 2))


def test_a_worker_that_is_killed_loses_no_part_of_its_batch(address, tmp_path):
    diary = tmp_path / "diary"
    with dask_executor(address) as executor:
        told = run_in_order(executor, double_and_die, [(str(diary), value) for value in range(20)])
    assert told == list(range(0, 40, 2))
    assert int(diary.read_text()) != os.getpid()


FAULTS = """
import resource
import numpy as np
from epsilond.executors import ENGINE_VERSION, run_batch
begun = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(100 * (run_batch(ENGINE_VERSION, abs, [(1,)]).answers == [1])):
    np.ones(131_072)
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - begun)
"""
"""Page faults of 100 arrays of a mebibyte, which has 256 pages, after a batch."""


@pytest.mark.skipif(
    not hasattr(os, "confstr") or "glibc" not in (os.confstr("CS_GNU_LIBC_VERSION") or ""), reason="glibc"
)
@pytest.mark.parametrize(("threshold", "few"), [("65536", True), ("65537", False)])
def test_a_worker_reuses_memory_that_it_has_freed_unless_its_user_chose(threshold, few):
    environment = os.environ | {"MALLOC_TRIM_THRESHOLD_": threshold}
    ran = subprocess.run([sys.executable, "-c", FAULTS], env=environment, capture_output=True, text=True, check=True)
    assert (int(ran.stdout) < 12_800) is few


def test_what_a_part_raises_is_raised(executor):
    with pytest.raises(ValueError, match="not 1"):
        run_in_order(executor, refuse, [(1,)])


def test_another_version_of_the_engine_computes_nothing(executor, monkeypatch):
    monkeypatch.setattr(executors, "ENGINE_VERSION", "0.0.1")
    if isinstance(executor, ThreadPoolExecutor):
        assert run_in_order(executor, double, [(1,)]) == [2]  # it is this process
    else:
        with pytest.raises(ClusterError, match=rf"{re.escape(epsilond.ENGINE_VERSION)}.*0\.0\.1"):
            run_in_order(executor, double, [(1,)])


def test_a_cluster_of_another_version_is_refused_before_the_work(address, monkeypatch):
    monkeypatch.setattr(executors, "ENGINE_VERSION", "0.0.1")
    with (
        pytest.raises(ClusterError, match=rf"worker tcp://.* {re.escape(epsilond.ENGINE_VERSION)}.*0\.0\.1"),
        dask_executor(address),
    ):
        pass


def test_a_cluster_that_is_lost_says_so(tmp_path):
    begun, until = tmp_path / "begun", tmp_path / "until"
    with cluster(workers=1) as running, dask_executor(running.scheduler_address) as executor:

        def lose():
            waited = time.monotonic() + PATIENCE
            while not begun.exists() and time.monotonic() < waited:
                time.sleep(0.01)
            running.close()

        losing = threading.Thread(target=lose)
        losing.start()
        with pytest.raises(ClusterError, match="its scheduler may have ended"):
            run_in_order(executor, hold, [(str(begun), str(until))])
        until.touch()
        losing.join()


@pytest.mark.parametrize(
    "wrong", ["", "localhost", "10.0.0.1:8786", "http://127.0.0.1:8786", "tcp://127.0.0.1", "tcp://h:x"]
)
def test_what_is_no_address_is_told_how_one_is_written(wrong):
    with pytest.raises(ClusterError, match="written as tcp://"), dask_executor(wrong):
        pass


def test_where_nothing_listens_the_address_is_named():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
        with pytest.raises(ClusterError, match=f"no Dask scheduler answers at {address}"), dask_executor(address):
            pass


def test_a_scheduler_without_workers_is_refused():
    with (
        cluster(workers=0) as running,
        pytest.raises(ClusterError, match="has no workers"),
        dask_executor(running.scheduler_address),
    ):
        pass


def test_a_missing_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingExtra, match=r"epsilond\[dask\]"), dask_executor("tcp://127.0.0.1:1"):
        pass


def threads():
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


def test_the_first_that_ends_takes_no_other_its_one_thread():
    before, in_both, first_ended = threads(), threading.Barrier(2), threading.Event()

    def first():
        with one_thread():
            in_both.wait(PATIENCE)
        first_ended.set()

    def second():
        with one_thread():
            in_both.wait(PATIENCE)
            assert first_ended.wait(PATIENCE)
            return threads()

    with ThreadPoolExecutor(2) as both:
        both.submit(first)
        assert both.submit(second).result() == {1}
    assert threads() == before


def run(*arguments, code=0, **options):
    ran = CliRunner().invoke(line, arguments, **options)
    assert ran.exit_code == code, ran.output
    return ran


def test_commands_run_on_the_cluster(address, tmp_path):
    request = tmp_path / "request.json"
    request.write_text(json.dumps(AUDIT))
    told = run("simulate", str(request), "--json", "--dask", address).stdout
    assert json.loads(told) == json.loads(json.dumps(epsilond.as_json(epsilond.simulate(AUDIT))))
    swept = ["calibrate", "gaussian", "--solve-for", "noise_multiplier", "--sweep", "epsilon=1,2", "--json"]
    swept += [part for name, value in SWEEP.items() for part in (f"--{name}", str(value))]
    assert run(*swept, env={"EPSILOND_DASK": address}).stdout == run(*swept).stdout
    plan = tmp_path / "plan.json"
    plan.write_text(json.dumps(PLAN))
    planned = ["plan", "--request", str(plan), "--json"]
    assert run(*planned, "--dask", address).stdout == run(*planned).stdout


def test_a_cluster_that_cannot_be_used_has_an_exit_code_of_its_own():
    ran = run("simulate", "mb-sgd-bound", "--json", "--dask", "nowhere", code=NO_CLUSTER)
    assert "error: --dask: the address of a scheduler is written as tcp://" in ran.stderr
    assert ran.stdout == ""


def test_what_is_asked_is_read_before_work_is_sent(address):
    with dask_executor(address) as executor, pytest.raises(InvalidInput):
        epsilond.simulate({**RISK, "repetitions": 0}, executor=executor)
