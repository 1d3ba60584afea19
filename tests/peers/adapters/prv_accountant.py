"""prv_accountant's accountants, answered by ours: both bounds of our enclosure, and its upper bound as the estimate."""

import warnings

import epsilond
from tests.peers.adapters.opacus import note_use

SETTING = {"relation": "add-or-remove-one", "unit": "record", "observer": "released-models"}


def spec_of(prv):
    """Return the spec of a privacy random variable, by the name of its class."""
    name = type(prv).__name__
    if name == "PoissonSubsampledGaussianMechanism":
        rate, noise = float(prv.p), float(prv.sigma)
        gaussian = epsilond.Gaussian(noise_multiplier=noise)
        return gaussian if rate == 1.0 else epsilond.Subsampled(sampling="poisson", rate=rate, mechanism=gaussian)
    if name == "GaussianMechanism":
        return epsilond.Gaussian(noise_multiplier=1.0 / float(prv.mu))
    if name == "LaplaceMechanism":
        return epsilond.Laplace(scale_multiplier=1.0 / float(prv.mu))
    if name == "ApproximateDPMechanism":
        return epsilond.Approximate(epsilon=float(prv.pure_dp.eps), delta=float(prv.delta))
    return epsilond.Approximate(epsilon=float(prv.eps), delta=0.0)


class Composition:
    """A composition of privacy random variables, as ours accounts for it."""

    def __init__(self, spec):
        self._curve = epsilond.account(spec, **SETTING).guarantee.curve

    def compute_delta_estimate(self, epsilon):
        """Return the upper bound on δ at ε."""
        return self._curve.delta(epsilon=max(epsilon, 0.0)).upper

    def compute_epsilon(self, delta, delta_error=0.0, epsilon_error=0.0):
        """Return the lower bound on ε at δ, and the upper bound twice."""
        del delta_error, epsilon_error
        lower, upper = self._curve.epsilon(delta=delta)
        return lower, upper, upper

    def compute_delta(self, epsilon):
        """Return the lower bound on δ at ε, and the upper bound twice."""
        lower, upper = self._curve.delta(epsilon=epsilon)
        return lower, upper, upper


def install(use, *, own):
    """Replace PRVAccountant, DPSGDAccountant and Accountant; with `own`, only note where they are used."""
    import prv_accountant
    from prv_accountant import accountant, dpsgd

    if own:
        note_use(accountant.PRVAccountant, use)
        return

    class PRVAccountant:
        """Ours, with the arguments and the checks of PRVAccountant."""

        def __init__(self, prvs, eps_error, delta_error, max_self_compositions=None, eps_max=None):
            del eps_error, delta_error, eps_max  # of a grid that ours does not have
            use()
            self.prvs = list(prvs) if isinstance(prvs, list | tuple) else [prvs]
            most = max_self_compositions
            self._most = [1] * len(self.prvs) if most is None else list(most) if isinstance(most, list) else [most]
            if len(self._most) != len(self.prvs):
                raise ValueError("one largest number for each variable")

        def compute_composition(self, num_self_compositions=None):
            counts = num_self_compositions
            counts = [1] * len(self.prvs) if counts is None else counts if isinstance(counts, list) else [counts]
            if any(count > most for count, most in zip(counts, self._most, strict=True)):
                raise ValueError("more compositions than the largest number")
            parts = [
                epsilond.Repeated(times=int(n), mechanism=spec_of(prv))
                for prv, n in zip(self.prvs, counts, strict=True)
            ]
            return Composition(parts[0] if len(parts) == 1 else epsilond.Composed(mechanisms=tuple(parts)))

        def compute_delta(self, epsilon, num_self_compositions):
            return self.compute_composition(num_self_compositions).compute_delta(epsilon)

        def compute_epsilon(self, delta, num_self_compositions):
            return self.compute_composition(num_self_compositions).compute_epsilon(delta)

    class DPSGDAccountant:
        """Ours, with the arguments of DPSGDAccountant."""

        def __init__(self, noise_multiplier, sampling_probability, max_steps, eps_error=0.1, delta_error=1e-9):
            prv = prv_accountant.PoissonSubsampledGaussianMechanism(
                sampling_probability=sampling_probability, noise_multiplier=noise_multiplier
            )
            self._accountant = PRVAccountant(prv, eps_error, delta_error, max_steps)

        def compute_epsilon(self, delta, num_steps):
            return self._accountant.compute_epsilon(delta, num_steps)

    class Accountant:
        """Ours, with the arguments and the warning of Accountant."""

        def __init__(self, noise_multiplier, sampling_probability, delta, max_compositions, eps_error=None):
            warnings.warn("`Accountant` will be deprecated.", DeprecationWarning, stacklevel=2)
            self._delta = delta
            self._accountant = DPSGDAccountant(noise_multiplier, sampling_probability, max_compositions, eps_error)

        def compute_epsilon(self, num_compositions):
            return self._accountant.compute_epsilon(self._delta, num_compositions)

    for module in (prv_accountant, accountant):
        module.PRVAccountant = PRVAccountant
        module.Accountant = Accountant
    dpsgd.DPSGDAccountant = DPSGDAccountant
    if hasattr(prv_accountant, "DPSGDAccountant"):
        prv_accountant.DPSGDAccountant = DPSGDAccountant
