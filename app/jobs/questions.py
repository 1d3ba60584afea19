"""The course of a question's job: the job ends with the outcome of its computation."""

from __future__ import annotations

from functools import partial

import anyio

from epsilond.app.jobs.ends import end_of
from epsilond.app.jobs.running import RunningQuestion
from epsilond.app.jobs.turns import AGAIN_SECONDS, means_no_room, run_in_pool
from epsilond.app.questions.compute import Compute, SharedComputation
from epsilond.app.questions.question import Question, Reading
from epsilond.app.settings import Settings
from epsilond.app.store.record import End
from epsilond.app.workers.pool import Pool
from epsilond.app.workers.work import pickle_result, unpickle


class QuestionRunner:
    """Runs questions (requests for a computation) as jobs, which go on after the request was answered.

    Args:
        settings: settings of the service, with the longest duration of a job.
        compute: computes answers, and shares the computation of equal questions.
        pool: the worker processes.
    """

    def __init__(self, settings: Settings, compute: Compute, pool: Pool) -> None:
        self._settings = settings
        self._compute = compute
        self._pool = pool

    async def end_of(self, running: RunningQuestion, reading: Reading) -> End:
        """Compute the answer of a job, which is a question (request) answered later, and return how the job ended.

        Args:
            running: the job.
            reading: function that makes the question of the body of the job.

        Returns:
            The record, which says how the job ended and has its result or its problem.
        """
        return await end_of(running, partial(self._compute_answer, running, reading), self._settings.job_seconds)

    async def _compute_answer(self, running: RunningQuestion, reading: Reading) -> End:
        """Compute the answer of a job, and return the record with which the job ends.

        If the pool of workers has no room for the computation, it is submitted again after a pause, without limit.

        Args:
            running: the job. If its request has already started the computation, the job waits for that computation.
            reading: function that makes the question, a request for a computation, of the body of the job.

        Returns:
            The record with the state "done" and the answer.

        Raises:
            Problem: the question cannot be computed.
        """
        while True:
            # The job joins a computation: the one that its request has started, or a new one.
            shared = running.shared
            if shared is None:
                question = await self._read_question(running, reading)
                shared, _ = self._compute.join(question, running.record.owner, running.record.caller, "job")
                running.shared = shared
            await self._follow(shared, running)
            if shared.outcome is not None:
                return End(
                    state="done",
                    steps_done=running.record.steps,
                    result=shared.outcome.get().body,
                    media_type=shared.question.media_type,
                )
            # Without room in the pool, the computation is tried again. Any other problem ends the job.
            if shared.problem is not None and not means_no_room(shared.problem):
                raise shared.problem
            await anyio.sleep(AGAIN_SECONDS)
            running.shared = None

    async def _follow(self, shared: SharedComputation, running: RunningQuestion) -> None:
        """Wait until a computation has ended, and report each of its steps to the clients that watch the job.

        The wait counts as one of the parties that wait for the computation. Its end is announced in every case.

        Args:
            shared: the computation.
            running: the job, which joined the computation.
        """
        try:
            while not shared.done.is_set():
                await shared.changed.wait()
                running.tell()
        finally:
            self._compute.leave(shared)

    async def _read_question(self, running: RunningQuestion, reading: Reading) -> Question:
        """Return the question of a claimed job, read from its body."""
        read = partial(pickle_result, partial(reading, running.record.request))
        return unpickle(await run_in_pool(self._pool, read, caller=running.record.caller, lane="read"), Question)
