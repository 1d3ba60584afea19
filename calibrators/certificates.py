"""The family σ ↦ Spec of what an algorithm's runs release, and the certified noise of each run."""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from epsilond.accountants.account import account
from epsilond.accountants.quantities import LARGEST_COUNT, NOISE_MULTIPLIER
from epsilond.calibrators.envelope import true_figures
from epsilond.calibrators.search import TRIALS_KEPT, smallest_noise
from epsilond.calibrators.trails import Trails

if TYPE_CHECKING:
    from epsilond.accountants.guarantee import Guarantee
    from epsilond.accountants.quantities import Relation
    from epsilond.accountants.specs import Spec
    from epsilond.accountants.theorem import Effort
    from epsilond.calibrators.answer import TrueFigures
    from epsilond.calibrators.problem import Target
    from epsilond.calibrators.search import Certified

FOUND_KEPT = 256
"""Noises that are remembered from one problem to the next."""

Truth = Callable[[Any, float], "TrueFigures | None"]
"""(run, printed noise multiplier) ↦ what is true there, for a record under replace-one."""


def _unit_norm(problem: Any, release: Any) -> float:
    del problem, release
    return 1.0


def _itself(problem: Any, run: Any) -> Any:
    del problem
    return run


def _target(problem: Any, release: Any) -> Target:
    del release
    target: Target = problem.target
    return target


@dataclass(frozen=True, kw_only=True)
class Family:
    """σ ↦ Spec: what is released at a noise multiplier, and where to look for the smallest one.

    A release is what decides the spec beside the problem: by default the run, which is None where the problem says all.
    """

    spec: Callable[[Any, Any, float], Spec]
    """(problem, release, noise multiplier) ↦ what is released."""
    guess: Callable[[Any, Any], float]
    """(problem, release) ↦ the noise multiplier at which the search starts."""
    slope: Callable[[Any, Any, float], float] | None = None
    """(problem, release, guess) ↦ the slope that the search takes there at first; None: what is usual."""
    contribution: Callable[[Any, Any], float] = _unit_norm
    """(problem, release) ↦ the norm of one contribution at most: noise_std over noise_multiplier."""
    release: Callable[[Any, Any], Any] = _itself
    """(problem, run) ↦ release."""
    target: Callable[[Any, Any], Target] = _target
    search: Callable[..., Certified] = smallest_noise
    trailed: bool = False
    """Whether the search answers the same wherever it starts, so that it may start from what was found lately."""


class _Found:
    """Noises that were lately found, by all that their search depends on: algorithms of one plan share their runs."""

    def __init__(self) -> None:
        self._noises: dict[Hashable, float] = {}

    def get(self, question: Hashable) -> float | None:
        """The noise that was found, None if that is not known any more."""
        return self._noises.get(question)

    def keep(self, question: Hashable, noise: float) -> None:
        """Remember it, and forget all where these are many."""
        if len(self._noises) >= FOUND_KEPT:
            self._noises.clear()
        self._noises[question] = noise


_FOUND = _Found()
_TRAILS = Trails()


class Certificates:
    """Certified noise of a problem's runs: searched once for all that release the same under the same target."""

    def __init__(self, family: Family, problem: Any) -> None:
        self.family = family
        self.problem = problem
        self._certified: dict[tuple[Spec, Target], Certified] = {}
        self._noises: dict[tuple[Spec, Target], float] = {}
        self._truths: dict[tuple[Spec, Target], TrueFigures] = {}

    def spec(self, run: Any, noise_multiplier: float = 1.0) -> Spec:
        """What is released."""
        return self.family.spec(self.problem, self.family.release(self.problem, run), noise_multiplier)

    def of(self, run: Any = None) -> Certified:
        """The smallest certified noise multiplier.

        Raises:
            ConditionViolated: no theorem covers the release under this relation.
            Infeasible: no noise that is offered meets the target.
        """
        family, release = self.family, self.family.release(self.problem, run)
        target, key = self._key(release)
        if key not in self._certified:

            @functools.lru_cache(maxsize=TRIALS_KEPT)
            def guarantee(noise_multiplier: float, effort: Effort) -> Guarantee:
                return guarantee_of(self.problem, family.spec(self.problem, release, noise_multiplier), effort)

            guess = family.guess(self.problem, release)
            slope = self._slope(release, guess)
            trail = {"trail": _TRAILS.of(self._question((key[0], None), 0.0, {}))} if family.trailed else {}
            self._certified[key] = family.search(guarantee, target, guess=guess, **slope, **trail)
            guarantee.cache_clear()  # what is found holds on to the family: its trials may hold grids and transforms
            _FOUND.keep(self._question(key, guess, slope), self._certified[key].noise)
        return self._certified[key]

    def noise(self, run: Any = None) -> float:
        """The smallest certified noise multiplier alone, without a search where the same one was made lately.

        Raises:
            ConditionViolated, Infeasible: as `of`.
        """
        release = self.family.release(self.problem, run)
        _, key = self._key(release)
        if key in self._certified:
            return self._certified[key].noise
        if key not in self._noises:
            guess = self.family.guess(self.problem, release)
            known = _FOUND.get(self._question(key, guess, self._slope(release, guess)))
            self._noises[key] = self.of(run).noise if known is None else known
        return self._noises[key]

    def _key(self, release: Any) -> tuple[Target, tuple[Spec, Target]]:
        """The target, and what decides the noise within a problem."""
        target = self.family.target(self.problem, release)
        return target, (self.family.spec(self.problem, release, 1.0), target)

    def _slope(self, release: Any, guess: float) -> dict[str, float]:
        """What the search is told of the slope."""
        if self.family.slope is None:
            return {}
        return {"slope": self.family.slope(self.problem, release, guess)}

    def _question(self, key: tuple[Spec, Target | None], guess: float, slope: Mapping[str, float]) -> Hashable:
        """All that a search depends on, whichever problem asks."""
        setting = (self.problem.relation, self.problem.unit, self.problem.observer)
        return (self.family, *key, *setting, guess, *slope.values())

    def norm(self, run: Any = None) -> float:
        """Bound on the norm of one contribution."""
        return self.family.contribution(self.problem, self.family.release(self.problem, run))

    def noise_std(self, run: Any = None) -> float:
        """The certified noise in the units of what it is added to."""
        return self.noise(run) * self.norm(run)

    def likely_noise_std(self, run: Any) -> float:
        """A guess at it."""
        return self.family.guess(self.problem, self.family.release(self.problem, run)) * self.norm(run)

    def truth(self, run: Any, noise_multiplier: float) -> TrueFigures | None:
        """What is true at printed noise, for a record under replace-one, of which the theorems speak.

        None for more rounds, or another size of noise, than is ever accounted for.
        """
        if getattr(run, "rounds", 1) > LARGEST_COUNT or not NOISE_MULTIPLIER.contains(noise_multiplier):
            return None
        target = self.family.target(self.problem, self.family.release(self.problem, run))
        key = (self.spec(run, noise_multiplier), target)
        if key not in self._truths:
            relation: Relation = "replace-one"
            self._truths[key] = true_figures(account(key[0], relation=relation, effort="coarse").guarantee, target)
        return self._truths[key]


def guarantee_of(problem: Any, spec: Spec, effort: Effort = "default") -> Guarantee:
    """What is guaranteed of a release in the problem's own setting."""
    return account(
        spec, relation=problem.relation, unit=problem.unit, observer=problem.observer, effort=effort
    ).guarantee
