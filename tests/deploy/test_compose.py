"""The compose files against the schema of the Compose specification, and against the image and the settings."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.deploy.files import (
    COMPOSE_FILES,
    DOCKERFILE,
    DRAIN_SECONDS,
    HEALTH,
    NGINX,
    ROOT,
    VARIABLES,
    compose,
    settings,
)

REPLICAS = ("epsilond-1", "epsilond-2")


@pytest.mark.parametrize("path", COMPOSE_FILES, ids=lambda path: path.name)
def test_compose_keeps_to_its_specification(path: Path) -> None:
    checker = Path(sys.executable).with_name("check-jsonschema")
    ran = subprocess.run(
        [checker, "--builtin-schema", "vendor.compose-spec", path], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_the_replicas_are_two_of_one_kind_over_one_store(tmp_path: Path) -> None:
    services = compose()["services"]
    assert set(services) == {*REPLICAS, "proxy", "store"}
    one, other = ({**services[name], "networks": None} for name in REPLICAS)
    assert one == other
    assert set(one["environment"]) <= VARIABLES
    assert one["healthcheck"]["test"] == ["CMD", *HEALTH]
    assert one["depends_on"] == {"store": {"condition": "service_healthy"}}
    read = settings(one["environment"], tmp_path)
    assert read.store_url == "postgresql+psycopg://epsilond:of%2Fthe%40store@store:5432/epsilond"
    assert read.trusted_proxies == f"{services['proxy']['networks']['inside']['ipv4_address']}/32"
    assert int(one["stop_grace_period"].removesuffix("s")) > read.deadline_seconds + DRAIN_SECONDS


def test_the_store_and_the_replicas_read_one_password() -> None:
    read, name = compose(), "store-password"
    for service in (*REPLICAS, "store"):
        assert name in read["services"][service]["secrets"]
    assert read["services"]["store"]["environment"]["POSTGRES_PASSWORD_FILE"] == f"/run/secrets/{name}"
    assert read["services"]["epsilond-1"]["environment"]["EPSILOND_STORE_PASSWORD_FILE"] == f"/run/secrets/{name}"


def test_the_replicas_alone_read_the_key_of_ledgers() -> None:
    read = compose()
    assert read["services"]["store"]["secrets"] == ["store-password"]
    for name in REPLICAS:
        service = read["services"][name]
        (secret,) = set(service["secrets"]) - {"store-password"}
        assert service["environment"]["EPSILOND_LEDGER_KEY_FILE"] == f"/run/secrets/{secret}"
        bound, heads = service["volumes"]
        assert service["environment"]["EPSILOND_LEDGER_CHECKPOINT"].startswith(f"{heads.partition(':')[2]}/")
        assert bound == f"./ledger-keys:{service['environment']['EPSILOND_LEDGER_KEYS']}:ro"


def test_no_secret_is_ever_committed() -> None:
    told = (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()
    for secret in compose()["secrets"].values():
        assert f"deploy/{Path(secret['file'])}" in told
    assert "deploy/ledger-keys/" in told


def test_keys_of_one_service_are_in_its_volume() -> None:
    service = yaml.safe_load(COMPOSE_FILES[0].read_text(encoding="utf-8"))["services"]["epsilond"]
    folder = service["environment"]["EPSILOND_LEDGER_KEYS"]
    volume, heads = service["volumes"]
    assert service["environment"]["EPSILOND_LEDGER_CHECKPOINT"].startswith(f"{heads.partition(':')[2]}/")
    assert folder.startswith(f"{volume.partition(':')[2]}/")
    (store,) = re.findall(r"EPSILOND_STORE_PATH=(\S+)", DOCKERFILE)
    assert folder == f"{store}.keys"  # where they were before this was said


def test_only_the_proxy_is_reached_from_outside_and_it_is_the_one_of_the_file() -> None:
    services = compose()["services"]
    assert [name for name, service in services.items() if "ports" in service] == ["proxy"]
    assert services["proxy"]["volumes"] == [f"./{NGINX.name}:/etc/nginx/nginx.conf:ro"]
    written = NGINX.read_text(encoding="utf-8")
    assert f"listen {services['proxy']['ports'][0].rpartition(':')[2]};" in written
    for name in REPLICAS:
        assert f"server {name}:8000 " in written


def test_addresses_are_of_their_network_and_differ() -> None:
    read = compose()
    given = [service["networks"]["inside"]["ipv4_address"] for service in read["services"].values()]
    (subnet,) = read["networks"]["inside"]["ipam"]["config"]
    prefix = subnet["subnet"].removesuffix("0/24")
    assert len(set(given)) == len(given) == 4
    assert all(each.startswith(prefix) for each in given)
