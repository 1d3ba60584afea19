"""A plain FastAPI application that answers accounts as the service does, to measure the overhead of the service.

python -m benchmarks.plain PORT. One process computes in its event loop: no cache, no workers, no signature, no limits.
"""

from __future__ import annotations

import sys
from typing import Any

import uvicorn
from fastapi import FastAPI
from fastapi.responses import JSONResponse

from epsilond.calibrators.accounts import AccountProblem, answer
from epsilond.calibrators.answer import as_json
from epsilond.reading import read_body

app = FastAPI()


@app.get("/readyz")
async def ready() -> dict[str, bool]:
    """Answer once the process serves."""
    return {"ready": True}


@app.post("/v1/accounts")
async def account(body: dict[str, Any]) -> JSONResponse:
    """Account for the spec of a body."""
    return JSONResponse(as_json(answer(read_body(AccountProblem, body))))


if __name__ == "__main__":
    uvicorn.run(app, port=int(sys.argv[1]), http="h11", access_log=False, log_level="warning")
