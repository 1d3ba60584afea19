"""DP-FedAvg as a Flower strategy, on a budget: around any strategy, which sees nothing but the noisy mean."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from contextlib import suppress
from logging import INFO, WARNING
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, get_args

import numpy as np
from flwr.app import Array, ArrayRecord, ConfigRecord, Message, MetricRecord, RecordDict
from flwr.common.logger import log
from flwr.serverapp import Grid
from flwr.serverapp.exception import AggregationError, PrivacyBudgetExhausted
from flwr.serverapp.strategy import Result, Strategy

from epsilond.accountants.errors import EpsilondError, InvalidInput
from epsilond.accountants.quantities import Relation
from epsilond.accountants.specs import Gaussian, Spec, Subsampled
from epsilond.integrations.budget import LedgerBudget
from epsilond.integrations.flower import updates
from epsilond.integrations.flower.pitfalls import FlowerPrivacyWarning
from epsilond.integrations.flower.updates import AdaptiveClipping, Arrays
from epsilond.integrations.target import TargetBudget, spent
from epsilond.mechanisms import secure
from epsilond.mechanisms.clipping import LEAST_BOUND, MOST_BOUND
from epsilond.mechanisms.continuous import gaussian
from epsilond.mechanisms.randomness import Source

if TYPE_CHECKING:
    from epsilond.accountants.curve import Interval
    from epsilond.ledgers.log.receipts import Receipt

Cohort: TypeAlias = Literal["full", "poisson", "without-replacement", "strategy"]
OBSERVERS: Final = ("released-models", "final-model")
"""Whom a guarantee of noise that the server adds can protect against."""
EVALUATED: Final = (
    "clients report metrics of their evaluation, which are released without noise: no ε covers them. Set"
    " fraction_evaluate=0 in the strategy, and evaluate on data of others"
)


class DpFedAvg(Strategy):
    """DP-FedAvg on a budget: clipped updates with equal weights over a fixed number M, noise, and only then `strategy`.

    In each round the updates of those who reply are clipped to norm C and added, each once and with weight 1, whatever
    `num-examples` says. A reply that is late, failed, doubled, of another shape or not finite counts as zero. Gaussian
    noise of standard deviation z·C joins the sum, which is divided by M = `participants` whoever replied. `strategy`
    gets the model plus this mean as the one reply: FedAvg takes it, and FedAdam and its like post-process it. A client
    is one node; `zero-out-one` is a client whose update is zero or left out.

    Who is asked, `cohort`:
      * `full`: every client that is connected, once a round.
      * `poisson`: each that is connected with probability participants/population, independently, from the system's
        randomness; amplified by it.
      * `without-replacement`: `participants` of the `population`, all of which must be connected; amplified likewise.
      * `strategy`: whom `strategy` draws; nothing is amplified, and add-or-remove-one is refused, as another client
        takes the place of one that is gone.

    `budget` is a ledger's, of unit `client`, or the target of this run alone. `start` reserves as many of its rounds as
    there is room for and runs these. A round is paid for before its noise is drawn and its model handed out. Used
    without `start`, each round is reserved when it is configured; one that finds no room raises
    `PrivacyBudgetExhausted`.

    Guarantees: the models handed out lose at most the budget's ε, and at most `privacy_spent()` unless what they showed
    decided how many rounds there are; for one client under the budget's relation, and whoever sees all of them. That
    is so if clients do not learn who is asked (`poisson`, `without-replacement`), clipping norm and M were chosen
    without the data, and noise of real numbers was added to a sum of real numbers. The noise here is of the operating
    system's generator and, like the sum, of floating point: see `epsilond.mechanisms.continuous`. Clients' metrics are
    not handed out: no ε would cover them. That no client replied at all stops the run; who sees it stop learns that.

    Args:
        strategy: chooses clients (cohort `strategy`), makes messages, and takes the noisy mean.
        noise_multiplier: z, the noise of the sum over the clipping norm; with `adaptive` of updates and count together.
        clipping_norm: C, the bound on the ℓ2 norm of one client's update; with `adaptive` that of the first round.
        participants: M, how many are expected, at least 1.
        cohort: who is asked.
        population: how many clients there are: for `poisson` and `without-replacement`.
        budget: whose `relation` says what neighbours are: `add-or-remove-one` or `zero-out-one`, under which one client
            moves the sum by C, or `replace-one`, by 2C. Fixed-size cohorts are amplified under the last two.
        delta: where ε is told; the budget's if absent.
        adaptive: a clipping norm that follows a quantile.
        source: of random bits, for tests alone; the operating system's if absent.

    Raises:
        InvalidInput: numbers that no run can have, or a budget of another unit or observer, or for other neighbours.
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
        source: Source | None = None,
    ) -> None:
        _checked(clipping_norm, participants, cohort, population)
        self.strategy, self.cohort, self.population = strategy, cohort, population
        self.noise_multiplier, self.clipping_norm, self.participants = noise_multiplier, clipping_norm, participants
        self.adaptive = adaptive
        self._noise = adaptive.noise_of_updates(noise_multiplier) if adaptive else noise_multiplier
        self.step: Spec = _step(noise_multiplier, participants, cohort, population)
        self.budget, self.relation = budget, _relation(budget, cohort)
        self.delta = _delta(budget) if delta is None else delta
        self._epsilon(1)  # what no theorem covers is refused before a round
        self.rounds, self._held = 0, 0
        self._source = source or secure()
        self._current: ArrayRecord | None = None
        self._asked: dict[int, set[int]] = {}
        if getattr(strategy, "fraction_evaluate", 0.0):
            warnings.warn(EVALUATED, FlowerPrivacyWarning, stacklevel=2)

    @property
    def receipts(self) -> list[Receipt]:
        """Of the ledger, one for each round unless its budget commits several at a time; none without a ledger."""
        return self.budget.receipts

    @property
    def noise_std(self) -> float:
        """Standard deviation of the noise of each coordinate of the mean, in this round."""
        return self._noise * self.clipping_norm / self.participants

    def privacy_spent(self) -> Interval | None:
        """ε [nat] at `delta` of the rounds so far, as an enclosure; None before the first."""
        return self._epsilon(self.rounds) if self.rounds else None

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
        """Run as many of these rounds as the budget has room for; what was held and not run is given back.

        Raises:
            PrivacyBudgetExhausted: there is room for none.
        """
        held = self._held = self.budget.reserve(self.step, num_rounds)
        if held < 1:
            raise PrivacyBudgetExhausted("the budget has no room for a round")
        if held < num_rounds:
            log(WARNING, "The privacy budget has room for %d of %d rounds", held, num_rounds)
        try:
            result = super().start(grid, initial_arrays, held, timeout, train_config, evaluate_config, evaluate_fn)
        except BaseException:
            self._held = 0
            with suppress(EpsilondError):  # what went wrong is told; a reservation expires by itself
                self.budget.close()
            raise
        self._held = 0
        self.budget.close()
        assert isinstance(result, Result)
        return result

    def configure_train(
        self, server_round: int, arrays: ArrayRecord, config: ConfigRecord, grid: Grid
    ) -> Iterable[Message]:
        """The messages of the round; the budget has room for it, or nobody is asked."""
        self._held = self._held or self.budget.reserve(self.step, 1)
        if self._held < 1:
            raise PrivacyBudgetExhausted("the budget has no room for another round")
        templates = list(self.strategy.configure_train(server_round, arrays, config, grid))
        if not templates:
            return templates
        messages = templates if self.cohort == "strategy" else self._messages(templates[0], grid)
        self._current = arrays
        self._asked[server_round] = {message.metadata.dst_node_id for message in messages}
        return messages

    def aggregate_train(
        self, server_round: int, replies: Iterable[Message]
    ) -> tuple[ArrayRecord | None, MetricRecord | None]:
        """Commit the round, and hand out the model with the noisy mean of the updates.

        Raises:
            AggregationError: clients were asked, and not one replied with a model; nothing is committed.
            LedgerExhausted: the ledger refuses; nothing is handed out.
        """
        asked = self._asked.pop(server_round, None)
        if asked is None or self._current is None:
            return None, None
        current = {name: array.numpy() for name, array in self._current.items()}
        found = list(self._updates(replies, asked, current))
        if asked and not found:
            raise AggregationError("no client replied with an update: nothing is released")
        self.budget.pay(self.step)
        self.rounds, self._held = self.rounds + 1, max(self._held - 1, 0)
        told = self._told()
        model = self._released(found, current)
        arrays, _ = self.strategy.aggregate_train(server_round, [self._reply(model, self._current)])
        return arrays, told

    def configure_evaluate(
        self, server_round: int, arrays: ArrayRecord, config: ConfigRecord, grid: Grid
    ) -> Iterable[Message]:
        """As `strategy` has it. What clients report is covered by no ε."""
        return list(self.strategy.configure_evaluate(server_round, arrays, config, grid))

    def aggregate_evaluate(self, server_round: int, replies: Iterable[Message]) -> MetricRecord | None:
        """As `strategy` has it."""
        return self.strategy.aggregate_evaluate(server_round, replies)

    def summary(self) -> None:
        """Log the mechanism, the relation, and what is spent and held."""
        found = self.privacy_spent()
        log(INFO, "\t├──> DP-FedAvg: %s, for one client, %s", self.step, self.relation)
        log(INFO, "\t│\t├── Clipping norm: %g, divided by: %d", self.clipping_norm, self.participants)
        log(INFO, "\t│\t├── Noise of each coordinate of the mean: %g", self.noise_std)
        log(
            INFO,
            "\t│\t└── Spent: ε ≤ %g at δ = %g; rounds held: %d",
            found.upper if found else 0.0,
            self.delta,
            self._held,
        )
        self.strategy.summary()

    def __repr__(self) -> str:
        return f"DpFedAvg({self.strategy!r}, {self.step!r})"

    def _messages(self, template: Message, grid: Grid) -> list[Message]:
        """What the strategy would send, to the clients that are drawn here."""
        nodes = sorted(set(grid.get_node_ids()))
        kind = template.metadata.message_type
        return [
            Message(content=template.content, message_type=kind, dst_node_id=node) for node in self._drawn_of(nodes)
        ]

    def _drawn_of(self, nodes: list[int]) -> list[int]:
        if self.cohort == "full":
            return nodes
        if self.cohort == "poisson":
            assert isinstance(self.step, Subsampled | Gaussian)
            rate = 1.0 if isinstance(self.step, Gaussian) else self.step.rate
            assert rate is not None
            return [node for node, drawn in zip(nodes, self._source.flips(rate, (len(nodes),)), strict=True) if drawn]
        if len(nodes) != self.population:
            raise AggregationError(f"{len(nodes)} clients are connected, and the population is {self.population}")
        return [nodes[place] for place in self._source.subsets((), self.population, self.participants)]

    def _updates(self, replies: Iterable[Message], asked: set[int], current: Arrays) -> Iterable[dict[str, Any]]:
        """The updates that count: one of each client that was asked, of the model's shape and finite."""
        left = set(asked)
        for reply in replies:
            node = reply.metadata.src_node_id
            if reply.has_error() or node not in left:
                log(INFO, "a reply of node %d counts as zero: it failed, is a second one, or was not asked for", node)
                continue
            left.discard(node)
            records = list(reply.content.array_records.values())
            arrays = {name: array.numpy() for name, array in records[0].items()} if len(records) == 1 else {}
            found = updates.update_of(arrays, current)
            if found is None:
                log(INFO, "the reply of node %d counts as zero: it is of another shape or not finite", node)
                continue
            yield found

    def _released(self, found: list[dict[str, Any]], current: Arrays) -> dict[str, Any]:
        """The model plus the noisy mean, and the clipping norm of the next round."""
        parts = [updates.clipped(update, self.clipping_norm) for update in found]
        summed = updates.total((part.arrays for part in parts), current)
        noise_std = self._noise * self.clipping_norm
        noisy = {name: part + gaussian(noise_std, part.shape, self._source) for name, part in summed.items()}
        if self.adaptive:
            bits = [-0.5 if part.longer else 0.5 for part in parts if part.changed]
            centred = sum(bits) + float(gaussian(self.adaptive.count_noise_std, (), self._source))
            self.clipping_norm = self.adaptive.next_norm(self.clipping_norm, centred, self.participants)
        return {
            name: (np.asarray(current[name], np.float64) + part / self.participants).astype(current[name].dtype)
            for name, part in noisy.items()
        }

    def _reply(self, model: dict[str, Any], like: ArrayRecord) -> Message:
        """The one reply that the strategy sees: the noisy model with weight 1."""
        arrays = ArrayRecord({name: Array(np.ascontiguousarray(model[name])) for name in like})
        weight = MetricRecord({getattr(self.strategy, "weighted_by_key", "num-examples"): 1.0})
        content = RecordDict({getattr(self.strategy, "arrayrecord_key", "arrays"): arrays, "metrics": weight})
        return Message(content=content, message_type="train", dst_node_id=0)

    def _epsilon(self, rounds: int) -> Interval:
        budget = self.budget
        found = spent(
            {self.step: rounds}, delta=self.delta, relation=self.relation, unit="client", observer=budget.observer
        )
        assert found is not None
        return found

    def _told(self) -> MetricRecord:
        found = self.privacy_spent()
        assert found is not None
        told = {"epsilon": found.upper, "delta": self.delta, "noise-std": self.noise_std, "rounds": self.rounds}
        log(INFO, "committed round %d: ε ≤ %.6g at δ = %g", self.rounds, found.upper, self.delta)
        return MetricRecord(told | {"clipping-norm": self.clipping_norm, "rounds-held": self._held})


