"""A typed client of the epsilond service.

    with Client("http://127.0.0.1:8000") as client:
        problem = models.GaussianProblem(solve_for="noise_multiplier", …)
        answer = client.ask(operations.calibrate_gaussian(problem))

A question that takes long becomes a job of the service, which `ask` waits for; `ask(…, wait=False)` gives the `Job`.

`operations` has a function for each operation of the service, which makes a question of a request; `models` has the
requests and answers. Both are generated from the service's OpenAPI document.
"""

from . import models, operations
from .connection import AsyncClient, Client
from .job import AsyncJob, Job
from .jobs import JobStatus
from .question import Question
from .refusal import Refused, StillRunning, Unexpected

__all__ = (
    "AsyncClient",
    "AsyncJob",
    "Client",
    "Job",
    "JobStatus",
    "Question",
    "Refused",
    "StillRunning",
    "Unexpected",
    "models",
    "operations",
)
