"""So many rounds that the total's mean is far larger than its deviation, against the contour integral of its moments.

D(ε) = (1/2π) ∫ e^{T K(z) − zε}/(z (1 + z)) dt at z = λ + it, with K the log moments of one loss in closed form, to forty
digits: nothing of it is shared with the lattice.
"""

from __future__ import annotations

from collections.abc import Callable

import mpmath as mp
import pytest

import epsilond

DELTA = 1e-6
Moment = Callable[[mp.mpc], mp.mpc]


def laplace_moment(scale: float) -> Moment:
    """E e^{zL} of Laplace noise of a scale against itself moved by one, over e^{z/b}: Dong, Roth and Su 2022, 2.2."""
    span = 1 / mp.mpf(scale)

    def moment(z: mp.mpc) -> mp.mpc:
        return ((1 + z) + z * mp.exp(-(1 + 2 * z) * span)) / (1 + 2 * z)

    return moment


def atoms_of_sampled_discrete_laplace(rate: float, decay: float, sensitivity: int) -> list[tuple[mp.mpf, mp.mpf]]:
    """Losses of a mixture against noise that is there without the record, summed over all integers, and their masses.

    Outside the integers from 0 to the sensitivity losses are constant: tails are geometric series.
    """
    q, a = mp.mpf(rate), mp.mpf(decay)
    share = mp.tanh(a / 2)
    found = []
    for place in range(sensitivity + 1):
        tail = 1 / (1 - mp.exp(-a)) if place in (0, sensitivity) else mp.mpf(1)
        absent, present = share * mp.exp(-a * place), share * mp.exp(-a * (sensitivity - place))
        mass, other = ((1 - q) * absent + q * present) * tail, absent * tail
        found.append((mp.log(mass / other), mass))
    return found


def epsilon_of(log_moment: Callable[[mp.mpc], mp.mpc], rounds: int, shift: mp.mpf) -> mp.mpf:
    """Where D(ε) is δ; the total is `rounds` · `shift` plus the sum whose log moment is given."""

    def divergence(excess: mp.mpf) -> mp.mpf:
        """D at ε = mean + excess, on the line through about the saddle point of a normal total."""
        tilt = excess / variance

        def integrand(step: mp.mpf) -> mp.mpf:
            z = mp.mpc(tilt, step / deviation)
            return mp.re(mp.exp(rounds * log_moment(z) - z * (mean + excess)) / (z * (1 + z)))

        # Equal steps converge like e^{-2π·distance/step}, and the closest pole is five or so away.
        return mp.fsum(integrand(mp.mpf(place) / 4) for place in range(-64, 65)) / (8 * mp.pi * deviation)

    mean = rounds * mp.diff(log_moment, 0, h=mp.mpf(10) ** -20)
    variance = rounds * mp.diff(log_moment, 0, 2, h=mp.mpf(10) ** -16)
    deviation = mp.sqrt(variance)
    low, high = 3 * deviation, 6 * deviation
    found = mp.findroot(lambda excess: mp.log(divergence(excess) / DELTA), (low, high), solver="anderson", tol=1e-12)
    return rounds * shift + mean + found


@pytest.mark.parametrize("rounds", [10**7, 10**9])
def test_laplace_noise_far_below_what_it_hides(rounds: int) -> None:
    """The search starts where a grid's own mean lies: an outline's is wrong by a thousand deviations."""
    with mp.workdps(40):
        moment = laplace_moment(1e-3)
        truth = epsilon_of(lambda z: mp.log(moment(z)), rounds, 1 / mp.mpf(1e-3))
    spec = {"kind": "repeated", "times": rounds, "mechanism": {"kind": "laplace", "scale_multiplier": 1e-3}}
    found = epsilond.account(
        spec, relation="add-or-remove-one", delta=DELTA, unit="record", observer="server"
    ).guarantee.epsilon
    assert found.lower <= truth <= found.upper
    assert found.upper - found.lower <= 3e-8 * truth


@pytest.mark.parametrize(("rounds", "width"), [(10**3, 1e-4), (10**6, 0.02), (10**9, 1.0)])
def test_sampled_discrete_noise(rounds: int, width: float) -> None:
    """Atoms off the lattice, whose tails are rounded: the unit is not so small that roundings are as large as masses."""
    with mp.workdps(40):
        atoms = atoms_of_sampled_discrete_laplace(0.1, 0.1, 3)
        truth = epsilon_of(lambda z: mp.log(sum(mass * mp.exp(z * loss) for loss, mass in atoms)), rounds, mp.mpf(0))
    noise = {"kind": "discrete_laplace", "decay_rate": 0.1, "sensitivity": 3}
    step = {"kind": "subsampled", "sampling": "poisson", "rate": 0.1, "mechanism": noise}
    spec = {"kind": "repeated", "times": rounds, "mechanism": step}
    found = epsilond.account(
        spec, relation="add-or-remove-one", delta=DELTA, unit="record", observer="server"
    ).guarantee.epsilon
    assert found.lower <= truth <= found.upper
    assert found.upper - found.lower <= width * truth
