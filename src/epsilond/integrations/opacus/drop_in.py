"""Accountants in the places of Opacus' own: `create_accountant("rdp")`, "gdp" and "prv" then answer certified bounds.

A program that names one of Opacus' mechanisms stays as it is. Its ε is that of epsilond, for the same history.
"""

from __future__ import annotations

import math
from typing import ClassVar

from opacus.accountants.registry import register_accountant

from epsilond.accountants.errors import InvalidInput
from epsilond.integrations.opacus.accountant import MECHANISM, EpsilondAccountant, register


class CertifiedRDPAccountant(EpsilondAccountant):
    """Accountant that replaces Opacus' accountant for the mechanism `rdp`, with a proved upper bound on ε.

    It bounds the exact privacy curve, and computes no Rényi divergences.

    Guarantees: for the same history, ε is at most the ε of Opacus' RDPAccountant, up to the rounding of the latter.

    Attributes:
        loadable: names of Opacus' mechanisms with checkpoints that can be loaded.
    """

    loadable: ClassVar[frozenset[str]] = frozenset({MECHANISM, "rdp"})

    @classmethod
    def mechanism(cls) -> str:
        """Return the name under which Opacus finds this accountant, as for its own accountant."""
        return "rdp"

    def get_privacy_spent(self, *, delta: float, alphas: object = None) -> tuple[float, float]:
        """Return ε at δ, and NaN in place of the optimal Rényi order, as the bound uses no order.

        Args:
            delta: δ at which ε is computed, in (0, 1).
            alphas: Rényi orders, which have no effect.

        Returns:
            The upper bound on ε [nat] of `get_epsilon`, and NaN.

        Raises:
            RunDiffers: the run was observed to differ from its recorded steps.
            InvalidInput: δ is outside (0, 1), or the history has an impossible step.
        """
        return self.get_epsilon(delta, alphas=alphas), math.nan


class CertifiedGDPAccountant(EpsilondAccountant):
    """Accountant that replaces Opacus' accountant for the mechanism `gdp`, with a proved upper bound on ε.

    Opacus' own GaussianAccountant uses an approximation for many steps (the central limit). Its ε can be below the true
    one; the ε of this accountant cannot.

    Attributes:
        loadable: names of Opacus' mechanisms with checkpoints that can be loaded.
    """

    loadable: ClassVar[frozenset[str]] = frozenset({MECHANISM, "gdp"})

    @classmethod
    def mechanism(cls) -> str:
        """Return the name under which Opacus finds this accountant, as for its own accountant."""
        return "gdp"


class CertifiedPRVAccountant(EpsilondAccountant):
    """Accountant that replaces Opacus' accountant for the mechanism `prv`, with a proved upper bound on ε.

    Attributes:
        loadable: names of Opacus' mechanisms with checkpoints that can be loaded.
    """

    loadable: ClassVar[frozenset[str]] = frozenset({MECHANISM, "prv"})

    @classmethod
    def mechanism(cls) -> str:
        """Return the name under which Opacus finds this accountant, as for its own accountant."""
        return "prv"


DROP_INS: dict[str, type[EpsilondAccountant]] = {
    kind.mechanism(): kind for kind in (CertifiedRDPAccountant, CertifiedGDPAccountant, CertifiedPRVAccountant)
}
"""The class that replaces each of Opacus' own accountants, by the name of its mechanism."""


def replace_accountants(*mechanisms: str) -> None:
    """Register accountants of epsilond in place of Opacus' own, and observe their runs.

    `create_accountant` and `PrivacyEngine(accountant=…)` then use them. The classes of Opacus, such as
    `opacus.accountants.RDPAccountant`, do not change.

    Args:
        *mechanisms: names of Opacus' mechanisms: "rdp", "gdp" and "prv"; without any, all of them.

    Raises:
        InvalidInput: a name is none of these. The names before it are registered.
    """
    for mechanism in mechanisms or tuple(DROP_INS):
        if mechanism not in DROP_INS:
            raise InvalidInput.at("/mechanisms", "is not one of the allowed values", allowed=", ".join(DROP_INS))
        register_accountant(mechanism, DROP_INS[mechanism], force=True)
    register()
