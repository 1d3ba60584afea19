"""riskcal's functions, each answered by the equivalent that docs/riskcal.md names.

The fit of zCDP, the conversion to its own arrays, and the search for a caller's own evaluator are riskcal's: they have
no equivalent here.
"""

import functools
import importlib
import sys
import warnings

import numpy as np

import epsilond
from tests.peers.adapters.opacus import drop_ins, note_use
from tests.peers.adapters.risk import least_error, true_positive_rates
from tests.peers.counting import NoEquivalent

SETTING = {"relation": "add-or-remove-one", "unit": "record", "observer": "released-models"}
DELTA = 1e-5
"""δ of the ε that a calibration to a risk reports besides."""
MODULES = ("analysis", "analysis.conversions", "analysis._plrv", "accountants.ctd", "calibration.dpsgd", "plrv")
"""Modules of riskcal that are loaded before its names are replaced, also in those that import them."""


def account(spec):
    """Return the privacy curve of a spec."""
    return epsilond.account(spec, **SETTING).guarantee.curve


@functools.cache
def curve_of(distribution):
    """Return the curve of dp-accounting's privacy loss distribution, read as a declared profile."""
    from epsilond.integrations.dp_accounting import profile_from_pld

    return account(profile_from_pld(distribution))


@functools.cache
def training_curve(*parts):
    """Return the curve of Poisson batches: noise multiplier, sampling rate and number of steps of each part."""
    runs = []
    for noise, rate, steps in parts:
        gaussian = epsilond.Gaussian(noise_multiplier=noise)
        step = gaussian if rate == 1 else epsilond.Subsampled(sampling="poisson", rate=rate, mechanism=gaussian)
        runs.append(epsilond.Repeated(times=steps, mechanism=step))
    return account(runs[0] if len(runs) == 1 else epsilond.Composed(mechanisms=tuple(runs)))


# Questions of a curve ------------------------------------------------------------------------------------------------
def betas(curve, alpha):
    """Return lower bounds on the false negative rates, a number or an array as `alpha` is."""
    found = 1.0 - true_positive_rates(curve, np.atleast_1d(alpha))
    return found if np.ndim(alpha) else float(found[0])


def advantage(curve):
    """Return the upper bound on the largest advantage."""
    return curve.delta(epsilon=0.0).upper


def bayes_risks(curve, prior):
    """Return lower bounds on the least errors, a number or an array as `prior` is."""
    found = np.array([least_error(curve, float(each)) for each in np.atleast_1d(prior)])
    return found if np.ndim(prior) else float(found[0])


# riskcal's functions -------------------------------------------------------------------------------------------------
def renamed(new, old, old_name):
    """Return the argument that was given under its new or its deprecated name, with riskcal's warning and error."""
    if (new is None) == (old is None):
        raise ValueError(f"pass either alpha or {old_name}")
    if old is not None:
        warnings.warn(f"Parameter '{old_name}' is deprecated.", DeprecationWarning, stacklevel=3)
    return old if new is None else new


def get_beta_from_pld(pld, alpha=None, alphas=None):
    return betas(curve_of(pld), renamed(alpha, alphas, "alphas"))


def get_beta_from_plrvs(plrvs, alpha=None, alphas=None):
    return betas(curve_of(plrvs.distribution), renamed(alpha, alphas, "alphas"))


def get_advantage_from_pld(pld):
    return advantage(curve_of(pld))


def get_bayes_risk_from_pld(pld, prior):
    return bayes_risks(curve_of(pld), prior)


def gaussian_curve(mu):
    return account(epsilond.Gaussian(noise_multiplier=1.0 / mu))


def get_beta_from_gdp(mu, alpha):
    return betas(gaussian_curve(mu), alpha)


def get_advantage_from_gdp(mu):
    return advantage(gaussian_curve(mu))


def get_bayes_risk_from_gdp(mu, prior):
    return bayes_risks(gaussian_curve(mu), prior)


def get_beta_from_adp(epsilon, delta, alpha):
    return betas(account(epsilond.Approximate(epsilon=float(epsilon), delta=float(delta))), alpha)


def get_advantage_from_adp(epsilon, delta):
    return advantage(account(epsilond.Approximate(epsilon=float(epsilon), delta=float(delta))))


def get_epsilon_from_err_rates(delta, alpha, beta):
    rates = {"false_positive_rates": [0.0, alpha, 1.0], "false_negative_rates": [1.0, beta, 0.0]}
    return account(epsilond.profile_from_trade_off(**rates)).epsilon(delta=delta).upper


def get_beta_from_rdp(epsilon, alpha, order, linear_search_step=None, max_bisection_steps=None, tol=None):
    del linear_search_step, max_bisection_steps, tol
    if order <= 1.0:
        raise NoEquivalent("no theorem here has the error rates of a Rényi divergence of an order of at most 1")
    return betas(account(epsilond.Rdp(orders=(float(order),), epsilons=(float(epsilon),))), alpha)


def get_beta_from_zcdp(rho, alpha, **search):
    del search
    return betas(account(epsilond.Zcdp(rho=float(rho))), alpha)


def get_advantage_from_zcdp(rho, **search):
    del search
    return advantage(account(epsilond.Zcdp(rho=float(rho))))


def get_advantage_for_dpsgd(noise_multiplier, sample_rate, num_steps, grid_step=None):
    del grid_step
    return advantage(training_curve((noise_multiplier, sample_rate, num_steps)))


