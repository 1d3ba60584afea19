"""dp-accounting's RdpAccountant, answered by ours: ε and δ are ours, and Rényi divergences are those of our account."""

import numpy as np

from epsilond.integrations.setting import find_curve
from tests.peers.adapters.dp_accounting_common import make_accountant
from tests.peers.adapters.risk import renyi_divergences, selected_divergence
from tests.peers.counting import NoEquivalent


def install(use, *, own):
    """Replace RdpAccountant; with `own`, only note where it is used."""
    from dp_accounting import NeighboringRelation, rdp
    from dp_accounting.rdp import rdp_privacy_accountant

    theirs = rdp_privacy_accountant.RdpAccountant
    if own:
        original = theirs.__init__

        def init(self, *args, **kwargs):
            use()
            original(self, *args, **kwargs)

        theirs.__init__ = init
        return

    def setup(self, orders=None, neighboring_relation=NeighboringRelation.ADD_OR_REMOVE_ONE):
        self._orders = np.array(rdp_privacy_accountant.DEFAULT_RDP_ORDERS if orders is None else orders, dtype=float)
        return neighboring_relation

    class RdpAccountant(make_accountant(use, setup)):
        """Ours, with the Rényi divergences that the tests read from RdpAccountant."""

        @property
        def _rdp(self):
            if not self._private:
                return np.full_like(self._orders, np.inf)
            if not any(part.kind == "select_best" for part in self._run):
                return renyi_divergences(self._find_curve(), self._orders)
            return sum(times * self._divergences(part) for part, times in self._run.items())

        def _divergences(self, part):
            """Return the divergences of a selection of Gaussian runs by its theorem, and others by their curve."""
            if part.kind != "select_best" or part.mechanism.kind != "gaussian":
                return renyi_divergences(find_curve([(part, 1)], self._setting), self._orders)
            named = {"noise_multiplier": part.mechanism.noise_multiplier, "mean": part.repetitions.mean}
            if part.repetitions.kind != "poisson":
                named["shape"] = getattr(part.repetitions, "shape", 1.0)
            bounds = [selected_divergence(order, named) for order in self._orders]
            return np.minimum.accumulate(bounds[::-1])[::-1]  # divergences increase with the order

        @property
        def _extra_delta(self):
            raise NoEquivalent("the sum of the δ of all declared parts is not a figure of ours")

        def get_epsilon_and_optimal_order(self, target_delta):
            del target_delta
            raise NoEquivalent("ours has no optimal order")

    rdp_privacy_accountant.RdpAccountant = RdpAccountant
    rdp.RdpAccountant = RdpAccountant
