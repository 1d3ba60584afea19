"""Flower's `PrivacyAccountant` protocol with certified upper bounds, on a ledger where there is one."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from flwr.serverapp import GaussianPrivacyEvent, PrivacyConfig, PrivacySpent, SamplingMethod

from epsilond.accountants.errors import InvalidInput, Observation
from epsilond.accountants.quantities import Relation
from epsilond.accountants.specs import Spec
from epsilond.integrations.counted import run_of
from epsilond.integrations.federated import FEDERATED
from epsilond.integrations.flower.events import FlowerAccountantState, spec_of_event
from epsilond.integrations.flower.matching import Matching
from epsilond.integrations.flower.models import ReleasedModels
from epsilond.integrations.flower.rounds import FIX_REWOUND
from epsilond.integrations.flower.wrapper import WatchedWrapper
from epsilond.integrations.numbers import count as whole
from epsilond.integrations.setting import StatedSetting, find_curve
from epsilond.integrations.stated import Stated
from epsilond.reading import read_value
from epsilond.runs.evidence import Evidence
from epsilond.runs.premises import COHORT, OUTSIDE_CLIENTS, ROUNDS, SAME_PARTS
from epsilond.runs.statement import RunStatement

if TYPE_CHECKING:
    from flwr.serverapp.strategy import Strategy

    from epsilond.accountants.guarantee import PrivacyCurve
    from epsilond.integrations.budget import LedgerBudget
    from epsilond.integrations.target import TargetBudget
    from epsilond.ledgers.log.receipts import Receipt

# Version of the form of the saved state.
SCHEMA: Final = 1
BACKEND: Final = "epsilond"
READABLE: Final = (BACKEND, "rdp")
"""Backends with states that are lists of the same events."""
REPLACED: Final = (
    "a fixed number of clients may have been drawn: if one is removed, another takes its place. The ε is for a "
    "client that keeps its place while its update becomes zero (zero-out-one)"
)
UNOBSERVED: Final = "The strategy was not observed: call accountant.observe(strategy) before its first round."
FIX_COMPOSE: Final = "Compose one event for each model that a round releases."


class EpsilondAccountant(Stated):
    """A `PrivacyAccountant` for Flower that bounds the privacy loss of one client by all released models.

    With `budget`, every composed event is paid for there before `compose` returns. Flower's wrappers call `compose`
    before they hand out the noisy model, so that a rejected payment stops the release. They call `would_exceed` before
    clients train, but only where the configuration has a `max_epsilon`.

    The accountant sees only events, which the program may compose independently of its rounds. With
    `observe(strategy)` it checks the rounds too. Otherwise the status of the ε is `declared`: the caller must ensure
    every condition of the theorem, and the statement lists them.

    Args:
        config: privacy configuration of Flower; ε is stated at its `target_delta`.
        budget: budget that pays for each event, of a ledger or of this run only. Its unit must be `client`, its
            relation that of `config`, and its observer `released-models`.

    Raises:
        InvalidInput: the budget is of another unit, relation or observer.

    Guarantees:
        `get_epsilon` and `get_delta` are certified upper bounds for the relation of the configuration, under which a
        noise multiplier is the noise of the sum over the clipping norm. `would_exceed` is false only where the
        certified ε with the new releases is at most the limit. None of them returns if an observation contradicts the
        record.
    """

    def __init__(self, config: PrivacyConfig, *, budget: LedgerBudget | TargetBudget | None = None) -> None:
        """Start the account of a run without any release. The class describes the arguments."""
        self._config = config
        self._relation: Relation = read_value(Relation, config.neighboring_relation.value, at="/neighboring_relation")
        self._setting = StatedSetting(relation=self._relation, unit="client", observer="released-models")

        # The events so far, each with its number of releases; and what is known about the conditions of the theorem.
        self._budget = budget
        self._compositions: list[tuple[GaussianPrivacyEvent, int]] = []
        self._evidence = Evidence(FEDERATED, outside=OUTSIDE_CLIENTS, budget=budget)
        self._matching = Matching(self._evidence, sampling=config.sampling_method.value, relation=self._relation)
        self._wrappers: list[WatchedWrapper] = []
        # Number of the last round of a loaded state, and the models that were released before it.
        self._resumed: tuple[int, ReleasedModels] = (0, ReleasedModels())
        required = ("client", self._relation, "released-models")
        if budget is not None and (budget.unit, budget.relation, budget.observer) != required:
            message = "is of another unit, relation or observer than the accountant"
            raise InvalidInput.at("/budget", message, allowed=", ".join(required))

    def observe(self, strategy: Strategy, *, system_noise: bool = False) -> None:
        """Check each round of a differentially private wrapper of Flower from now on.

        Its methods `configure_train`, `aggregate_train` and `aggregate_evaluate`, and `aggregate_train` of the strategy
        inside, are replaced by methods that observe and call the originals.

        Args:
            strategy: `DifferentialPrivacy{Server,Client}Side{Fixed,Adaptive}Clipping` of `flwr.serverapp.strategy`.
            system_noise: seed numpy's global generator from the operating system while a round is aggregated, and
                restore it afterwards. Without that, the source of the noise is a declared item.

        Raises:
            InvalidInput: it is another strategy, is already observed, or has another accountant.
        """
        accountant = getattr(strategy, "accountant", None)
        if accountant is not None and accountant is not self:
            raise InvalidInput.at("/strategy", "has another accountant")
        wrapper = WatchedWrapper(
            strategy,
            evidence=self._evidence,
            release=self._matching.release,
            amplified=self._config.sampling_method is not SamplingMethod.NO_AMPLIFICATION,
            count_sensitivity=0.5 if self._relation == "replace-one" else 1.0,  # relative to the sum of updates
            seed_noise=system_noise,
        )
        wrapper.number, wrapper.models = self._resumed
        self._wrappers.append(wrapper)

    def statement(self, delta: float | None = None) -> RunStatement:
        """State ε of all releases so far, with the conditions that were observed and those that the caller must ensure.

        Args:
            delta: δ of the statement; None for the δ of the configuration.

        Returns:
            Bounds on ε [nat] at δ, and the status of the conditions: certified or declared.

        Raises:
            RunDiffers: the run was observed to differ from its recorded steps.
        """
        stated_delta = self._config.target_delta if delta is None else delta
        return super().statement(stated_delta)

    @property
    def receipts(self) -> list[Receipt]:
        """Receipts of the ledger for the events that it has paid for; empty without a budget."""
        return [] if self._budget is None else self._budget.receipts

    @property
    def config(self) -> PrivacyConfig:
        """Flower's configuration, as given."""
        return self._config

    @property
    def num_releases(self) -> int:
        """Number of releases that were composed."""
        return sum(times for _, times in self._compositions)

    @property
    def spec(self) -> Spec | None:
        """Composition of all releases; None before the first release."""
        return run_of(self._parts(self._compositions))

    def compose(self, event: GaussianPrivacyEvent, count: int = 1) -> None:
        """Record releases, after the budget has paid for them if there is one.

        Args:
            event: the release, with its noise multiplier and the sizes of sample and population.
            count: number of releases.

        Raises:
            ValueError: a count below 1, or a population other than the configuration's.
            LedgerExhausted: the budget is too small; nothing was composed, and nothing may be released.
        """
        step = self._step(event, count)
        # The budget pays before anything is recorded, so that a rejection changes nothing.
        if self._budget is not None:
            self._budget.pay(step, count)
        self._compositions.append((event, count))
        self._count(event, count)

    def get_privacy_spent(self, delta: float | None = None) -> PrivacySpent:
        """Return the certified ε of all releases in Flower's form, with `optimal_order` None.

        Args:
            delta: δ at which ε is computed; None for the δ of the configuration.

        Returns:
            Flower's record of ε, δ, the number of releases and the method of accounting.

        Raises:
            RunDiffers: the run was observed to differ from its recorded steps.
        """
        at = self._config.target_delta if delta is None else delta
        return PrivacySpent(
            epsilon=self.get_epsilon(at), delta=at, num_releases=self.num_releases, accounting_method=BACKEND
        )

    def would_exceed(self, event: GaussianPrivacyEvent, max_epsilon: float | None = None, count: int = 1) -> bool:
        """Return whether further releases would exceed the limit on ε or the remaining budget, without recording them.

        Args:
            event: the next release.
            max_epsilon: limit on ε [nat]; None for the limit of the configuration.
            count: number of releases like `event`.

        Returns:
            True if ε would exceed the limit, or if the budget would reject the releases.

        Raises:
            ValueError: there is neither a limit, here or in the configuration, nor a budget (paid by a ledger).
            RunDiffers: the run was observed to differ from its recorded steps.
        """
        self.require_consistent()
        step = self._step(event, count)
        limit = self._config.max_epsilon if max_epsilon is None else max_epsilon
        if limit is None and self._budget is None:
            raise ValueError("give max_epsilon, here or in the PrivacyConfig, or a budget")
        if limit is not None and self._passes_limit(event, count, limit):
            return True
        return self._budget is not None and self._budget.would_exceed(step, count)

    def _passes_limit(self, event: GaussianPrivacyEvent, count: int, limit: float) -> bool:
        """Return whether the certified ε would be above a limit after further releases, at the configuration's δ.

        Args:
            event: the further releases, all of one kind.
            count: number of further releases.
            limit: limit on ε [nat].

        Returns:
            True if ε would be above the limit, or is infinite.

        Raises:
            ValueError: the limit is not positive and finite.
        """
        if not (math.isfinite(limit) and limit > 0.0):
            raise ValueError("max_epsilon must be positive and finite")
        all_releases = [*self._compositions, (event, count)]
        curve = find_curve(self._parts(all_releases), self._setting)
        if curve is None:
            return True
        return curve.epsilon(delta=self._config.target_delta).upper > limit

    def state_dict(self) -> FlowerAccountantState:
        """Return the releases as JSON values, in the form of Flower's own accountant.

        Returns:
            The members of Flower's form, and three more: observations about the conditions of the theorem,
            Flower's number of the last round, and the digests of the released models.
        """
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
            # Members that Flower's form does not have.
            "evidence": self._evidence.state_dict(),
            "number": self._last_number(),
            "models": sorted(self._models().digests),
        }

    def load_state_dict(self, state: FlowerAccountantState) -> None:
        """Replace the recorded releases by those of a saved state, without charging the budget again.

        A state with fewer releases than this accountant has recorded contradicts the record of the run.

        Args:
            state: state of this accountant, or of Flower's RdpAccountant.

        Raises:
            ValueError: the state has another form, or belongs to another configuration.
        """
        compositions = self._read_compositions(state)
        released = self.num_releases
        if "evidence" in state:
            self._evidence.load_state_dict(state["evidence"])
        else:
            self._evidence.clear()
            for event, times in compositions:
                self._count(event, times)
        self._compositions = compositions

        # A state with fewer releases was saved before the last ones, which it would leave out of the ε.
        if released > self.num_releases:
            message = f"a state of {self.num_releases} releases was loaded after {released} releases"
            self._evidence.contradict(SAME_PARTS, message, remedy=FIX_REWOUND)
        self._evidence.inform(self._budget)
        self._resumed = int(state.get("number", 0)), ReleasedModels(state.get("models", ()))
        for wrapper in self._wrappers:
            wrapper.number, wrapper.models = self._resumed

    def _read_compositions(self, state: FlowerAccountantState) -> list[tuple[GaussianPrivacyEvent, int]]:
        """Read the events of a saved state.

        Args:
            state: state of this accountant, or of Flower's `RdpAccountant`.

        Returns:
            The events, each with its number of releases.

        Raises:
            ValueError: the state has another form, or belongs to another configuration.
        """
        if state.get("schema_version") != SCHEMA or state.get("backend") not in READABLE:
            raise ValueError("is not a state of this accountant or of Flower's RdpAccountant")
        if state.get("config") != self.state_dict()["config"]:
            raise ValueError("the state's configuration is another one")
        try:
            compositions = [(GaussianPrivacyEvent(**entry["event"]), entry["count"]) for entry in state["compositions"]]
        except (KeyError, TypeError) as error:
            raise ValueError("a composition of the state cannot be read") from error
        for event, times in compositions:
            self._step(event, times)  # raises an error for an impossible event
        return compositions

    def _step(self, event: GaussianPrivacyEvent, count: int) -> Spec:
        """Check a count of releases of one kind, and return the mechanism of a single release.

        Args:
            event: the release.
            count: number of releases, which is only checked.

        Raises:
            ValueError: a count below 1, or a population other than the configuration's.
        """
        if whole(count, "/count") < 1:
            raise ValueError("count must be a whole number from 1 on")
        if event.population_size != self._config.population_size:
            raise ValueError("population_size differs from the one of the PrivacyConfig")
        return spec_of_event(event, self._config.sampling_method.value)

    def _count(self, event: GaussianPrivacyEvent, count: int) -> None:
        """Record releases, and match them with the rounds of an observed Flower wrapper, if there is one.

        Without a wrapper, a condition is left to the caller if some of the clients take part, no amplification is used,
        and the relation is add-or-remove-one. If a round has a fixed number of clients, another client takes the place
        of one that is removed.

        Args:
            event: the composed event.
            count: number of releases.
        """
        self._evidence.count_step(count=count)
        if self._wrappers:
            self._matching.compose(event, count)
            return
        is_unamplified = self._config.sampling_method is SamplingMethod.NO_AMPLIFICATION
        is_partial = event.sample_size < event.population_size
        if is_unamplified and is_partial and self._relation == "add-or-remove-one":
            self._evidence.rest_on_caller(COHORT, REPLACED, count=count)

    def _open_observations(self) -> tuple[Observation, ...]:
        """Return the observation that rounds released models for which no event was composed; empty without such."""
        count = self._matching.unrecorded
        if not count:
            return ()
        message = "a round released a model, and no event was composed for it"
        return (Observation(ROUNDS.id, message, remedy=FIX_COMPOSE, count=count),)

    def _open_items(self) -> tuple[str, ...]:
        """Return the advice to observe the strategy, if there were releases and no round was observed."""
        if self._wrappers or not self._compositions or any(self._evidence.shown.values()):
            return ()
        return (UNOBSERVED,)

    def _last_number(self) -> int:
        """Return Flower's number of the latest round."""
        return self._wrappers[-1].number if self._wrappers else self._resumed[0]

    def _models(self) -> ReleasedModels:
        """Return the digests of all models that were released."""
        return self._wrappers[-1].models if self._wrappers else self._resumed[1]

    def _find_curve(self) -> PrivacyCurve | None:
        """Return the privacy curve of all releases; None before the first."""
        return find_curve(self._parts(self._compositions), self._setting)

    def _parts(self, compositions: Iterable[tuple[GaussianPrivacyEvent, int]]) -> list[tuple[Spec, int]]:
        """Return the mechanism of each event, with its number of releases.

        Args:
            compositions: privacy events of Flower, each with its number of releases.
        """
        sampling = self._config.sampling_method.value
        return [(spec_of_event(event, sampling), times) for event, times in compositions]
