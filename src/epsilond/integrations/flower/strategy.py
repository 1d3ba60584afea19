"""DP-FedAvg as a Flower strategy, on a budget: around any strategy, which sees only the noisy mean."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from logging import INFO, WARNING
from typing import TYPE_CHECKING, Final

import numpy as np
from flwr.app import ArrayRecord, ConfigRecord, Message, MetricRecord
from flwr.common.logger import log
from flwr.serverapp import Grid
from flwr.serverapp.exception import AggregationError, PrivacyBudgetExhausted
from flwr.serverapp.strategy import Result, Strategy
from numpy.typing import NDArray

from epsilond.accountants.curve.enclosure import Interval
from epsilond.accountants.errors import EpsilondError, InvalidInput
from epsilond.accountants.specs import Spec
from epsilond.integrations.budget import LedgerBudget
from epsilond.integrations.flower.cohorts import draw_cohort
from epsilond.integrations.flower.noisy_sum import release_round
from epsilond.integrations.flower.parts import InitialValues
from epsilond.integrations.flower.pitfalls import FlowerPrivacyWarning
from epsilond.integrations.flower.replies import reply_with, updates_of
from epsilond.integrations.flower.rounds import CHANGED_NORM, PARTS, RoundWatch, StrategyState
from epsilond.integrations.flower.settings import Cohort, relation_of, require_settings, round_mechanism, target_delta
from epsilond.integrations.flower.updates import AdaptiveClipping
from epsilond.integrations.probe import Arrays, Probe
from epsilond.integrations.setting import StatedSetting, find_curve
from epsilond.integrations.stated import Stated
from epsilond.integrations.target import TargetBudget
from epsilond.mechanisms import secure
from epsilond.mechanisms.randomness import RandomSource
from epsilond.questions.account import account
from epsilond.runs.premises import CLIPPING, ROUNDS
from epsilond.runs.statement import RunStatement
from epsilond.runs.status import RunStatus

if TYPE_CHECKING:
    from epsilond.accountants.guarantee import PrivacyCurve
    from epsilond.ledgers.log.receipts import Receipt

EVALUATED: Final = (
    "clients report metrics of their evaluation, which are released without noise: no ε covers them. Set"
    " fraction_evaluate=0 in the strategy, and evaluate on data of others"
)
SCHEMA: Final = 1
PENDING: Final = "Not observed: whether a model of {count} configured rounds was released by other means"


class DpFedAvg(Stated, Strategy):
    """DP-FedAvg with a privacy budget, around any strategy of Flower, which sees only the noisy mean of the updates.

    In each round, the updates of all replies are clipped to norm C and added, each once and with weight 1;
    `num-examples` is ignored. A reply that is late, failed, repeated, of another shape or not finite counts as zero.
    Gaussian noise of standard deviation z·C is added to the sum, which is divided by M = `participants`, for every
    number of replies. `strategy` gets the model plus this mean as its only reply: FedAvg takes it, and FedAdam and
    others post-process it. A client is one node. For `zero-out-one` the update of a client is zero or left out.

    Clients of a round, by `cohort`:
      * `full`: every connected client, once a round.
      * `poisson`: each connected client with probability participants/population, independently, from the system's
        randomness; amplified by subsampling.
      * `without-replacement`: `participants` of the `population`, all of which must be connected; also amplified.
      * `strategy`: the clients that `strategy` draws. Nothing is amplified, and add-or-remove-one is rejected, because
        another client replaces one that is gone.

    `budget` is that of a ledger, of unit `client`, or the target of this run. `start` reserves as many rounds as the
    budget has room for, and runs these. A round is paid for before its noise is drawn and its model handed out.
    Without `start`, each round is reserved when it is configured; without room it raises `PrivacyBudgetExhausted`.

    Guarantees: the models handed out lose at most the budget's ε for one client under the budget's relation, against
    an adversary that sees all of them. They lose at most `privacy_spent()` unless the models decided the number of
    rounds. This holds if clients do not learn the cohort (`poisson`, `without-replacement`), if clipping norm and M
    were chosen without the data, and if the noise and the sum were real numbers. The noise here comes from the
    operating system's generator and is, like the sum, in floating point: see `epsilond.mechanisms.continuous`.
    Clients' metrics are not handed out, because no ε would cover them. The run stops if no client replies, and an
    adversary that sees it stop learns this.

    Args:
        strategy: chooses clients (cohort `strategy`), makes messages, and takes the noisy mean.
        noise_multiplier: z, the noise of the sum over the clipping norm; with `adaptive` of updates and count together.
        clipping_norm: C, the bound on the ℓ2 norm of one client's update; with `adaptive` in the first round.
        participants: M, the expected number of clients, at least 1.
        cohort: the choice of clients.
        population: number of clients, for `poisson` and `without-replacement`.
        budget: a budget with a `relation`: `add-or-remove-one` or `zero-out-one`, under which one client changes the
            sum by C, or `replace-one`, by 2C. Fixed-size cohorts are amplified under the last two.
        delta: δ at which ε is reported; None for the δ of the budget.
        adaptive: a clipping norm that follows a quantile.
        source: random bits, only for tests; None for the operating system.

    Raises:
        InvalidInput: numbers out of range, or a budget of another unit, observer or relation.
        NoCertificate: no theorem covers this cohort under this relation.
    """

    def __init__(
        self,
        strategy: Strategy,
        *,
        noise_multiplier: float,
        clipping_norm: float,
        participants: int,
        cohort: Cohort = "full",
        population: int | None = None,
        budget: LedgerBudget | TargetBudget,
        delta: float | None = None,
        adaptive: AdaptiveClipping | None = None,
        source: RandomSource | None = None,
    ) -> None:
        """Check the arguments, which the class describes, and prepare the checks of the rounds."""
        require_settings(clipping_norm, participants, cohort, population)
        self.strategy, self.cohort, self.population = strategy, cohort, population
        self.noise_multiplier, self.clipping_norm, self.participants = noise_multiplier, clipping_norm, participants
        self.adaptive = adaptive
        self._noise = adaptive.noise_of_updates(noise_multiplier) if adaptive else noise_multiplier
        self.step: Spec = round_mechanism(noise_multiplier, participants, cohort, population)
        self.budget = budget
        self.relation = relation_of(budget, cohort)
        self._setting = StatedSetting(relation=self.relation, unit="client", observer=budget.observer)
        self.delta = target_delta(budget) if delta is None else delta
        # A round that no theorem covers, and a δ out of range, are rejected before the run.
        account(self.step, **self._setting).guarantee.curve.epsilon(delta=self.delta)
        self._held = 0
        self._source = source or secure()
        self._norm = clipping_norm
        self._probe: Probe | None = None
        self._watch = RoundWatch(budget=budget, parts=InitialValues(self, PARTS), source=self._source)
        self._evidence = self._watch.evidence
        self._current: ArrayRecord | None = None
        self._contacted: dict[int, set[int]] = {}
        if getattr(strategy, "fraction_evaluate", 0.0):
            warnings.warn(EVALUATED, FlowerPrivacyWarning, stacklevel=2)

    @property
    def receipts(self) -> list[Receipt]:
        """Receipts of the ledger, one per round unless the budget commits several at a time; empty without a ledger."""
        return self.budget.receipts

    @property
    def noise_std(self) -> float:
        """Standard deviation of the noise of each coordinate of the mean, in this round."""
        return self._noise * self.clipping_norm / self.participants

    @property
    def rounds(self) -> int:
        """Number of released rounds."""
        return self.evidence.steps

    def privacy_spent(self) -> Interval | None:
        """Return ε [nat] at `delta` of the rounds so far, as an enclosure; None before the first.

        Raises:
            RunDiffers: the run was observed to differ from its recorded steps.
        """
        self.require_consistent()
        return self._enclose_epsilon(self.delta) if self.rounds else None

    def statement(self, delta: float | None = None) -> RunStatement:
        """Return the statement of ε for the rounds so far, with its status: certified or declared.

        Args:
            delta: δ of the statement; `self.delta` if absent.

        Raises:
            RunDiffers: the run was observed to differ from its recorded steps.
        """
        return super().statement(self.delta if delta is None else delta)

    def start(
        self,
        grid: Grid,
        initial_arrays: ArrayRecord,
        num_rounds: int = 3,
        timeout: float = 3600,
        train_config: ConfigRecord | None = None,
        evaluate_config: ConfigRecord | None = None,
        evaluate_fn: Callable[[int, ArrayRecord], MetricRecord | None] | None = None,
    ) -> Result:
        """Run as many rounds as the budget has room for, and give back the reserved rounds that were not run.

        Args:
            grid: Flower's connection to the clients.
            initial_arrays: the first model.
            num_rounds: largest number of rounds.
            timeout: time that a round may take [s].
            train_config: sent to the clients of a round.
            evaluate_config: sent to the clients that evaluate a model.
            evaluate_fn: evaluates a model at the server.

        Returns:
            Flower's result, with the last model and the metrics of the rounds.

        Raises:
            PrivacyBudgetExhausted: the budget has no room for a round.
        """
        rounds = self.budget.reserve(self.step, num_rounds)
        self._held = rounds
        if rounds < 1:
            raise PrivacyBudgetExhausted("the budget has no room for a round")
        if rounds < num_rounds:
            log(WARNING, "The privacy budget has room for %d of %d rounds", rounds, num_rounds)
        try:
            result = super().start(grid, initial_arrays, rounds, timeout, train_config, evaluate_config, evaluate_fn)
        except BaseException:
            self._held = 0
            with suppress(EpsilondError):  # the first error is raised; a reservation expires by itself
                self.budget.close()
            raise
        self._held = 0
        self.budget.close()
        assert isinstance(result, Result)  # Flower declares this type
        return result

    def configure_train(
        self, server_round: int, arrays: ArrayRecord, config: ConfigRecord, grid: Grid
    ) -> Iterable[Message]:
        """Return one message for each client of a round, if the budget has room for it.

        Args:
            server_round: number of the round, from 1.
            arrays: the present model.
            config: configuration that is sent to the clients.
            grid: Flower's connection to the clients.

        Raises:
            PrivacyBudgetExhausted: the budget has no room for the round.
        """
        self._held = self._held or self.budget.reserve(self.step, 1)  # number of reserved rounds
        if self._held < 1:
            raise PrivacyBudgetExhausted("the budget has no room for another round")
        templates = list(self.strategy.configure_train(server_round, arrays, config, grid))
        if not templates:
            return templates
        self._watch.begin(server_round, arrays)
        nodes = sorted(set(grid.get_node_ids()))
        messages = templates if self.cohort == "strategy" else self._messages(templates[0], nodes)
        self._current = arrays
        self._contacted[server_round] = {message.metadata.dst_node_id for message in messages}
        self._watch.take_cohort(server_round, self._contacted[server_round], nodes, step=self.step)
        return messages

    def aggregate_train(
        self, server_round: int, replies: Iterable[Message]
    ) -> tuple[ArrayRecord | None, MetricRecord | None]:
        """Pay for the round, add noise to the mean of the clipped updates, and return the new model.

        Args:
            server_round: number of the round, from 1.
            replies: the clients' replies with their models.

        Returns:
            The model, and the metrics of the round. Both are None if this strategy did not configure the round.

        Raises:
            AggregationError: no client replied with a model; nothing is committed.
            LedgerExhausted: the ledger rejects the round; nothing is returned.
            RunDiffers: the run was observed to differ from its recorded steps; nothing is returned.
        """
        contacted = self._contacted.pop(server_round, None)
        if contacted is None or self._current is None:
            return None, None
        current = {name: array.numpy() for name, array in self._current.items()}
        updates = list(updates_of(replies, contacted, current))
        if contacted and not updates:
            self._watch.drop(server_round)
            raise AggregationError("no client replied with an update: nothing is released")
        self._check_norm()
        self._watch.check(server_round)
        self.require_consistent()
        self.budget.pay(self.step)  # before the noise is drawn
        self._held = max(self._held - 1, 0)
        norm = self.clipping_norm  # an adaptive release changes the norm and the noise of the next round
        noise_std = self.noise_std
        model = self._release(server_round, updates, current)
        self.require_consistent()  # the test of the noise may have failed: then nothing is returned
        reply = reply_with(model, self._current, self.strategy)
        arrays = self.strategy.aggregate_train(server_round, [reply])[0]
        if arrays is not None:
            self._watch.models.release(arrays)
        return arrays, self._metrics(noise_std, norm)

    def configure_evaluate(
        self, server_round: int, arrays: ArrayRecord, config: ConfigRecord, grid: Grid
    ) -> Iterable[Message]:
        """Return the inner strategy's messages for an evaluation with metrics that no ε covers.

        Args:
            server_round: number of the round, from 1.
            arrays: the present model.
            config: configuration that is sent to the clients.
            grid: Flower's connection to the clients.
        """
        return list(self.strategy.configure_evaluate(server_round, arrays, config, grid))

    def aggregate_evaluate(self, server_round: int, replies: Iterable[Message]) -> MetricRecord | None:
        """Return the inner strategy's metrics of an evaluation, and note that they were handed out."""
        metrics = self.strategy.aggregate_evaluate(server_round, replies)
        if metrics:
            self._watch.take_evaluation(selects=self.cohort == "strategy")
        return metrics

    def summary(self) -> None:
        """Log the mechanism, the relation, the spent ε and the number of reserved rounds."""
        spent_so_far = "none, the run differs from its record"
        if self.status is not RunStatus.CONTRADICTED:
            epsilon = self.privacy_spent()
            spent_so_far = f"ε ≤ {epsilon.upper if epsilon else 0.0:g} at δ = {self.delta:g}, {self.status}"
        log(INFO, "\t├──> DP-FedAvg: %s, for one client, %s", self.step, self.relation)
        log(INFO, "\t│\t├── Clipping norm: %g, divided by: %d", self.clipping_norm, self.participants)
        log(INFO, "\t│\t├── Noise of each coordinate of the mean: %g", self.noise_std)
        log(INFO, "\t│\t└── Spent: %s; rounds held: %d", spent_so_far, self._held)
        self.strategy.summary()

    def __repr__(self) -> str:
        return f"DpFedAvg({self.strategy!r}, {self.step!r})"

    def state_dict(self) -> StrategyState:
        """Return the rounds, the clipping norm and the evidence as JSON values, so that a server can be restarted."""
        return {
            "schema_version": SCHEMA,
            "settings": self._settings(),
            "clipping_norm": self.clipping_norm,
            "rounds": self._watch.state_dict(),
        }

    def load_state_dict(self, state: StrategyState) -> None:
        """Continue the rounds of a saved state, which has neither the inner strategy nor the budget.

        Raises:
            InvalidInput: the value is no saved state, or it is the state of a strategy with other settings.
        """
        if state.get("schema_version") != SCHEMA or "rounds" not in state:
            raise InvalidInput.at("/schema_version", "is not the state of a DpFedAvg")
        if state.get("settings") != self._settings():
            raise InvalidInput.at("/settings", "are those of another strategy")
        self._watch.load_state_dict(state["rounds"])
        self.evidence.inform(self.budget)
        self.clipping_norm = self._norm = float(state["clipping_norm"])

    def _settings(self) -> dict[str, object]:
        return {
            "noise_multiplier": self.noise_multiplier,
            "participants": self.participants,
            "cohort": self.cohort,
            "population": self.population,
            "relation": self.relation,
        }

    def _find_curve(self) -> PrivacyCurve | None:
        return find_curve([(self.step, self.rounds)], self._setting)

    def _open_items(self) -> tuple[str, ...]:
        count = len(self._watch.pending)
        return (f"{ROUNDS.statement} {PENDING.format(count=count)}.",) if count else ()

    def _check_norm(self) -> None:
        """Note if the program changed the clipping norm."""
        if self.clipping_norm != self._norm:
            self.evidence.rest_on_caller(CLIPPING, CHANGED_NORM)

    def _messages(self, template: Message, nodes: list[int]) -> list[Message]:
        """Return the template's content in a message for each client that is drawn here."""
        if self.cohort == "without-replacement" and len(nodes) != self.population:
            raise AggregationError(f"{len(nodes)} clients are connected, and the population is {self.population}")
        kind = template.metadata.message_type
        return [
            Message(content=template.content, message_type=kind, dst_node_id=node)
            for node in draw_cohort(self.step, nodes, self._source)
        ]

    def _release(self, server_round: int, updates: Sequence[Arrays], current: Arrays) -> dict[str, NDArray[np.number]]:
        """Return the released model of a round: `current` plus the noisy mean of the clipped `updates`."""
        shapes = {name: array.shape for name, array in current.items()}
        if self._probe is None or not self._probe.fits(current):
            self._probe = Probe(shapes)  # sample of coordinates at which the noise is tested
        result = release_round(
            updates,
            current,
            noise=self._noise,
            clipping_norm=self.clipping_norm,
            participants=self.participants,
            adaptive=self.adaptive,
            source=self._source,
            probe=self._probe,
        )
        self.clipping_norm = self._norm = result.clipping_norm  # of the next round
        self._watch.release(server_round, result.sample, result.groups)
        return result.model

    def _metrics(self, noise_std: float, clipping_norm: float) -> MetricRecord:
        """Log the ε after a committed round, and return it with the other metrics of the round."""
        epsilon = self._enclose_epsilon(self.delta).upper
        log(INFO, "committed round %d: ε ≤ %.6g at δ = %g, %s", self.rounds, epsilon, self.delta, self.status)
        metrics = {"epsilon": epsilon, "delta": self.delta, "noise-std": noise_std, "rounds": self.rounds}
        return MetricRecord(metrics | {"clipping-norm": clipping_norm, "rounds-held": self._held})
