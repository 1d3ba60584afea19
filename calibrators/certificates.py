"""Families σ ↦ Spec of the releases of an algorithm's runs, and the certified noise of each run."""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic

from typing_extensions import TypeVar

from epsilond.accountants.account import account
from epsilond.accountants.estimates.trails import Trails
from epsilond.accountants.quantities import LARGEST_COUNT, NOISE_MULTIPLIER, TargetedProblem
from epsilond.calibrators.envelope import true_figures
from epsilond.calibrators.search import Trials, smallest_noise

if TYPE_CHECKING:
    from epsilond.accountants.specs import Spec
    from epsilond.accountants.target import Target
    from epsilond.calibrators.answer import TrueFigures
    from epsilond.calibrators.search import Certified

NOISES_KEPT = 256
"""Largest number of certified noises that are cached between problems."""

Problem_co = TypeVar("Problem_co", bound=TargetedProblem, covariant=True)
Requested_contra = TypeVar("Requested_contra", bound=TargetedProblem, contravariant=True)
Restated = TypeVar("Restated", bound=TargetedProblem)
Run_contra = TypeVar("Run_contra", contravariant=True)
Truth = Callable[[Run_contra, float], "TrueFigures | None"]
"""(run, noise multiplier that a paper prescribes) ↦ the ε and δ certified there, for a record under replace-one."""


def _unit_norm(problem: TargetedProblem, run: object) -> float:
    """Return 1, the default bound on the norm of one contribution."""
    del problem, run
    return 1.0


def _target(problem: TargetedProblem, run: object) -> Target:
    """Return the target of the problem, which by default is that of each run."""
    del run
    return problem.target


@dataclass(frozen=True, kw_only=True)
class Family(Generic[Requested_contra, Run_contra]):
    """The mechanisms of an algorithm as functions of the noise multiplier, with the search for the smallest noise.

    A run holds the choices that, with the problem, determine the mechanism, for example rounds and batch size. It is
    None if the problem determines all.

    Attributes:
        spec: (problem, run, noise multiplier) ↦ the release.
        guess: (problem, run) ↦ the noise multiplier at which the search starts.
        slope: (problem, run, guess) ↦ estimate of the derivative of log |log δ| with respect to log noise, with the
            opposite sign, at the guess. If None, the search assumes a typical value.
        contribution: (problem, run) ↦ bound on the norm of one contribution, by which noise multipliers are multiplied.
        target: (problem, run) ↦ the target (ε, δ).
        search: the function that searches the smallest noise multiplier and certifies it.
        trailed: whether the search also accepts a trail, the results of recent searches, as a better start. The result
            of such a search must not depend on its start.
    """

    spec: Callable[[Requested_contra, Run_contra, float], Spec]
    guess: Callable[[Requested_contra, Run_contra], float]
    slope: Callable[[Requested_contra, Run_contra, float], float] | None = None
    contribution: Callable[[Requested_contra, Run_contra], float] = _unit_norm
    target: Callable[[Requested_contra, Run_contra], Target] = _target
    search: Callable[..., Certified] = smallest_noise
    trailed: bool = False


class _RecentNoises:
    """A cache of certified noise multipliers, shared by all problems.

    The key of a noise holds all inputs of the search for it. The cache saves work where several algorithms are
    calibrated with the same mechanism and target.
    """

    def __init__(self) -> None:
        """Start with an empty cache."""
        self._noises: dict[Hashable, float] = {}

    def get(self, inputs: Hashable) -> float | None:
        """Return the cached noise for the inputs of a search, or None if there is none."""
        return self._noises.get(inputs)

    def keep(self, inputs: Hashable, noise: float) -> None:
        """Store the noise for the inputs of a search. A full cache is emptied first."""
        if len(self._noises) >= NOISES_KEPT:
            self._noises.clear()
        self._noises[inputs] = noise


_RECENT_NOISES = _RecentNoises()
_TRAILS = Trails()


