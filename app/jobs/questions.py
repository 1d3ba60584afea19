"""The course of a question's job: what its computation ends with is how the job ends."""

from __future__ import annotations

from functools import partial

import anyio
import structlog

from epsilond.app.http.problems import Problem, problem_of, text_of
from epsilond.app.jobs.running import RunningQuestion
from epsilond.app.jobs.turns import AGAIN_SECONDS, in_turn, turned_away
from epsilond.app.questions.compute import Compute
from epsilond.app.questions.question import Question, Reading
from epsilond.app.settings import Settings
from epsilond.app.store.record import End
from epsilond.app.workers.pool import Pool
from epsilond.app.workers.work import Failed, opened, pickled


class QuestionRunner:
    """What runs questions as jobs."""

    def __init__(self, settings: Settings, compute: Compute, pool: Pool) -> None:
        self._settings = settings
        self._compute = compute
        self._pool = pool
        self._log = structlog.get_logger()

    async def end_of(self, running: RunningQuestion, reading: Reading) -> End:
        """Compute it to its end, whatever that is. The job waits for it as a client does, until it is stopped."""
        try:
            with anyio.fail_after(self._settings.job_seconds):
                return await self._end_of(running, reading)
        except TimeoutError:
            problem = Problem("deadline-exceeded", "It took longer than any job may, and was stopped.")
        except Problem as refusal:
            problem = refusal
        except Exception as error:  # noqa: BLE001 (one that fails must not end the others)
            problem = problem_of(error)
            if problem.kind.slug == "internal-error":
                self._log.exception("job failed", id=running.record.id)
        return End(state="failed", steps_done=running.steps_done, problem=text_of(problem))

    async def _end_of(self, running: RunningQuestion, reading: Reading) -> End:
        while True:
            shared = running.shared
            if shared is None:
                question = await self._read(running, reading)
                shared, _ = self._compute.join(question, running.record.owner, running.record.caller, "job")
                running.shared = shared
            try:
                await self._follow(running)
            finally:
                self._compute.leave(shared)
            if shared.outcome is not None:
                break
            if shared.problem is not None and not turned_away(shared.problem):
                raise shared.problem
            await anyio.sleep(AGAIN_SECONDS)
            running.shared = None
        if isinstance(shared.outcome, Failed):
            self._log.error("job failed", id=running.record.id, trace=shared.outcome.trace)
            problem = Problem("internal-error", "The job failed; the service's logs have it under its id.")
            return End(state="failed", steps_done=running.steps_done, problem=text_of(problem))
        answer = shared.outcome.get()
        return End(
            state="done",
            steps_done=running.record.steps,
            result=answer.body,
            media_type=shared.question.media_type,
        )

    async def _follow(self, running: RunningQuestion) -> None:
        """Until it has ended, telling of every step."""
        shared = running.shared
        assert shared is not None
        while not shared.done.is_set():
            await shared.changed.wait()
            running.tell()

    async def _read(self, running: RunningQuestion, reading: Reading) -> Question:
        """The question of a job that was taken over, read from its body."""
        read = partial(pickled, partial(reading, running.record.request))
        return opened(await in_turn(self._pool, read, caller=running.record.caller, lane="read"), Question)
