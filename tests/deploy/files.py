"""The files that a service is deployed with, read."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import yaml

from epsilond.app.settings import PREFIX, Settings

ROOT = Path(__file__).parents[2]
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
NGINX = ROOT / "deploy/nginx.conf"
COMPOSE_FILES = (ROOT / "compose.yaml", ROOT / "deploy/compose.replicas.yaml")
MANIFESTS = tuple(sorted((ROOT / "deploy/kubernetes").glob("*.yaml")))
VARIABLES = {f"{PREFIX}{each.upper()}" for each in Settings.model_fields}
HEALTH: list[str] = json.loads(re.findall(r"CMD (\[.+\])$", DOCKERFILE, flags=re.MULTILINE)[0])
DRAIN_SECONDS = 5.0
"""What a service takes to end beyond its deadline, at most."""


def compose() -> dict[str, Any]:
    """The replicas, as compose has them."""
    read: dict[str, Any] = yaml.safe_load(COMPOSE_FILES[1].read_text(encoding="utf-8"))
    return read


def resources() -> dict[tuple[str, str], dict[str, Any]]:
    """Everything of the manifests, by kind and name."""
    read = [each for path in MANIFESTS for each in yaml.safe_load_all(path.read_text(encoding="utf-8"))]
    return {(each["kind"], each["metadata"]["name"]): each for each in read}


def settings(environment: dict[str, str], folder: Path) -> Settings:
    """What a service makes of these variables; secrets are files of this folder."""
    password = folder / "password"
    password.write_text("of/the@store\n")
    chosen = {name.removeprefix(PREFIX).lower(): text for name, text in environment.items()}
    return Settings(**{**chosen, "store_password_file": str(password)})  # type: ignore[arg-type]
