"""dp-accounting's PLDAccountant, answered by ours."""

import math

import numpy as np

from tests.peers.adapters.dp_accounting_common import make_accountant
from tests.peers.adapters.risk import gaussian_mu, true_positive_rates


def install(use, *, own):
    """Replace PLDAccountant; with `own`, only note where it is used."""
    from dp_accounting import NeighboringRelation, pld
    from dp_accounting.pld import pld_privacy_accountant

    theirs = pld_privacy_accountant.PLDAccountant
    if own:
        original = theirs.__init__

        def init(self, *args, **kwargs):
            use()
            original(self, *args, **kwargs)

        theirs.__init__ = init
        return

    def setup(_, neighboring_relation=NeighboringRelation.ADD_OR_REMOVE_ONE, value_discretization_interval=None):
        del value_discretization_interval  # of a grid that ours does not have
        return neighboring_relation

    class PLDAccountant(make_accountant(use, setup)):
        """Ours, with the questions of risk that PLDAccountant has besides."""

        @property
        def _contains_non_dp_event(self):
            return not self._private

        def get_true_positive_rates(self, false_positive_rates, deltas=None):
            del deltas
            if not self._private:
                return np.ones_like(false_positive_rates) if np.ndim(false_positive_rates) else 1.0
            rates = true_positive_rates(self._find_curve(), np.atleast_1d(false_positive_rates))
            return rates if np.ndim(false_positive_rates) else float(rates[0])

        def get_gdp_parameter_estimate(self, false_positive_rates=None, deltas=None):
            del false_positive_rates, deltas
            return gaussian_mu(self._find_curve()) if self._private else math.inf

    pld_privacy_accountant.PLDAccountant = PLDAccountant
    pld.PLDAccountant = PLDAccountant
