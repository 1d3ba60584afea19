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
    """Accountant with a certified ε that replaces Opacus' accountant for the mechanism `rdp`.

    It computes no Rényi divergences: it bounds the exact privacy curve.

    Guarantees: for the same history, ε is at most the ε of Opacus' RDPAccountant, up to the rounding of the latter.

    Attributes:
        loadable: names of mechanisms. Checkpoints of their accountants can be loaded.
    """

    loadable: ClassVar[frozenset[str]] = frozenset({MECHANISM, "rdp"})

    @classmethod
    def mechanism(cls) -> str:
        """Return the name under which Opacus finds this accountant, as for its own accountant."""
        return "rdp"

    def get_privacy_spent(self, *, delta: float, alphas: object = None) -> tuple[float, float]:
        """Return ε at δ, and NaN for the optimal order: the bound rests on no order.

        Args:
            delta: δ at which ε is computed, in (0, 1).
            alphas: Rényi orders, which have no effect.

        Returns:
            The certified upper bound on ε [nat], and NaN.
        """
        return self.get_epsilon(delta, alphas=alphas), math.nan


class CertifiedGDPAccountant(EpsilondAccountant):
    """The accountant for Opacus' mechanism `gdp`.

    Opacus' own GaussianAccountant takes the limit of many steps for the truth. Its ε can be below the true one; the ε
    of this accountant is not.

    Attributes:
        loadable: names of mechanisms. Checkpoints of their accountants can be loaded.
    """

    loadable: ClassVar[frozenset[str]] = frozenset({MECHANISM, "gdp"})

    @classmethod
    def mechanism(cls) -> str:
        """Return the name under which Opacus finds this accountant, as for its own accountant."""
        return "gdp"


class CertifiedPRVAccountant(EpsilondAccountant):
    """The accountant for Opacus' mechanism `prv`.

    Attributes:
        loadable: names of mechanisms. Checkpoints of their accountants can be loaded.
    """

    loadable: ClassVar[frozenset[str]] = frozenset({MECHANISM, "prv"})

    @classmethod
    def mechanism(cls) -> str:
        """Return the name under which Opacus finds this accountant, as for its own accountant."""
        return "prv"


DROP_INS: dict[str, type[EpsilondAccountant]] = {
    kind.mechanism(): kind for kind in (CertifiedRDPAccountant, CertifiedGDPAccountant, CertifiedPRVAccountant)
}
"""The class in the place of each of Opacus' own accountants, by the name of its mechanism."""


def replace_accountants(*mechanisms: str) -> None:
    """Register accountants of epsilond in the places of Opacus' own, and observe their runs.

    `create_accountant` and `PrivacyEngine(accountant=…)` then use them. Names that were imported before, such as
    `opacus.accountants.RDPAccountant`, are still from Opacus.

    Args:
        *mechanisms: names of Opacus' mechanisms; without any, all of them.

    Raises:
        InvalidInput: a name is none of Opacus' mechanisms.
    """
    for mechanism in mechanisms or tuple(DROP_INS):
        if mechanism not in DROP_INS:
            raise InvalidInput.at("/mechanisms", "is not one of the allowed values", allowed=", ".join(DROP_INS))
        register_accountant(mechanism, DROP_INS[mechanism], force=True)
    register()
