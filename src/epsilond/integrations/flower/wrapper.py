"""A Flower wrapper that is watched: its methods report each round to the accountant's evidence."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from epsilond.accountants.errors import InvalidInput
from epsilond.integrations.flower.aggregates import Aggregate
from epsilond.integrations.flower.generators import GeneratorStates, numpy_state, python_state, system_noise
from epsilond.integrations.flower.models import ReleasedModels, model_and_weight, views
from epsilond.integrations.flower.parts import InitialValues
from epsilond.integrations.flower.pitfalls import averaging_of, bases_of, combine_multipliers
from epsilond.integrations.flower.rounds import CHANGED_NORM, EVALUATED, check_start
from epsilond.integrations.probe import RELATIVE_ROUNDING, Arrays, Probe
from epsilond.runs.evidence import Evidence
from epsilond.runs.noise_samples import NoiseSamples
from epsilond.runs.premises import CLIPPING, COHORT, DIVISOR, NOISE, RELEASES, SAME_PARTS, UPDATES, Premise

if TYPE_CHECKING:
    from flwr.app import ArrayRecord, ConfigRecord, Message, MetricRecord
    from flwr.serverapp import Grid
    from flwr.serverapp.strategy import Strategy

GENERATOR: Final = (
    "numpy's global generator drew the noise, and the program may have seeded it; observe(…, system_noise=True) seeds"
    " it from the operating system in each round"
)
CLIENT_SIDE: Final = "clients clip their own updates; the server sees only that no update exceeded the norm"
COUNT: Final = "the noise of the count of clipped updates, by which the clipping norm follows its quantile"
TRAINED: Final = "metrics that clients reported after training were handed out without noise"
FIX_WRAPPER: Final = (
    "Use epsilond.integrations.flower.DpFedAvg, which adds the noise before the strategy sees the mean."
)
FIX_NOISE: Final = "Leave the wrapper's methods and numpy's global generator alone, or use DpFedAvg."
FIX_SHARES: Final = "Let every client report the same weight, or use DpFedAvg, which gives all updates the same weight."
FIX_CLIPPING: Final = "Put fixedclipping_mod last among the clients' mods, or use a wrapper that clips at the server."
FIX_NUMBER: Final = "Set num_sampled_clients to the number of replies, and skip rounds with fewer, or use DpFedAvg."
FIX_PARTS: Final = "Give observe() the wrapper that runs, and leave its methods and its inner strategy as they are."
FIX_SEED: Final = "Seed Python's generator at most once, not in every round."


@dataclass
class WrappedRound:
    """Observations of one round of a Flower wrapper that adds noise around an inner strategy.

    Attributes:
        number: Flower's number of the round.
        arrays: the model that clients received.
        contacted: the clients that received a message.
        nodes: the clients that were connected.
        fixed: whether the inner strategy draws a fixed number of clients.
        shown: premises, the conditions of the privacy theorem, that were observed to hold in the round.
        aggregate: the replies, and the mean that the inner strategy returned.
        noise_multiplier: noise multiplier of all that the round releases; infinite until the noise was added.
        clipping_norm: bound to which updates were clipped.
    """

    number: int
    arrays: ArrayRecord
    contacted: list[int]
    nodes: list[int]
    fixed: bool
    shown: set[Premise] = field(default_factory=set)
    aggregate: Aggregate | None = None
    noise_multiplier: float = math.inf
    clipping_norm: float = 0.0


class WatchedWrapper:
    """Observes a Flower wrapper that clips updates and adds noise, by replacing its methods and its inner strategy's.

    Each replacement calls the original method and checks its arguments and results.

    Args:
        wrapper: `DifferentialPrivacy{Server,Client}Side{Fixed,Adaptive}Clipping` of `flwr.serverapp.strategy`.
        evidence: receives the observations.
        release: receives each round that released a model.
        amplified: whether the accountant relies on a random draw of clients.
        count_sensitivity: sensitivity of the count of clipped updates, divided by the sensitivity of the sum of updates
            in units of the clipping norm.
        seed_noise: whether to seed numpy's global generator from the operating system for each aggregation.

    Raises:
        InvalidInput: it is another strategy, or it is already watched.
    """

    def __init__(
        self,
        wrapper: Strategy,
        *,
        evidence: Evidence,
        release: Callable[[WrappedRound], None],
        amplified: bool,
        count_sensitivity: float,
        seed_noise: bool,
    ) -> None:
        """Replace the methods of the wrapper by ones that observe it; for the arguments, see the class."""
        bases = bases_of(wrapper)
        if "aggregate_train" in vars(wrapper):
            raise InvalidInput.at("/strategy", "is observed already")
        self.wrapper = wrapper
        self.inner = wrapper.strategy
        self.number = 0
        self.models = ReleasedModels()
        self._evidence = evidence
        self._release = release
        self._amplified = amplified
        self._count_sensitivity = count_sensitivity
        self._seed_noise = seed_noise
        self._adaptive = "DifferentialPrivacyAdaptiveBase" in bases
        self._client_side = any("ClientSide" in name for name in bases)
        self._noise_states = GeneratorStates()
        self._draw_states = GeneratorStates()
        self._noise = NoiseSamples()
        self._messages: dict[Premise, str] = {}
        self._round: WrappedRound | None = None
        self._probe: Probe | None = None  # the coordinates of the model at which noise and sums are tested
        self._norm = float(wrapper.clipping_norm)  # of the present round
        self._parts = self._settings()
        self._replace_methods()
        self._note_limits()

    def _settings(self) -> InitialValues:
        """Return the present settings of the wrapper, which must not change during the run."""
        names = {"strategy": SAME_PARTS, "noise_multiplier": NOISE, "num_sampled_clients": DIVISOR}
        if self._adaptive:
            names |= {"clipped_count_stddev": NOISE}
        else:
            names |= {"accountant": SAME_PARTS}
        return InitialValues(self.wrapper, names)

    def _replace_methods(self) -> None:
        """Replace methods of the wrapper and of its inner strategy by methods that observe and call the originals."""
        wrapper, inner = self.wrapper, self.inner
        self._average = inner.aggregate_train
        self._installed: Mapping[str, Callable[..., object]] = {
            "configure_train": self._configure_train,
            "aggregate_train": self._aggregate_train,
            "aggregate_evaluate": self._aggregate_evaluate,
        }
        self._original = {name: getattr(wrapper, name) for name in self._installed}
        for name, method in self._installed.items():
            setattr(wrapper, name, method)
        inner.aggregate_train = self._aggregate_inner

    def _note_limits(self) -> None:
        """Note the premises that cannot be observed for this wrapper, so that they rest on the caller."""
        if not self._seed_noise:
            self._evidence.rest_on_caller(NOISE, GENERATOR)
        if self._client_side:
            self._evidence.rest_on_caller(CLIPPING, CLIENT_SIDE)
        if self._adaptive:
            self._evidence.rest_on_caller(NOISE, COUNT)

    def _configure_train(
        self, server_round: int, arrays: ArrayRecord, config: ConfigRecord, grid: Grid
    ) -> Iterable[Message]:
        """Return the messages of the wrapper's own method, and start the observation of a round.

        Args:
            server_round: Flower's number of the round.
            arrays: the model that is sent.
            config: settings for the clients.
            grid: connection to the clients.

        Returns:
            The messages, unchanged; there may be none.
        """
        has_initial_parts = self._keeps_parts()
        repeats_draw = self._amplified and self._draw_states.repeats(python_state())
        messages = list(self._original["configure_train"](server_round, arrays, config, grid))
        if not messages:
            return messages
        current = WrappedRound(
            number=server_round,
            arrays=arrays,
            contacted=[message.metadata.dst_node_id for message in messages],
            nodes=list(grid.get_node_ids()),
            fixed=_draws_like_fedavg(self.inner),
            shown={SAME_PARTS} if has_initial_parts else set(),
        )
        if repeats_draw:
            message = "Python's global generator drew the clients from a state of an earlier round: it was reset"
            self._evidence.contradict(COHORT, message, remedy=FIX_SEED)
        current.shown |= check_start(self._evidence, self.models, arrays, number=server_round, previous=self.number)
        self.number = server_round
        self._round = current
        return messages

    def _keeps_parts(self) -> bool:
        """Return whether the wrapper has its initial settings and its observed methods, and report a change."""
        has_initial_settings = self._parts.check(self._evidence)
        wrapper_is_observed = all(vars(self.wrapper).get(name) == method for name, method in self._installed.items())
        inner_is_observed = vars(self.inner).get("aggregate_train") == self._aggregate_inner
        if wrapper_is_observed and inner_is_observed:
            return has_initial_settings
        self._evidence.contradict(SAME_PARTS, "a method of the observed strategy was replaced", remedy=FIX_PARTS)
        return False

    def _aggregate_train(
        self, server_round: int, replies: Iterable[Message]
    ) -> tuple[ArrayRecord | None, MetricRecord | None]:
        """Aggregate the replies with the wrapper's own method. If it releases a model, check the round.

        Args:
            server_round: Flower's number of the round.
            replies: replies of the clients.

        Returns:
            The model and the metrics that the wrapper returned.
        """
        current = self._round
        replies = list(replies)
        if current is not None and current.number == server_round:
            self._check_before_noise(current)
        else:
            self._round = None  # `_aggregate_inner` then averages without a check
        with system_noise() if self._seed_noise else nullcontext():
            arrays, metrics = self._original["aggregate_train"](server_round, replies)
        self._round = None
        self._norm = float(self.wrapper.clipping_norm)  # an adaptive wrapper has changed it
        if arrays is not None:
            self._finish(current, arrays, metrics)
        return arrays, metrics

    def _check_before_noise(self, current: WrappedRound) -> None:
        """Note the clipping norm of a round, and check that the generator of its noise was not reset."""
        current.clipping_norm = float(self.wrapper.clipping_norm)
        if current.clipping_norm != self._norm:
            self._evidence.rest_on_caller(CLIPPING, CHANGED_NORM)
        if not self._seed_noise and self._noise_states.repeats(numpy_state()):
            message = "numpy's global generator drew the noise from a state of an earlier round: it was reset"
            self._evidence.contradict(NOISE, message, remedy=FIX_NOISE)

    def _aggregate_inner(
        self, server_round: int, replies: Iterable[Message]
    ) -> tuple[ArrayRecord | None, MetricRecord | None]:
        """Average the clipped updates with the inner strategy's own method, and store both for later checks.

        Args:
            server_round: Flower's number of the round.
            replies: replies that the wrapper has clipped.

        Returns:
            The model and the metrics that the inner strategy returned.
        """
        replies = list(replies)
        current = self._round
        if current is None:
            return self._average(server_round, replies)  # type: ignore[no-any-return]
        aggregate = self._collect_updates(views(current.arrays), replies)
        current.aggregate = aggregate
        arrays, metrics = self._average(server_round, replies)
        aggregate.close(None if arrays is None else views(arrays))
        return arrays, metrics

    def _collect_updates(self, start: Arrays, replies: list[Message]) -> Aggregate:
        """Return the aggregate of all replies of the right shape, at a sample of coordinates (`_probe`).

        Args:
            start: the model from which the clients trained.
            replies: replies of clients; the wrapper has clipped their updates.
        """
        if self._probe is None or not self._probe.fits(start):
            self._probe = Probe({name: array.shape for name, array in start.items()})
        aggregate = Aggregate(start, self._probe)
        for reply in replies:
            model, weight = model_and_weight(reply, getattr(self.inner, "weighted_by_key", "num-examples"))
            if self._probe.fits(model):
                aggregate.add(reply.metadata.src_node_id, weight, model)
        return aggregate

    def _aggregate_evaluate(self, server_round: int, replies: Iterable[Message]) -> MetricRecord | None:
        """Return the wrapper's metrics of an evaluation, and note that they were handed out without noise."""
        metrics: MetricRecord | None = self._original["aggregate_evaluate"](server_round, replies)
        if metrics:
            self._evidence.rest_on_caller(RELEASES, EVALUATED)
        return metrics

    def _finish(self, current: WrappedRound | None, arrays: ArrayRecord, metrics: MetricRecord | None) -> None:
        """Check the updates and the noise of a round that released a model, and pass the round to `release`.

        Args:
            current: the round; None if its configuration was not observed.
            arrays: the released model.
            metrics: metrics that were released without noise; the caller must declare that they reveal nothing.
        """
        self.models.release(arrays)
        if current is None or current.aggregate is None:
            current = WrappedRound(number=self.number, arrays=arrays, contacted=[], nodes=[], fixed=False)
        else:
            self._check_updates(current, current.aggregate)
            self._check_noise(current, current.aggregate, arrays)
        if metrics:
            self._evidence.rest_on_caller(RELEASES, TRAINED)
        else:
            current.shown.add(RELEASES)
        self._release(current)

    def _check_updates(self, current: WrappedRound, aggregate: Aggregate) -> None:
        """Check that updates are clipped, have equal weights, and are divided by the number that the noise assumes.

        Every failure of such a condition (premise) is reported, with the message of the first round in which it failed.

        Args:
            current: the round. Premises that hold are added to its `shown`.
            aggregate: the updates and their mean.
        """
        failures = list(self._list_failures(current, aggregate))
        failed = {premise for premise, _, _ in failures}
        for premise, message, remedy in failures:
            first_message = self._messages.setdefault(premise, message)  # numbers differ from round to round
            self._evidence.contradict(premise, first_message, remedy=remedy)
        observable = {UPDATES, DIVISOR} if self._client_side else {CLIPPING, UPDATES, DIVISOR}
        current.shown |= observable - failed

    def _list_failures(self, current: WrappedRound, aggregate: Aggregate) -> Iterator[tuple[Premise, str, str]]:
        """Yield the premises of the privacy theorem that the updates of a round contradict.

        Args:
            current: the round, with its clipping norm.
            aggregate: the updates and their mean.

        Yields:
            A premise that does not hold, a message about it, and a remedy.
        """
        norm = current.clipping_norm
        if aggregate.exceeds(norm):
            message = f"an update of norm {aggregate.largest:.4g} exceeds the clipping norm {norm:.4g}"
            yield CLIPPING, message, FIX_CLIPPING
        if surplus := aggregate.surplus(current.contacted):
            message = f"{surplus} replies of clients that had replied before or received no message entered the sum"
            yield UPDATES, message, FIX_WRAPPER
        if weights := aggregate.unequal_weights():
            message = f"clients were weighted by {weights[0]} and {weights[1]}, and the noise covers equal weights only"
            yield UPDATES, message, FIX_SHARES
        elif not aggregate.is_equal_mean(norm):
            inner = type(self.inner).__name__
            message = f"{inner} returned another aggregate than the mean of the updates, to which the noise is scaled"
            yield UPDATES, message, FIX_WRAPPER
        updates, planned = len(aggregate.nodes), self.wrapper.num_sampled_clients
        if updates != planned:
            yield DIVISOR, f"the mean of {updates} updates got noise for a mean of {planned}", FIX_NUMBER

    def _check_noise(self, current: WrappedRound, aggregate: Aggregate, arrays: ArrayRecord) -> None:
        """Note the noise multiplier of a round, and test that its noise is Gaussian with the planned deviation.

        The noise is the released model minus the model that the inner strategy returned. It is not tested if either is
        missing, or if rounding errors are too large compared with it.

        Args:
            current: the round.
            aggregate: its updates and their mean.
            arrays: the released model.
        """
        current.noise_multiplier = self._effective_multiplier(current)
        released = views(arrays)
        probe, mean = self._probe, aggregate.returned
        if probe is None or mean is None or not len(mean) or not probe.fits(released):
            return
        sum_noise_std = float(self.wrapper.noise_multiplier) * float(self.wrapper.clipping_norm)
        noise_std = sum_noise_std / self.wrapper.num_sampled_clients
        if not noise_std > 0.0:
            self._evidence.contradict(NOISE, "the wrapper adds no noise", remedy=FIX_NOISE)
        elif aggregate.spacing <= RELATIVE_ROUNDING * noise_std:
            self._noise.observe((probe.take(released) - mean) / noise_std, probe.groups)
            if self._noise.alarm:
                self._evidence.contradict(NOISE, self._noise.alarm, remedy=FIX_NOISE)
            else:
                current.shown.add(NOISE)

    def _effective_multiplier(self, current: WrappedRound) -> float:
        """Return the noise multiplier of all that a round releases.

        An adaptive wrapper releases a noisy sum of updates and a noisy count of the clipped ones. If these have the
        noise multipliers z and s, both together have the multiplier 1/√(z⁻² + s⁻²).

        Args:
            current: the round, with its clipping norm.

        Returns:
            The noise multiplier, at least 0.
        """
        update_multiplier = float(self.wrapper.noise_multiplier)
        if not self._adaptive:
            return update_multiplier
        # The wrapper changes the clipping norm before it adds noise, which is scaled to the new norm.
        update_multiplier *= float(self.wrapper.clipping_norm) / current.clipping_norm
        count_multiplier = float(self.wrapper.clipped_count_stddev) / self._count_sensitivity
        return combine_multipliers(update_multiplier, count_multiplier)


def _draws_like_fedavg(inner: Strategy) -> bool:
    """Return whether the clients are drawn by FedAvg's own method, so that their number is fixed."""
    base = averaging_of(inner)
    return base is not None and type(inner).configure_train is vars(base)["configure_train"]
