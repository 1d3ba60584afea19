"""Flower's `PrivacyAccountant` protocol with certified upper ends, on a ledger where there is one."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from flwr.serverapp import GaussianPrivacyEvent, PrivacyConfig, PrivacySpent, SamplingMethod

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.quantities import Relation
from epsilond.accountants.specs import Spec
from epsilond.integrations.counted import run_of
from epsilond.integrations.flower.events import spec_of_event
from epsilond.integrations.flower.pitfalls import FlowerPrivacyWarning
from epsilond.integrations.numbers import count as whole
from epsilond.questions.account import account
from epsilond.reading import read_value

if TYPE_CHECKING:
    from epsilond.accountants.guarantee import PrivacyCurve
    from epsilond.integrations.budget import LedgerBudget
    from epsilond.integrations.target import TargetBudget
    from epsilond.ledgers.log.receipts import Receipt

SCHEMA: Final = 1
BACKEND: Final = "epsilond"
READABLE: Final = (BACKEND, "rdp")
"""Backends whose states are lists of the same events."""
REPLACED: Final = (
    "a fixed number of clients is drawn, so that another one takes the place of a client that is gone, and the sum of"
    " updates moves by up to twice the clipping norm: the ε told here is of a client whose update becomes zero while it"
    " keeps its place (zero-out-one). Use epsilond.integrations.flower.DpFedAvg for other neighbours"
)


class EpsilondAccountant:
    """A `PrivacyAccountant` for Flower: what was released to whoever sees the models, of one client more or less.

    With `budget`, every composed event is paid for there before `compose` returns. Flower's wrappers call `compose`
    before they hand out the noisy model, so that a refusal stops the release. They ask `would_exceed` before clients
    train, but only where the configuration has a `max_epsilon`.

    Guarantees: `get_epsilon` and `get_delta` are certified upper ends for the relation of the configuration, under
    which a noise multiplier is the noise of the sum over the clipping norm. `would_exceed` is false only where the
    certified ε with the new releases is at most the limit.

    Args:
        config: Flower's. `target_delta` is where ε is told.
        budget: a ledger's, or one of this run: of unit `client`, the relation of `config`, observer `released-models`.

    Raises:
        InvalidInput: the budget is of another unit, relation or observer.
    """

    def __init__(self, config: PrivacyConfig, *, budget: LedgerBudget | TargetBudget | None = None) -> None:
        self._config = config
        self._relation: Relation = read_value(Relation, config.neighboring_relation.value, at="/neighboring_relation")
        self._budget = budget
        self._compositions: list[tuple[GaussianPrivacyEvent, int]] = []
        self._warned = False
        wanted = ("client", self._relation, "released-models")
        if budget is not None and (budget.unit, budget.relation, budget.observer) != wanted:
            message = "is of another unit, relation or observer than the accountant"
            raise InvalidInput.at("/budget", message, allowed=", ".join(wanted))

    @property
    def receipts(self) -> list[Receipt]:
        """The ledger's; none without one."""
        return [] if self._budget is None else self._budget.receipts

    @property
    def config(self) -> PrivacyConfig:
        """Flower's configuration, as given."""
        return self._config

    @property
    def num_releases(self) -> int:
        """Releases that were composed."""
        return sum(times for _, times in self._compositions)

    @property
    def spec(self) -> Spec | None:
        """What was released, as a Spec; None before the first release."""
        return self._run(self._compositions)

    def compose(self, event: GaussianPrivacyEvent, count: int = 1) -> None:
        """Count releases, after committing them in the ledger if there is one.

        Raises:
            ValueError: a count below 1, or a population other than the configuration's.
            LedgerExhausted: the ledger has no room; nothing was composed, and nothing may be released.
        """
        step = self._step(event, count)
        if self._budget is not None:
            self._budget.pay(step, count)
        self._compositions.append((event, count))

    def get_epsilon(self, delta: float) -> float:
        """Certified upper end of ε [nat] at δ; 0 before the first release."""
        curve = self._curve(self._compositions)
        return 0.0 if curve is None else curve.epsilon(delta=delta).upper

    def get_delta(self, epsilon: float) -> float:
        """Certified upper end of δ at ε [nat]; 0 before the first release."""
        curve = self._curve(self._compositions)
        return 0.0 if curve is None else curve.delta(epsilon=epsilon).upper

    def get_privacy_spent(self, delta: float | None = None) -> PrivacySpent:
        """ε at δ, the configuration's if absent, in Flower's form; a curve has no order, so `optimal_order` is None."""
        at = self._config.target_delta if delta is None else delta
        return PrivacySpent(
            epsilon=self.get_epsilon(at), delta=at, num_releases=self.num_releases, accounting_method=BACKEND
        )

    def would_exceed(self, event: GaussianPrivacyEvent, max_epsilon: float | None = None, count: int = 1) -> bool:
        """Whether the releases would pass the limit on ε, or what is left of the ledger. Changes nothing.

        Raises:
            ValueError: there is neither a limit, here or in the configuration, nor a budget.
        """
        step = self._step(event, count)
        limit = self._config.max_epsilon if max_epsilon is None else max_epsilon
        if limit is None and self._budget is None:
            raise ValueError("give max_epsilon, here or in the PrivacyConfig, or a budget")
        if limit is not None:
            if not (math.isfinite(limit) and limit > 0.0):
                raise ValueError("max_epsilon must be positive and finite")
            curve = self._curve([*self._compositions, (event, count)])
            if curve is None or curve.epsilon(delta=self._config.target_delta).upper > limit:
                return True
        return self._budget is not None and self._budget.would_exceed(step, count)

    def state_dict(self) -> dict[str, object]:
        """What was released, in the form of Flower's own accountant; JSON."""
        config = self._config
        return {
            "schema_version": SCHEMA,
            "backend": BACKEND,
            "config": {
                "target_delta": config.target_delta,
                "population_size": config.population_size,
                "neighboring_relation": config.neighboring_relation.value,
                "sampling_method": config.sampling_method.value,
                "max_epsilon": config.max_epsilon,
            },
            "compositions": [
                {
                    "event": {
                        "noise_multiplier": event.noise_multiplier,
                        "sample_size": event.sample_size,
                        "population_size": event.population_size,
                    },
                    "count": times,
                }
                for event, times in self._compositions
            ],
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Take the releases of a state: of this accountant, or of Flower's RdpAccountant. The ledger is not asked.

        Raises:
            ValueError: another form, or another configuration.
        """
        if state.get("schema_version") != SCHEMA or state.get("backend") not in READABLE:
            raise ValueError("is no state of this accountant or of Flower's RdpAccountant")
        if state.get("config") != self.state_dict()["config"]:
            raise ValueError("the state's configuration is another one")
        try:
            found = [(GaussianPrivacyEvent(**each["event"]), each["count"]) for each in state["compositions"]]
        except (KeyError, TypeError) as error:
            raise ValueError("a composition of the state cannot be read") from error
        for event, times in found:
            self._step(event, times)
        self._compositions = found

    def _step(self, event: GaussianPrivacyEvent, count: int) -> Spec:
        if whole(count, "/count") < 1:
            raise ValueError("count must be a whole number from 1 on")
        if event.population_size != self._config.population_size:
            raise ValueError("population_size is not that of the PrivacyConfig")
        none = self._config.sampling_method is SamplingMethod.NO_AMPLIFICATION
        if none and event.sample_size < event.population_size and not self._warned:
            self._warned = True
            warnings.warn(REPLACED, FlowerPrivacyWarning, stacklevel=3)
        return spec_of_event(event, self._config.sampling_method.value)

    def _run(self, compositions: list[tuple[GaussianPrivacyEvent, int]]) -> Spec | None:
        sampling = self._config.sampling_method.value
        return run_of((spec_of_event(event, sampling), times) for event, times in compositions)

    def _curve(self, compositions: list[tuple[GaussianPrivacyEvent, int]]) -> PrivacyCurve | None:
        run = self._run(compositions)
        if run is None:
            return None
        return account(run, relation=self._relation, unit="client", observer="released-models").guarantee.curve
