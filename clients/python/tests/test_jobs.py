"""Questions that the service makes jobs of, on a double of it: what is sent, what is answered, what is raised."""

from __future__ import annotations

import asyncio
import time

import anyio
import httpx
import pytest
from double import ANSWER, BUSY, INFEASIBLE, JOB, Service, problem

from epsilond_client import AsyncClient, Client, Question, Refused, StillRunning

URL = "http://service"
QUESTION = Question("POST", "/v1/plans", dict)
RESULT = ("GET", f"{JOB}/result")


@pytest.fixture(autouse=True)
def slept(monkeypatch):
    """Nobody sleeps; the seconds are written down."""
    seconds = []

    async def sleep(wanted):
        seconds.append(wanted)

    monkeypatch.setattr(time, "sleep", seconds.append)
    monkeypatch.setattr(anyio, "sleep", sleep)
    return seconds


class Blocking:
    """A blocking client that is asked like an async one."""

    def __init__(self, service, **options):
        self.client = Client(URL, transport=httpx.MockTransport(service), **options)

    async def ask(self, *arguments, **options):
        found = self.client.ask(*arguments, **options)
        return Waited(found) if options.get("wait") is False else found

    async def job(self, *arguments):
        return Waited(self.client.job(*arguments))


class Waited:
    """A blocking job, likewise."""

    def __init__(self, job):
        self.job = job
        self.id, self.state, self.progress = job.id, job.state, job.progress

    async def result(self, **options):
        return self.job.result(**options)

    async def refresh(self):
        return self.job.refresh()

    async def cancel(self):
        self.job.cancel()
        self.state = self.job.state

    async def events(self):
        for each in self.job.events():
            yield each


def asynchronous(service, **options):
    return AsyncClient(URL, transport=httpx.MockTransport(service), **options)


@pytest.fixture(params=[Blocking, asynchronous], ids=["blocking", "async"])
def connect(request):
    return request.param


def test_a_job_is_waited_for_and_its_answer_is_the_answer(connect):
    service, told = Service(looks=3), []
    assert asyncio.run(connect(service).ask(QUESTION, on_progress=told.append)) == ANSWER
    assert service.asked() == [("POST", "/v1/plans"), *[("GET", JOB)] * 4, RESULT]
    assert [each.state for each in told] == ["queued", "running", "running", "running", "done"]
    assert (told[1].progress.done, told[1].progress.of, told[1].progress.seconds_spent) == (3, 10, 4.5)
    assert {each.headers["prefer"] for each in service.seen[1:-1]} == {"wait=20"}


def test_looks_that_the_service_does_not_hold_come_less_and_less_often(connect, slept):
    asyncio.run(connect(Service(looks=8)).ask(QUESTION))
    assert len(slept) == 8
    assert slept[0] < 1.0 < slept[4] <= slept[-1] <= 10.0


def test_an_answer_that_comes_at_once_is_no_job(connect):
    service = Service(first=[httpx.Response(200, json={"answers": []})])
    assert asyncio.run(connect(service).ask(QUESTION)) == {"answers": []}
    assert len(service.seen) == 1


def test_the_problem_of_a_job_is_raised_as_a_refusal_would_be(connect):
    with pytest.raises(Refused) as direct:
        asyncio.run(connect(Service(first=[problem(INFEASIBLE)])).ask(QUESTION))
    with pytest.raises(Refused) as later:
        asyncio.run(connect(Service(end="failed", problem=INFEASIBLE)).ask(QUESTION))
    assert later.value.problem == direct.value.problem
    assert str(later.value) == str(direct.value)


def test_a_job_that_somebody_else_cancels_has_no_result(connect):
    with pytest.raises(Refused, match="no result"):
        asyncio.run(connect(Service(end="cancelled")).ask(QUESTION))


def test_a_timeout_leaves_the_job_running_and_it_can_be_waited_for_again(connect):
    service = Service(looks=1)
    with pytest.raises(StillRunning) as still:
        asyncio.run(connect(service).ask(QUESTION, timeout=0.0))
    assert service.asked() == [("POST", "/v1/plans")]
    assert service.seen[0].headers["prefer"] == "wait=0"
    job = still.value.job
    assert (job.id, job.state, service.cancelled) == ("job_1", "queued", False)
    answer = job.result()
    assert (asyncio.run(answer) if asyncio.iscoroutine(answer) else answer) == ANSWER


def test_without_waiting_there_is_a_job(connect):
    async def started():
        service = Service(looks=1)
        client = connect(service)
        job = await client.ask(QUESTION, wait=False)
        assert service.seen[0].headers["prefer"] == "respond-async"
        assert (job.id, job.state, job.progress.done) == ("job_1", "queued", 3)
        assert (await job.refresh()).state == "running"
        assert await job.result() == ANSWER
        found = await client.job("job_1", dict)
        assert await found.result() == ANSWER

    asyncio.run(started())


def test_what_is_answered_at_once_is_a_job_that_is_done(connect):
    async def started():
        service = Service(first=[httpx.Response(200, json=ANSWER)])
        job = await connect(service).ask(QUESTION, wait=False)
        assert (job.id, job.state, job.progress) == (None, "done", None)
        assert await job.result() == await job.result() == ANSWER
        await job.cancel()
        assert len(service.seen) == 1

    asyncio.run(started())


