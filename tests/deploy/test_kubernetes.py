"""The manifests against the schemas of Kubernetes, against each other, and against the image and the settings."""

from __future__ import annotations

import re
import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml

from epsilond.ledgers.http.keys import Keys
from epsilond.ledgers.log.key_files import PUBLISHED, make, rotate
from tests.deploy.files import DOCKERFILE, DRAIN_SECONDS, MANIFESTS, VARIABLES, resources, settings

VERSIONS = ("1.30", kubernetes_validate.latest_version())
"""The oldest that the manifests are for, and the newest whose schemas are here."""


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("path", MANIFESTS, ids=lambda path: path.name)
def test_each_keeps_to_its_schema(path: Path, version: str) -> None:
    for each in yaml.safe_load_all(path.read_text(encoding="utf-8")):
        kubernetes_validate.validate(each, version, strict=True)


def test_the_schemas_refuse_what_is_misspelt() -> None:
    wrong = resources()["Deployment", "epsilond"]
    wrong["spec"]["replica"] = wrong["spec"].pop("replicas")
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(wrong, VERSIONS[-1], strict=True)


def pod(name: str = "epsilond", kind: str = "Deployment") -> dict[str, Any]:
    found: dict[str, Any] = resources()[kind, name]["spec"]["template"]["spec"]
    return found


def test_the_settings_are_ones_and_read_the_secret(tmp_path: Path) -> None:
    data = resources()["ConfigMap", "epsilond"]["data"]
    assert set(data) <= VARIABLES
    (container,) = pod()["containers"]
    mount = next(each for each in container["volumeMounts"] if each["name"] == "secrets")
    folder, _, key = data["EPSILOND_STORE_PASSWORD_FILE"].rpartition("/")
    assert folder == mount["mountPath"]
    assert key in resources()["Secret", "epsilond"]["stringData"]
    heads = next(each for each in container["volumeMounts"] if each["name"] == "heads")
    assert data["EPSILOND_LEDGER_CHECKPOINT"].startswith(f"{heads['mountPath']}/")
    read = settings(data, tmp_path)
    assert read.store_url.startswith("postgresql+psycopg://epsilond:of%2Fthe%40store@epsilond-store:5432/")
    assert read.workers == int(container["resources"]["requests"]["cpu"])
    assert pod()["terminationGracePeriodSeconds"] > 5 + read.deadline_seconds + DRAIN_SECONDS


def test_a_replica_runs_as_the_user_of_the_image_and_may_do_nothing_else() -> None:
    (user,) = re.findall(r"^USER (\d+)$", DOCKERFILE, flags=re.MULTILINE)
    (container,) = pod()["containers"]
    assert pod()["securityContext"]["runAsUser"] == int(user)
    assert pod()["securityContext"]["runAsNonRoot"]
    assert container["securityContext"]["readOnlyRootFilesystem"]
    assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    assert container["readinessProbe"]["httpGet"]["path"] == "/readyz"
    assert container["livenessProbe"]["httpGet"]["path"] == container["startupProbe"]["httpGet"]["path"] == "/healthz"


def test_what_points_at_the_replicas_finds_them() -> None:
    found = resources()
    labels = found["Deployment", "epsilond"]["spec"]["template"]["metadata"]["labels"]
    spec = {kind: found[kind, "epsilond"]["spec"] for kind in ("Service", "PodDisruptionBudget", "NetworkPolicy")}
    assert spec["Service"]["selector"] == labels
    assert spec["PodDisruptionBudget"]["selector"]["matchLabels"] == labels
    assert spec["NetworkPolicy"]["podSelector"]["matchLabels"] == labels
    scaled = found["HorizontalPodAutoscaler", "epsilond"]["spec"]
    assert (scaled["scaleTargetRef"]["kind"], scaled["scaleTargetRef"]["name"]) == ("Deployment", "epsilond")
    assert scaled["minReplicas"] == found["Deployment", "epsilond"]["spec"]["replicas"] == 2


def test_the_database_of_the_example_is_the_one_that_replicas_look_for() -> None:
    found = resources()
    url = found["ConfigMap", "epsilond"]["data"]["EPSILOND_STORE_URL"]
    host, port = re.findall(r"@([\w-]+):(\d+)/", url)[0]
    service = found["Service", host]["spec"]
    assert service["ports"][0]["port"] == int(port)
    labels = found["StatefulSet", host]["spec"]["template"]["metadata"]["labels"]
    assert service["selector"] == labels
    egress = found["NetworkPolicy", "epsilond"]["spec"]["egress"][0]
    assert egress["to"][0]["podSelector"]["matchLabels"] == labels
    assert egress["ports"][0]["port"] == int(port)


def test_ledgers_have_their_keys_from_a_secret_of_their_own() -> None:
    data = resources()["ConfigMap", "epsilond"]["data"]
    (container,) = pod()["containers"]
    mounted = {each["mountPath"]: each for each in container["volumeMounts"]}
    mount = mounted[data["EPSILOND_LEDGER_KEYS"]]
    assert mount["readOnly"]
    (volume,) = [each for each in pod()["volumes"] if each["name"] == mount["name"]]
    secret = resources()["Secret", volume["secret"]["secretName"]]["stringData"]
    folder, _, file = data["EPSILOND_LEDGER_KEY_FILE"].rpartition("/")
    assert folder == data["EPSILOND_LEDGER_KEYS"]
    assert set(secret) == {PUBLISHED, file}


def test_keys_sign_from_where_a_cluster_mounts_them_and_are_exchanged_there(tmp_path: Path) -> None:
    """As a kubelet does it: links into a folder that is replaced at once, in which nothing may be written."""
    data = resources()["ConfigMap", "epsilond"]["data"]
    mount, file = tmp_path / "mount", data["EPSILOND_LEDGER_KEY_FILE"].rpartition("/")[2]
    mount.mkdir()
    made, secret, now = tmp_path / "made", tmp_path / "secret", datetime(2026, 1, 1, tzinfo=UTC)

    def mounted(version: str) -> None:
        inside = mount / f"..{version}"
        inside.mkdir()
        for source, name in ((made / PUBLISHED, PUBLISHED), (secret, file)):
            shutil.copy(source, inside / name)
            if not (mount / name).is_symlink():
                (mount / name).symlink_to(Path("..data") / name)
        (mount / "..new").symlink_to(inside.name)
        (mount / "..new").replace(mount / "..data")

    first = make(made, "ledgers.example.org", now, secret=secret)
    mounted("1")
    chosen = settings(
        {**data, "EPSILOND_LEDGER_KEYS": str(mount), "EPSILOND_LEDGER_KEY_FILE": str(mount / file)}, tmp_path
    )
    before = {path: path.stat().st_mtime_ns for path in mount.rglob("*")}
    keys = Keys.of(chosen, durable=True)
    assert keys().signing.public == first.signing.public
    assert {path: path.stat().st_mtime_ns for path in mount.rglob("*")} == before  # nothing was written
    second = rotate(made, "ledgers.example.org", now.replace(year=2027), secret=secret)
    mounted("2")
    assert keys().keys == (first.signing.public, second.signing.public)
    assert keys().signing.public == second.signing.public
