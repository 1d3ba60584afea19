"""What the tests of the independent figures share: our curves, and δ by the definition."""

from scipy.stats import norm

import epsilond
from tests.peers.discretised import Mixture, larger_delta, poisson


def curve_of(spec, relation="add-or-remove-one"):
    """Return our privacy curve of a spec."""
    return epsilond.account(spec, relation=relation, unit="record", observer="released-models").guarantee.curve


def gaussian_batches(noise, rate, times, relation="add-or-remove-one"):
    """Return our curve of Poisson batches with Gaussian noise."""
    batch = epsilond.Subsampled(sampling="poisson", rate=rate, mechanism=epsilond.Gaussian(noise_multiplier=noise))
    return curve_of(epsilond.Repeated(times=times, mechanism=batch), relation)


def estimate_batches(noise, rate, times, epsilon, **grid):
    """Return δ(ε) of the same by the definition."""
    pair = (poisson(1.0, rate, noise), Mixture(norm, (0.0,), (1.0,), noise), times)
    return larger_delta([pair], epsilon, **grid)


def encloses(interval, figure, tolerance):
    """Return whether an interval contains a figure, up to the relative error of the figure."""
    return interval.lower * (1.0 - tolerance) <= figure <= interval.upper * (1.0 + tolerance)
