"""A mechanism of pfl that is watched: its postprocessors report each iteration to the evidence."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Hashable, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple, SupportsFloat, TypeAlias

import numpy as np
from numpy.typing import NDArray

from epsilond.accountants.errors import InvalidInput
from epsilond.integrations.federated import of_cohorts
from epsilond.integrations.pfl.cohort import UserCohort
from epsilond.integrations.probe import RELATIVE_ROUNDING, Arrays, Probe
from epsilond.runs.batch_sizes import BatchSizes
from epsilond.runs.cohort_draws import CohortDraws
from epsilond.runs.evidence import Evidence
from epsilond.runs.noise_samples import NoiseSamples
from epsilond.runs.premises import CLIPPING, COHORT, DIVISOR, NOISE, RELEASES, ROUNDS, SAME_PARTS, UPDATES, Premise

if TYPE_CHECKING:
    from pfl.context import CentralContext, UserContext
    from pfl.metrics import Metrics
    from pfl.postprocessor.base import Postprocessor
    from pfl.privacy.privacy_mechanism import CentralPrivacyMechanism
    from pfl.stats import TrainingStatistics

Result: TypeAlias = "tuple[TrainingStatistics, Metrics]"
"""Statistics and metrics that a method of a postprocessor returns."""

METRICS: Final = "pfl adds up the users' metrics without noise and hands them to callbacks"
EARLIER: Final = "earlier iterations ran in another process"
DRAWN: Final = "a data set drew the cohorts, from a generator that the program may have seeded"
SPREAD: Final = "several processes share the users, so that this one does not see them all"
KIND: Final = "the mechanism is none whose noise and bound are observed here: one Gaussian mechanism with ℓ2 clipping"

BOUND_ROUNDING: Final = 1e-9
"""Relative tolerance of the clipping bound between the clipping of a user and the noise."""
NOISE_ROUNDING: Final = 1e-12
"""Relative tolerance of noise multipliers."""

FIX_NOISE: Final = "Make the mechanism by from_privacy_accountant, of this accountant."
FIX_ORDER: Final = "Put the mechanism last among the postprocessors, and leave the sum of the users as it is."
FIX_WEIGHT: Final = "Weight by WeightByUser, and set the weight of the noisy sum to the expected cohort size."
FIX_ROUNDS: Final = "Plan at least as many compositions as iterations run."
FIX_COHORT: Final = "Draw each user of a round anew and independently, with the sampling probability."
FIX_REPEATED: Final = "Draw each user at most once into a cohort; pfl's sampler 'random' draws with replacement."
UNNAMED: Final = "the data set gives no user ids, so that a user may have entered a cohort twice"
FIX_PARTS: Final = "Leave the mechanism, its noise and its methods as they are."


class MechanismPlan(NamedTuple):
    """The planned run of one mechanism.

    Attributes:
        mechanism: `gaussian` or `laplace`.
        noise_parameter: standard deviation or scale of the noise of a cohort's sum, over the clipping bound.
        sampling_probability: probability that a user is in a cohort, in (0, 1].
        iterations: number of iterations.
    """

    mechanism: str
    noise_parameter: float
    sampling_probability: float
    iterations: int


class WatchedMechanism:
    """Observes the private aggregation of pfl, by replacing methods of its postprocessors.

    Each replacement calls the original method and checks its arguments and results.

    Args:
        postprocessors: the postprocessors of the backend, in its order.
        plans: the plan of each mechanism, at least one.
        evidence: receives the observations.
        users: ids of all users; None if not known.

    Raises:
        InvalidInput: no central privacy mechanism is among the postprocessors.
    """

    def __init__(
        self,
        postprocessors: Sequence[Postprocessor],
        *,
        plans: Sequence[MechanismPlan],
        evidence: Evidence,
        users: Collection[Hashable] | None,
    ) -> None:
        """Replace the methods of the postprocessors by observing ones. The class describes the arguments."""
        self._mechanism = _central(postprocessors)
        self._underlying = self._mechanism.underlying_mechanism
        self._evidence = evidence
        self._users = None if users is None else list(users)
        self._rate = max(plan.sampling_probability for plan in plans)
        self._iterations = min(plan.iterations for plan in plans)
        # The noise is tested for a single Gaussian mechanism, which states its standard deviation.
        first_plan = plans[0]
        has_stddev = hasattr(self._underlying, "relative_noise_stddev")
        is_single_gaussian = len(plans) == 1 and first_plan.mechanism == "gaussian" and has_stddev
        self._noise_parameter: float | None = None
        if is_single_gaussian:
            self._noise_parameter = first_plan.noise_parameter
        self._sizes = BatchSizes()
        self._draws = CohortDraws()
        self._noise = NoiseSamples()
        self._cohort = UserCohort()
        self._probe: Probe | None = None
        self._bound = math.nan
        self._weight: float | None = None
        self._saw_iteration = False
        self._observed: set[Premise] = set()
        self._installed: list[tuple[Postprocessor, str, Callable[..., Result]]] = []
        self._wrap(postprocessors[-1], "postprocess_one_user", self._after_user)
        self._wrap(self._mechanism, "postprocess_server", self._around_noise)
        self._wrap(postprocessors[0], "postprocess_server", self._after_server)
        evidence.rest_on_caller(RELEASES, METRICS)
        if not is_single_gaussian:
            evidence.rest_on_caller(NOISE, KIND)
            evidence.rest_on_caller(CLIPPING, KIND)

    def _wrap(self, owner: Postprocessor, name: str, observer: Callable[..., Result]) -> None:
        """Replace a method by one that calls an observer with the original method and the arguments.

        An earlier replacement of the same method is no longer checked for changes, because the new one calls it.

        Args:
            owner: the postprocessor that has the method.
            name: name of the method.
            observer: called with the original method and the arguments of each call; returns the result.
        """
        original = getattr(owner, name)

        def method(**arguments: object) -> Result:
            """Call the observer in the place of the original."""
            return observer(original, **arguments)

        setattr(owner, name, method)
        self._installed = [installed for installed in self._installed if installed[:2] != (owner, name)]
        self._installed.append((owner, name, method))

    # Methods of the postprocessors ------------------------------------------------------------------------------------
    def _after_user(self, original: Callable[..., Result], *, user_context: UserContext, **arguments: object) -> Result:
        """Call the last postprocessor for one user, and add the user's resulting model update to the observed cohort.

        Args:
            original: original method of the postprocessor.
            user_context: pfl's context of the user, with its id.
            **arguments: the other arguments of the method.

        Returns:
            The result of the original method.
        """
        self._bound = self._clipping_bound()
        result = original(user_context=user_context, **arguments)
        statistics, _ = result
        arrays = _arrays(statistics)
        if self._probe is None or not self._probe.fits(arrays):
            self._probe = Probe({name: array.shape for name, array in arrays.items()})
        identity = getattr(user_context, "user_id", None)
        self._cohort.add(identity, arrays, weight=getattr(statistics, "weight", None), probe=self._probe)
        return result

    def _around_noise(
        self,
        original: Callable[..., Result],
        *,
        stats: TrainingStatistics,
        central_context: CentralContext,
        **arguments: object,
    ) -> Result:
        """Check the sum of an iteration, let the mechanism add its noise, and check the noise.

        Args:
            original: the mechanism's own method, which adds the noise.
            stats: sum of the users' statistics.
            central_context: settings of the iteration, with its number and the expected cohort size.
            **arguments: further arguments of the method.

        Returns:
            The result of the mechanism's own method: the noisy statistics and its metrics.
        """
        clean_sum = _arrays(stats)
        self._observed = set()
        if self._keeps_parts():
            self._observed.add(SAME_PARTS)
        self._check_number(int(central_context.current_central_iteration))
        self._check_cohort(int(central_context.cohort_size))
        self._check_sum(clean_sum)
        clean_values = None
        if self._probe is not None and self._probe.fits(clean_sum):
            clean_values = self._probe.take(clean_sum)  # before the call, which may add the noise in place
        result = original(stats=stats, central_context=central_context, **arguments)
        if clean_values is not None:
            noisy_statistics, _ = result
            self._check_noise(clean_values, _arrays(noisy_statistics))
        return result

    def _after_server(self, original: Callable[..., Result], **arguments: object) -> Result:
        """Call the first postprocessor, which is the last one at the server, and count the iteration as a step."""
        result = original(**arguments)
        statistics, _ = result
        self._check_weight(getattr(statistics, "weight", None))
        self._evidence.count_step(self._observed)
        self._cohort = UserCohort()
        return result

    # Checks -----------------------------------------------------------------------------------------------------------
    def _keeps_parts(self) -> bool:
        """Return whether the observing methods are still in place; otherwise report it."""
        for owner, name, method in self._installed:
            if vars(owner).get(name) is not method:
                message = "a method of the observed mechanism was replaced"
                self._evidence.contradict(SAME_PARTS, message, remedy=FIX_PARTS)
                return False
        return True

    def _check_number(self, iteration: int) -> None:
        """Check that no more iterations run than planned, and that all of them were observed from the first one on.

        Args:
            iteration: pfl's number of the iteration, from 0.
        """
        # The iteration under way is counted too.
        count = max(self._evidence.steps, iteration) + 1
        if count > self._iterations:
            message = f"more than the planned {self._iterations} iterations ran"
            self._evidence.contradict(ROUNDS, message, remedy=FIX_ROUNDS)
        elif not self._saw_iteration and iteration > 0:
            self._evidence.rest_on_caller(ROUNDS, EARLIER)
        else:
            self._observed.add(ROUNDS)
        self._saw_iteration = True

    def _check_cohort(self, expected: int) -> None:
        """Test that the users of an iteration are a Poisson sample, by their number and, if known, their identities.

        No test can show that a draw is random, so the caller must declare it, unless all users take part.

        Args:
            expected: expected number of users.
        """
        size = self._cohort.size
        users = self._users
        population = round(expected / self._rate) if users is None else len(users)
        if population > 0:
            self._sizes.observe(size, records=population, rate=self._rate)
        identities = set(self._cohort.identities)
        all_have_ids = len(self._cohort.identities) == size  # otherwise the identities are not tested
        if users is not None and all_have_ids and identities <= set(users):
            self._draws.observe(identities, users)
        alarm = self._draws.alarm
        if alarm is None and self._sizes.alarm is not None:
            alarm = of_cohorts(self._sizes.alarm)
        if alarm is not None:
            self._evidence.contradict(COHORT, alarm, remedy=FIX_COHORT, declarable=False)
        elif self._rate < 1.0:
            self._evidence.rest_on_caller(COHORT, DRAWN)
        else:
            self._observed.add(COHORT)

    def _check_sum(self, before: Arrays) -> None:
        """Check that the sum before the noise adds up the users' clipped statistics, each user at most once.

        Args:
            before: the sum to which the noise will be added.
        """
        if _processes() > 1:
            self._evidence.rest_on_caller(UPDATES, SPREAD)
            self._evidence.rest_on_caller(CLIPPING, SPREAD)
            return
        is_sum = self._probe is not None and self._probe.fits(before) and self._cohort.is_sum(self._probe.take(before))
        if self._cohort.repeated > 0:
            message = "a user entered a cohort more than once"
            self._evidence.contradict(UPDATES, message, remedy=FIX_REPEATED, count=self._cohort.repeated)
        elif not is_sum:
            message = "the sum that got noise is not the sum of the users' statistics"
            self._evidence.contradict(UPDATES, message, remedy=FIX_ORDER)
        elif len(self._cohort.identities) < self._cohort.size:
            self._evidence.rest_on_caller(UPDATES, UNNAMED)
        else:
            self._observed.add(UPDATES)
        if self._noise_parameter is None:
            return
        bound_shrank = not self._clipping_bound() >= self._bound * (1.0 - BOUND_ROUNDING)  # also if it is NaN
        if self._cohort.exceeds(self._bound) or bound_shrank:
            message = "a user's statistics were longer than the clipping bound that the noise is scaled to"
            self._evidence.contradict(CLIPPING, message, remedy=FIX_ORDER)
        else:
            self._observed.add(CLIPPING)

    def _check_noise(self, before: NDArray[np.float64], released: Arrays) -> None:
        """Test that the added noise is Gaussian with the planned standard deviation, if the plan fixes it.

        The noise is not tested if rounding errors are too large compared with it.

        Args:
            before: the sum without noise, at the sampled coordinates.
            released: the sum with noise.
        """
        planned = self._noise_parameter
        if planned is None or self._probe is None:
            return
        actual = float(self._underlying.relative_noise_stddev)
        if actual < planned * (1.0 - NOISE_ROUNDING):
            message = f"the mechanism adds {actual:.6g} times its clipping bound, and the plan counts on {planned:.6g}"
            self._evidence.contradict(NOISE, message, remedy=FIX_NOISE)
        if not self._probe.fits(released):
            # With adaptive clipping, a user's statistics have one more array, which indicates clipping. The mechanism
            # removes it before the release, and the sample would lack its coordinate.
            return
        noise_std = planned * self._bound
        if self._probe.spacing(released) > RELATIVE_ROUNDING * noise_std:
            return
        self._noise.observe((self._probe.take(released) - before) / noise_std, self._probe.groups)
        if self._noise.alarm:
            self._evidence.contradict(NOISE, self._noise.alarm, remedy=FIX_NOISE)
        else:
            self._observed.add(NOISE)

    def _check_weight(self, weight: SupportsFloat | None) -> None:
        """Check that the weight by which pfl divides the noisy sum does not depend on the users.

        The weight must be the same in each iteration, and must not be the sum of the users' own weights.

        Args:
            weight: the weight; None if the statistics have none.
        """
        value = None if weight is None else float(weight)
        if self._evidence.steps == 0:
            self._weight = value
        is_total_weight = len(self._cohort.weights) > 1 and value == self._cohort.total_weight
        if value != self._weight or is_total_weight:
            message = "the weight that divides the noisy sum depends on the users, and gets no noise"
            self._evidence.contradict(DIVISOR, message, remedy=FIX_WEIGHT)
        else:
            self._observed.add(DIVISOR)

    def _clipping_bound(self) -> float:
        """Return the bound to which pfl clips the norm of the statistics that one user sends.

        Returns:
            The bound; NaN if the mechanism states none. With adaptive clipping it covers the user's clipping flag too.
        """
        overall = getattr(self._mechanism, "_get_overall_clipping_bound", None)
        if overall is not None:
            return float(overall())
        bound = getattr(self._underlying, "clipping_bound", math.nan)
        # The bound is a number, or a hyperparameter of pfl with a method that returns its present value.
        present_value = getattr(bound, "value", None)
        if callable(present_value):
            return float(present_value())
        return float(bound)


def _central(postprocessors: Sequence[Postprocessor]) -> CentralPrivacyMechanism:
    """Return the postprocessor of pfl that adds noise to the sum over users.

    Args:
        postprocessors: postprocessors of a training run.

    Returns:
        The first postprocessor that is a central privacy mechanism.

    Raises:
        InvalidInput: none of them is a central privacy mechanism.
    """
    for postprocessor in postprocessors:
        # The class is recognised by its name, so that pfl need not be imported here.
        names = {base.__name__ for base in type(postprocessor).__mro__}
        if "CentralPrivacyMechanism" in names and hasattr(postprocessor, "underlying_mechanism"):
            return postprocessor
    raise InvalidInput.at("/postprocessors", "have no central privacy mechanism")


def _arrays(statistics: TrainingStatistics) -> dict[str, NDArray[np.number]]:
    """Return the arrays of a user's or a cohort's statistics, by their position as text.

    Args:
        statistics: statistics of pfl.

    Returns:
        The arrays of numpy, with the keys "0", "1" and so on.
    """
    from pfl.internal.ops.selector import get_default_framework_module  # noqa: PLC0415  # pfl is a host

    convert = get_default_framework_module().to_numpy
    _, weights = statistics.get_weights()
    return {str(index): np.asarray(convert(array)) for index, array in enumerate(weights)}


def _processes() -> int:
    """Return the number of processes over which pfl distributes the users of a cohort."""
    from pfl.internal.ops.selector import get_default_framework_module, has_framework_module  # noqa: PLC0415

    if not has_framework_module():
        return 1
    return int(get_default_framework_module().distributed.world_size)