def _checked(clipping_norm: float, participants: int, cohort: str, population: int | None) -> None:
    if cohort not in get_args(Cohort):
        raise InvalidInput.at("/cohort", "is unknown", allowed=", ".join(get_args(Cohort)))
    if not LEAST_BOUND <= clipping_norm <= MOST_BOUND:
        raise InvalidInput.at("/clipping_norm", "is out of range", allowed="≥ 2^-256 and ≤ 2^256")
    if participants < 1:
        raise InvalidInput.at("/participants", "is out of range", allowed="≥ 1")
    drawn = cohort in {"poisson", "without-replacement"}
    if drawn and (population is None or population < participants):
        raise InvalidInput.at("/population", f"is needed for {cohort}", allowed="≥ participants")
    if not drawn and population is not None:
        raise InvalidInput.at("/population", f"has no part in {cohort}")


def _step(noise_multiplier: float, participants: int, cohort: Cohort, population: int | None) -> Spec:
    mechanism = Gaussian(noise_multiplier=noise_multiplier)
    if population is None or population == participants:
        return mechanism
    if cohort == "poisson":
        return Subsampled(sampling="poisson", rate=participants / population, mechanism=mechanism)
    return Subsampled(
        sampling="without-replacement", batch_size=participants, population=population, mechanism=mechanism
    )


def _relation(budget: LedgerBudget | TargetBudget, cohort: Cohort) -> Relation:
    if budget.unit != "client":
        raise InvalidInput.at("/budget", "protects another unit", allowed="client")
    if budget.observer not in OBSERVERS:
        raise InvalidInput.at("/budget", "is against another observer", allowed=", ".join(OBSERVERS))
    if cohort == "strategy" and budget.relation == "add-or-remove-one":
        message = "a strategy that draws a fixed number puts another client in the place of one that is gone"
        raise InvalidInput.at("/budget", message, allowed="relation zero-out-one or replace-one")
    return budget.relation


def _delta(budget: LedgerBudget | TargetBudget) -> float:
    if isinstance(budget, TargetBudget):
        return budget.delta
    target = budget.ledger.told["target"]
    return float(target["delta"] if "delta" in target else 10.0 ** target["log10_delta"])
