"""A service without the packages of the extra `simulate`: what needs them answers 501, and the rest is served."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.app.conftest import PATIENCE, ready

MISSING = ("sklearn", "matplotlib", "distributed", "dask")
SETTINGS = {"EPSILOND_WORKERS": "1", "EPSILOND_SPARE_WORKERS": "0", "EPSILOND_STORE_PATH": ":memory:"}
ON_DATA = {
    "kind": "risk",
    "run": {"algorithm": "mb-sgd", "rounds": 4, "batch_size": 8, "step_size": 0.1},
    "problem": {"kind": "dataset", "clients": 5},
    "epsilon": 2.0,
    "delta": 1e-5,
    "repetitions": 2,
}
ON_NOTHING = ON_DATA | {
    "problem": {"kind": "mean-estimation", "clients": 5, "samples_per_client": 40, "dimension": 3},
}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """A service whose interpreter finds none of these packages."""
    shadows = tmp_path_factory.mktemp("shadows")
    for name in MISSING:
        shadow = f"raise ModuleNotFoundError('missing', name={name!r})\n"
        (shadows / f"{name}.py").write_text(shadow, encoding="utf-8")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    environ = os.environ | SETTINGS | {"PYTHONPATH": str(shadows)}
    command = [sys.executable, "-m", "epsilond", "serve", "--port", url.rpartition(":")[2]]
    with subprocess.Popen(command, env=environ, cwd=Path(shadows), stderr=subprocess.DEVNULL, text=True) as process:
        try:
            ready(process, url)
            with httpx.Client(base_url=url, timeout=PATIENCE, headers={"prefer": "wait=600"}) as client:
                yield client
        finally:
            process.kill()


def test_a_simulation_on_a_data_set_names_the_extra(service: httpx.Client) -> None:
    response = service.post("/v1/simulations", json=ON_DATA)
    assert response.status_code == 501
    assert response.json()["type"] == "/problems/not-installed"
    assert "pip install 'epsilond[simulate]'" in response.json()["detail"]


def test_other_simulations_run_and_their_figures_name_the_extra(service: httpx.Client) -> None:
    job = service.post("/v1/simulations", json=ON_NOTHING).json()
    assert job["state"] == "done"
    figure = service.get(job["links"]["figure"])
    assert figure.status_code == 501
    assert "matplotlib" in figure.json()["detail"]


def test_accounts_are_answered(service: httpx.Client) -> None:
    spec = {"kind": "gaussian", "noise_multiplier": 1.0}
    setting = {"relation": "add-or-remove-one", "unit": "record", "observer": "released-models"}
    assert service.post("/v1/accounts", json={"spec": spec, "query": {"delta": 1e-5}, **setting}).status_code == 200
