"""Flower: its privacy accountant's protocol, DP-FedAvg with a budget, and gaps of its own wrappers.

Importing this imports no Flower; `EpsilondAccountant` and `DpFedAvg` do when they are first used.
"""

from typing import TYPE_CHECKING

from epsilond.integrations.flower.events import spec_from_flower_state
from epsilond.integrations.flower.local import local_statement
from epsilond.integrations.flower.pitfalls import (
    FlowerPrivacyWarning,
    adaptive_noise_multiplier,
    certified_local_epsilon,
    check_local_dp,
    check_strategy,
    weighted_noise_multiplier,
)
from epsilond.integrations.lazily import importer

if TYPE_CHECKING:
    from epsilond.integrations.flower.accountant import EpsilondAccountant as EpsilondAccountant
    from epsilond.integrations.flower.strategy import DpFedAvg as DpFedAvg
    from epsilond.integrations.flower.updates import AdaptiveClipping as AdaptiveClipping

__all__ = [
    "AdaptiveClipping",
    "DpFedAvg",
    "EpsilondAccountant",
    "FlowerPrivacyWarning",
    "adaptive_noise_multiplier",
    "certified_local_epsilon",
    "check_local_dp",
    "check_strategy",
    "local_statement",
    "spec_from_flower_state",
    "weighted_noise_multiplier",
]

if not TYPE_CHECKING:
    __getattr__ = importer(
        __name__, {"AdaptiveClipping": "updates", "DpFedAvg": "strategy", "EpsilondAccountant": "accountant"}
    )