def test_a_job_is_cancelled_once(connect):
    async def started():
        service = Service()
        job = await connect(service).ask(QUESTION, wait=False)
        await job.cancel()
        assert job.state == "cancelled"
        await job.cancel()
        assert service.asked() == [("POST", "/v1/plans"), ("DELETE", JOB)]

    asyncio.run(started())


def test_events_are_followed_over_a_broken_stream_to_the_end(connect):
    async def started():
        service = Service()
        one, two, end = service.event("running", 1), service.event("running", 2), service.event("done", 3)
        service.streams = [b": hello\n\n" + one + two[: len(two) // 2], two + end + one]
        job = await connect(service).ask(QUESTION, wait=False)
        assert [each.state async for each in job.events()] == ["running", "running", "done"]
        assert service.asked() == [("POST", "/v1/plans"), *[("GET", f"{JOB}/events")] * 2]
        assert [each.headers.get("last-event-id") for each in service.seen[1:]] == [None, "1"]

    asyncio.run(started())


def test_the_problem_of_a_job_that_was_followed_is_raised_too(connect):
    async def started():
        service = Service(looks=0, end="failed")
        service.streams = [service.event("failed", 1)]
        job = await connect(service).ask(QUESTION, wait=False)
        assert [each.state async for each in job.events()] == ["failed"]
        service.problem = INFEASIBLE  # events leave it out
        with pytest.raises(Refused, match="No value"):
            await job.result()

    asyncio.run(started())


def test_a_stream_that_is_refused_is_a_refusal(connect):
    async def started():
        service = Service()
        job = await connect(service).ask(QUESTION, wait=False)
        service.first = [problem(BUSY | {"status": 404})]
        with pytest.raises(Refused, match="404"):
            _ = [each async for each in job.events()]

    asyncio.run(started())


def test_what_is_put_off_or_broken_is_sent_again_under_the_same_key(connect, slept):
    broken = httpx.ReadError("cut")
    service = Service(first=[problem(BUSY, **{"retry-after": "7"}), broken, httpx.Response(200, json=ANSWER)])
    assert asyncio.run(connect(service).ask(QUESTION)) == ANSWER
    keys = {each.headers["idempotency-key"] for each in service.seen}
    assert len(keys) == 1
    assert len(next(iter(keys))) == 32
    assert 7.0 <= slept[0] <= 9.0
    other = Service(first=[httpx.Response(200, json=ANSWER)])
    asyncio.run(connect(other).ask(QUESTION))
    assert other.seen[0].headers["idempotency-key"] not in keys


@pytest.mark.parametrize(
    ("body", "headers"),
    [(BUSY, {}), (BUSY, {"retry-after": "86400"}), (INFEASIBLE, {"retry-after": "1"})],
    ids=["without a time", "for a day", "of the question"],
)
def test_what_waiting_does_not_help_is_raised_at_once(connect, slept, body, headers):
    service = Service(first=[problem(body, **headers)])
    with pytest.raises(Refused):
        asyncio.run(connect(service).ask(QUESTION))
    assert (len(service.seen), slept) == (1, [])


def test_patience_with_a_busy_service_ends(connect):
    service = Service(first=[problem(BUSY, **{"retry-after": "1"}) for _ in range(9)])
    with pytest.raises(Refused, match="429"):
        asyncio.run(connect(service).ask(QUESTION))
    assert len(service.seen) == 5


def test_a_service_that_is_not_there_is_a_fault_of_the_connection(connect):
    service = Service(first=[httpx.ConnectError("nobody") for _ in range(9)])
    with pytest.raises(httpx.ConnectError):
        asyncio.run(connect(service).ask(QUESTION))
    assert len(service.seen) == 5


def test_a_short_patience_of_the_connection_shortens_the_services(connect):
    service = Service()
    asyncio.run(connect(service, timeout=10.0).ask(QUESTION))
    assert [each.headers.get("prefer") for each in service.seen[:2]] == ["wait=5", "wait=5"]


@pytest.mark.parametrize("fault", [KeyboardInterrupt, ZeroDivisionError])
def test_a_wait_that_is_broken_off_cancels_the_job(connect, fault):
    service = Service()

    def told(state):
        if state.state == "running":
            raise fault

    with pytest.raises(fault):
        asyncio.run(connect(service).ask(QUESTION, on_progress=told))
    assert service.cancelled


def test_a_task_that_is_cancelled_cancels_its_job(monkeypatch):
    service = Service(looks=100)

    async def forever(_):
        await asyncio.Event().wait()

    monkeypatch.setattr(anyio, "sleep", forever)

    async def abandoned():
        running = asyncio.Event()
        task = asyncio.create_task(asynchronous(service).ask(QUESTION, on_progress=lambda _: running.set()))
        await running.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(abandoned())
    assert service.cancelled


def test_a_simulation_that_was_taken_in_is_an_answer(connect):
    links = {"self": "/v1/simulations/sim_1", "events": "/v1/simulations/sim_1/events"}
    taken = {"id": "sim_1", "status": "queued", "links": links}
    service = Service(first=[httpx.Response(202, json=taken)])
    assert asyncio.run(connect(service).ask(Question("POST", "/v1/simulations", dict))) == taken
    assert len(service.seen) == 1