class Certificates(Generic[Problem_co, Run_contra]):
    """The certified noise of a problem's runs, searched once for all runs with equal releases and targets.

    Attributes:
        family: the mechanisms of the algorithm as functions of the noise.
        problem: the request.
    """

    def __init__(self, family: Family[Problem_co, Run_contra], problem: Problem_co) -> None:
        """Prepare the search for certified noises of the runs of one request, without any result yet.

        Args:
            family: the mechanisms of the algorithm as functions of the noise.
            problem: the request, with the relation, the protected unit, the observer and the privacy target.
        """
        self.family = family
        self.problem = problem
        self._certified: dict[tuple[Spec, Target], Certified] = {}
        self._noises: dict[tuple[Spec, Target], float] = {}
        self._truths: dict[tuple[Spec, Target], TrueFigures] = {}

    def restate(
        self: Certificates[Restated, Run_contra], problem: Restated, certified: Mapping[Run_contra, Certified]
    ) -> Certificates[Restated, Run_contra]:
        """Return certificates for a request with another form of its target, keeping certified noises.

        A target that bounds an attacker's risk is restated as the (ε, δ) that was certified for it.

        Args:
            problem: the request with the restated target.
            certified: certified noises by their runs.

        Returns:
            New certificates, which have the given noises for these runs.
        """
        certificates = Certificates(self.family, problem)
        for run, certificate in certified.items():
            certificates._certified[certificates._key(run)] = certificate
        return certificates

    def spec(self, run: Run_contra, noise_multiplier: float = 1.0) -> Spec:
        """Return the mechanism that releases the messages of a run, with noise of a given multiplier.

        Args:
            run: the run.
            noise_multiplier: standard deviation of the noise over the norm of one contribution (`norm`).

        Returns:
            The specification of the mechanism, from which its privacy is computed.
        """
        return self.family.spec(self.problem, run, noise_multiplier)

    def of(self, run: Run_contra) -> Certified:
        """Return the smallest noise multiplier that is certified to meet the target, with its guarantee.

        The result is cached.

        Args:
            run: the choices that determine the mechanism, such as rounds and batch size.

        Returns:
            The smallest certified noise multiplier, with the guarantee at this noise.

        Raises:
            ConditionViolated: no theorem covers the release under this relation.
            Infeasible: no noise that is offered meets the target.
        """
        key = self._key(run)
        if key not in self._certified:
            self._certified[key] = self._search(run, key)
        return self._certified[key]

    def _search(self, run: Run_contra, key: tuple[Spec, Target]) -> Certified:
        """Search for the smallest noise multiplier (noise over the norm of one contribution) that is certified.

        The result is also stored in a cache that all problems share.

        Args:
            run: the run, such as its rounds and batch size.
            key: specification of the released mechanism at the noise multiplier 1, and the target (ε, δ).

        Returns:
            The smallest certified noise, with the guarantee at this noise.

        Raises:
            ConditionViolated: no theorem covers the release under this relation.
            Infeasible: no noise that is offered meets the target.
        """
        family = self.family
        release, target = key
        trials = Trials(self.problem, functools.partial(family.spec, self.problem, run))
        guess = family.guess(self.problem, run)
        slope = self._slope(run, guess)
        options: dict[str, object] = dict(slope)
        if family.trailed:  # searches for other targets of the same release share a trail
            options["trail"] = _TRAILS.of(self._cache_key_of_search((release, None), 0.0, {}))

        certified = family.search(trials, target, guess=guess, **options)
        # The certificate refers to the trials, whose guarantees would keep large grids in memory.
        trials.forget()
        _RECENT_NOISES.keep(self._cache_key_of_search(key, guess, slope), certified.noise)
        return certified

    def noise(self, run: Run_contra) -> float:
        """Return the smallest noise multiplier that is certified to meet the target, without its guarantee.

        It comes from a cache that all problems share, if an equal search was made recently.

        Args:
            run: the choices that determine the mechanism, such as rounds and batch size.

        Returns:
            The noise multiplier: noise over the norm of one contribution.

        Raises:
            ConditionViolated: no theorem covers the release under this relation.
            Infeasible: no noise that is offered meets the target.
        """
        key = self._key(run)
        if key in self._certified:
            return self._certified[key].noise
        # Look into the noises of this problem first, then into the cache of all problems, and search only then.
        if key not in self._noises:
            guess = self.family.guess(self.problem, run)
            inputs = self._cache_key_of_search(key, guess, self._slope(run, guess))
            cached_noise = _RECENT_NOISES.get(inputs)
            self._noises[key] = self.of(run).noise if cached_noise is None else cached_noise
        return self._noises[key]

    def _key(self, run: Run_contra) -> tuple[Spec, Target]:
        """Return the release at the noise multiplier 1, and the target. In one problem they determine the noise."""
        return self.family.spec(self.problem, run, 1.0), self.family.target(self.problem, run)

    def _slope(self, run: Run_contra, guess: float) -> dict[str, float]:
        """Return the keyword argument of the search for its initial slope, empty if the family gives none."""
        if self.family.slope is None:
            return {}
        return {"slope": self.family.slope(self.problem, run, guess)}

    def _cache_key_of_search(
        self, key: tuple[Spec, Target | None], guess: float, slope: Mapping[str, float]
    ) -> Hashable:
        """Return a cache key of a search for the smallest noise, which has all inputs of the search.

        Equal searches of different problems have the same key.

        Args:
            key: the specification of the mechanism at the noise multiplier 1, and the target; None for all targets.
            guess: noise multiplier at which the search starts.
            slope: initial slope of the search by the name of its argument; empty if it starts without one.

        Returns:
            A tuple that can be hashed.
        """
        setting = (self.problem.relation, self.problem.unit, self.problem.observer)
        return (self.family, key, setting, guess, tuple(slope.values()))

    def norm(self, run: Run_contra) -> float:
        """Return the bound on the ℓ2 norm of one contribution."""
        return self.family.contribution(self.problem, run)

    def noise_std(self, run: Run_contra) -> float:
        """Return the certified σ, in the units of the quantity that the noise is added to."""
        return self.noise(run) * self.norm(run)

    def likely_noise_std(self, run: Run_contra) -> float:
        """Return an estimate of the certified σ, in the units of `noise_std`."""
        return self.family.guess(self.problem, run) * self.norm(run)

    def truth(self, run: Run_contra, noise_multiplier: float) -> TrueFigures | None:
        """Certify the ε and δ of a run at the noise that a paper prescribes, to compare them with the paper's claim.

        The neighbouring relation is replace-one, as in the printed theorems, and the protected unit is a record.

        Args:
            run: the run.
            noise_multiplier: the printed noise multiplier.

        Returns:
            Enclosures of ε at the target's δ and of δ at its ε. None if the number of rounds or the noise multiplier is
            outside the range that specs allow.
        """
        has_too_many_rounds = getattr(run, "rounds", 1) > LARGEST_COUNT
        if has_too_many_rounds or not NOISE_MULTIPLIER.contains(noise_multiplier):
            return None
        release = self.spec(run, noise_multiplier)
        target = self.family.target(self.problem, run)
        key = (release, target)
        if key not in self._truths:
            # Coarse bounds suffice for the comparison with a claim.
            guarantee = account(release, relation="replace-one", effort="coarse").guarantee
            self._truths[key] = true_figures(guarantee, target)
        return self._truths[key]


def unknown(*run: object) -> None:
    """Return None. It replaces `Certificates.truth` if a request does not want the true ε and δ of printed noise.

    Args:
        run: the run and its noise, which are not used.
    """
    del run
