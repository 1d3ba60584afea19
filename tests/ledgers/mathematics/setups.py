"""Ledgers and mechanisms that several tests use."""

from __future__ import annotations

import json
import math
from typing import Any

from epsilond.accountants import specs
from epsilond.accountants.guarantee import Setting
from epsilond.ledgers.mathematics.opening import RequestedItem, RequestedSlot, open_ledger
from epsilond.ledgers.mathematics.state import Declared, LedgerState, LedgerTarget

SETTING = Setting(relation="add-or-remove-one")
TARGET = LedgerTarget(epsilon=8.0, log_delta=math.log(1e-6))
SEALED = Declared(sealed=True)
DIFFERENT = (
    (0.01, 1.0, 1000),
    (0.005, 0.8, 2000),
    (0.02, 1.5, 1500),
    (0.01, 1.2, 3000),
    (0.002, 0.7, 5000),
    (0.05, 3.0, 1000),
    (0.01, 1.0, 500),
    (0.03, 2.0, 800),
    (0.004, 0.9, 4000),
    (0.01, 1.1, 1200),
    (0.008, 0.85, 900),
    (0.015, 1.3, 2500),
)
"""(rate, noise multiplier, steps) of twelve training jobs."""


def step(rate: float = 0.01, noise: float = 1.0) -> specs.Subsampled:
    """One step of training."""
    return specs.Subsampled(sampling="poisson", rate=rate, mechanism=specs.Gaussian(noise_multiplier=noise))


def job(rate: float = 0.01, noise: float = 1.0, steps: int = 1000) -> specs.Repeated:
    """A training job."""
    return specs.Repeated(times=steps, mechanism=step(rate, noise))


def ledger(
    *slots: RequestedSlot, plan: tuple[Any, ...] = (), target: LedgerTarget = TARGET, setting: Setting = SETTING
) -> LedgerState:
    """An opened and sealed ledger with these slots, and these mechanisms as items a, b, c, …"""
    planned = tuple(RequestedItem(name="abcdefghijklmnop"[place], spec=spec) for place, spec in enumerate(plan))
    return open_ledger(setting=setting, target=target, declared=SEALED, plan=planned, slots=slots)[0]


def gaussian_slot(eta: str = "2.6e-7", mu_squared: str = "largest") -> RequestedSlot:
    """A Gaussian slot."""
    return RequestedSlot(kind="gdp", capacity={"mu_squared": mu_squared, "eta": eta})


def text_of(spec: Any) -> str:
    """A step's text, for entries: of the mechanisms above."""
    return json.dumps(
        [spec.rate, spec.mechanism.noise_multiplier] if spec.kind == "subsampled" else spec.noise_multiplier
    )


def spec_of(text: str) -> Any:
    """The mechanism of a text."""
    told = json.loads(text)
    return step(*told) if isinstance(told, list) else specs.Gaussian(noise_multiplier=told)
