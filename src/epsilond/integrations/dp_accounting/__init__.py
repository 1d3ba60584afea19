"""dp-accounting: its events as specs, and an accountant with its interface.

spec_from_dp_event(event)      the spec that an event describes; dp-accounting need not be installed
EpsilondAccountant(relation)   a `PrivacyAccountant` with certified ε and δ
"""

from typing import TYPE_CHECKING

from epsilond.integrations.dp_accounting.events import spec_from_dp_event
from epsilond.integrations.lazily import importer

if TYPE_CHECKING:
    from epsilond.integrations.dp_accounting.accountant import EpsilondAccountant

__all__ = ["EpsilondAccountant", "spec_from_dp_event"]

if not TYPE_CHECKING:
    __getattr__ = importer(__name__, {"EpsilondAccountant": "accountant"})
