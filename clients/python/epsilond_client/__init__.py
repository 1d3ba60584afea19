"""A typed client of the epsilond service.

    client = connect("http://127.0.0.1:8000")
    problem = GaussianProblem(solve_for="noise_multiplier", …)
    answer = answered(calibrate_gaussian.sync(client=client, body=problem))

`api` has one module for each operation, with `sync`, `asyncio` and their `_detailed` forms; `models` has the requests
and answers. Both are generated from the service's OpenAPI document.
"""

from .client import AuthenticatedClient, Client
from .connection import connect
from .errors import UnexpectedStatus
from .refusal import Refused, answered

__all__ = ("AuthenticatedClient", "Client", "Refused", "UnexpectedStatus", "answered", "connect")
