"""Everyday specs: one of each kind, from benchmarks/specs.jsonl, and lists of different ones."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

Body = Mapping[str, Any]


class Setting(NamedTuple):
    """A spec, the neighbouring relation and the observer."""

    spec: Body
    relation: str
    observer: str


def different_gaussians(count: int, times: int = 1) -> Setting:
    """Compose Poisson-sampled Gaussians with different rates and noise, each run `times` times."""
    mechanisms = []
    for share in (place / max(1, count - 1) for place in range(count)):
        release = {"kind": "gaussian", "noise_multiplier": 0.8 + 0.8 * share}
        step = {"kind": "subsampled", "sampling": "poisson", "rate": 0.005 + 0.01 * share, "mechanism": release}
        mechanisms.append(step if times == 1 else {"kind": "repeated", "times": times, "mechanism": step})
    return Setting({"kind": "composed", "mechanisms": mechanisms}, "add-or-remove-one", "server")


def _load_specs() -> dict[str, Setting]:
    lines = Path(__file__).with_name("specs.jsonl").read_text(encoding="utf-8").splitlines()
    return {entry.pop("name"): Setting(**entry) for entry in map(json.loads, lines)}


SPECS: Mapping[str, Setting] = _load_specs() | {
    **{f"composed of {count} different, a step each": different_gaussians(count) for count in (10, 100, 1000)},
    "composed of 10 different, 100 steps each": different_gaussians(10, 100),
}
B1 = SPECS["poisson gaussian T=1000 (b1)"]
"""Rate 0.01, noise multiplier 1, 1000 steps."""
LAPLACE = SPECS["laplace T=10"]