def get_beta_for_dpsgd(noise_multiplier, sample_rate, num_steps, alpha, grid_step=None):
    del grid_step
    return betas(training_curve((noise_multiplier, sample_rate, num_steps)), alpha)


def create_dpsgd_evaluator(sample_rate, num_steps, grid_step=None, target_alpha=None):
    from riskcal.calibration import PrivacyMetrics

    del grid_step

    def evaluator(noise_multiplier):
        curve = training_curve((noise_multiplier, sample_rate, num_steps))
        beta = None if target_alpha is None else betas(curve, target_alpha)
        return PrivacyMetrics(advantage=advantage(curve), alpha=target_alpha, beta=beta)

    return evaluator


def create_dpsgd_epsilon_evaluator(sample_rate, num_steps, target_delta, grid_step=None):
    from riskcal.calibration import PrivacyMetrics

    del grid_step

    def evaluator(noise_multiplier):
        curve = training_curve((noise_multiplier, sample_rate, num_steps))
        return PrivacyMetrics(epsilon=curve.epsilon(delta=target_delta).upper, delta=target_delta)

    return evaluator


def calibrate(target, sample_rate, num_steps, search):
    """Return the least noise multiplier for a target; warn of riskcal's deprecated names among the search's options."""
    for name in ("advantage_error", "beta_error", "mu_error", "mu_min", "mu_max"):
        if name in search:
            warnings.warn(f"Parameter '{name}' is deprecated.", DeprecationWarning, stacklevel=3)
    batches = {"sampling": "full"} if sample_rate == 1 else {"sampling": "poisson", "rate": sample_rate}
    found = epsilond.calibrate("gaussian", **target, delta=DELTA, rounds=num_steps, **batches, **SETTING)
    return found.parameters.noise_multiplier


def find_noise_multiplier_for_advantage(advantage, sample_rate, num_steps, **search):
    return calibrate({"advantage": advantage}, sample_rate, num_steps, search)


def find_noise_multiplier_for_err_rates(alpha, beta, sample_rate, num_steps, **search):
    target = {"true_positive_rate": 1.0 - beta, "false_positive_rate": alpha}
    return calibrate(target, sample_rate, num_steps, search)


REPLACEMENTS = {
    "analysis": (
        get_beta_from_pld,
        get_beta_from_plrvs,
        get_advantage_from_pld,
        get_bayes_risk_from_pld,
        get_beta_from_gdp,
        get_advantage_from_gdp,
        get_bayes_risk_from_gdp,
        get_beta_from_adp,
        get_advantage_from_adp,
        get_epsilon_from_err_rates,
        get_beta_from_rdp,
        get_beta_from_zcdp,
        get_advantage_from_zcdp,
    ),
    "calibration.dpsgd": (
        get_advantage_for_dpsgd,
        get_beta_for_dpsgd,
        create_dpsgd_evaluator,
        create_dpsgd_epsilon_evaluator,
        find_noise_multiplier_for_advantage,
        find_noise_multiplier_for_err_rates,
    ),
}
"""Our function in the place of riskcal's of the same name, by its module."""


def make_accountant(theirs):
    """Return riskcal's accountant, with a history that is accounted for by us."""

    def find_curve(accountant):
        return training_curve(*map(tuple, accountant.history))

    def get_epsilon(self, *, delta, **options):
        del options
        return find_curve(self).epsilon(delta=delta).upper

    def get_beta(self, *, alpha, **options):
        del options
        return betas(find_curve(self), alpha)

    def get_advantage(self, **options):
        del options
        return advantage(find_curve(self))

    answers = {"get_epsilon": get_epsilon, "get_beta": get_beta, "get_advantage": get_advantage}
    return type(theirs.__name__, (theirs,), answers)


def keep_distribution(convert):
    """Return riskcal's conversion to its own arrays, which also keeps the distribution that they are made of."""

    @functools.wraps(convert)
    def pld_to_plrvs(pld):
        arrays = convert(pld)
        arrays.distribution = pld
        return arrays

    return pld_to_plrvs


def install(use, *, own):
    """Replace riskcal's functions and accountants, and Opacus' accountant, which its tests use too."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        modules = {name: importlib.import_module(f"riskcal.{name}") for name in MODULES}
    for module, functions in REPLACEMENTS.items():
        for ours in functions:
            theirs = getattr(modules[module], ours.__name__)
            _replace(theirs, _noting(theirs if own else ours, use))
    accountant = modules["accountants.ctd"].CTDAccountant
    if not own:
        convert = modules["analysis"].pld_to_plrvs
        _replace(convert, keep_distribution(convert))
        _replace(accountant, make_accountant(accountant))
    note_use(modules["accountants.ctd"].CTDAccountant, use)
    _install_opacus(use, own=own)


def _install_opacus(use, *, own):
    """Replace Opacus' accountant of Rényi divergences."""
    from opacus.accountants import rdp

    if not own:
        # Of the same name, because the names of tests have it.
        rdp.RDPAccountant = type("RDPAccountant", (drop_ins()["rdp"],), {})
    note_use(rdp.RDPAccountant, use)


def _noting(function, use):
    """Return a function that notes each call."""

    @functools.wraps(function)
    def call(*args, **kwargs):
        use()
        return function(*args, **kwargs)

    return call


def _replace(theirs, ours):
    """Put ours under every name of riskcal's modules that has theirs."""
    for name, module in list(sys.modules.items()):
        if name.split(".")[0] == "riskcal":
            for attribute, value in list(vars(module).items()):
                if value is theirs:
                    setattr(module, attribute, ours)
