"""Certified privacy accounting and noise calibration for federated learning.

    calibrate("mb-sgd", epsilon=1.0, delta=1e-5, …)     parameters at which a target is certified
    sweep("mb-sgd", "epsilon", [0.5, 1, 2], …)          the same at many values of one field
    plan(epsilon=1.0, delta=1e-5, …)                    comparison of all algorithms, and the cost of a risk
    account(spec, relation="replace-one", …)            certified guarantee of a run
    evaluate("balle-wang-2018.8", …)                    a theorem's formula, conditions, status and errata
    train("mb-sgd", clients, epsilon=1.0, …)            a model from your own data, at the calibrated noise
    simulate("mb-sgd-bound")                            a simulated run, compared with its bound
    spec_from_opacus_history(accountant.history)        the history of an Opacus accountant as a spec
    spec_from_dp_event(event)                           a DpEvent of dp-accounting as a spec
    profile_from_trade_off(...)                         a trade-off function as a spec
    report("calibration", "mb-sgd", request=…)          a calibration or an account as a page to sign; verify(page)
                                                        checks it
    cite(answer)                                        BibTeX of the works with the theorems of an answer
    from epsilond.mechanisms import from_calibration    an answer's clipping, noise and messages, for your own arrays
    ledger("ledger.db")                                 a budget over time: reserve, commit, and only then release

Every number of a guarantee is an enclosure, lower ≤ truth ≤ upper. ε is in nats.

A name is imported when it is first used, so that importing the package is fast.
"""

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING

from epsilond.accountants import ENGINE_VERSION as ENGINE_VERSION
from epsilond.accountants import VERSION

if TYPE_CHECKING:
    from epsilond.accountants.curve.enclosure import Interval as Interval
    from epsilond.accountants.errors import BeyondBudget as BeyondBudget
    from epsilond.accountants.errors import ConditionViolated as ConditionViolated
    from epsilond.accountants.errors import EpsilondError as EpsilondError
    from epsilond.accountants.errors import Fault as Fault
    from epsilond.accountants.errors import Infeasible as Infeasible
    from epsilond.accountants.errors import InvalidInput as InvalidInput
    from epsilond.accountants.errors import LedgerExhausted as LedgerExhausted
    from epsilond.accountants.errors import NoCertificate as NoCertificate
    from epsilond.accountants.errors import RunDiffers as RunDiffers
    from epsilond.accountants.guarantee import PrivacyCurve as PrivacyCurve
    from epsilond.accountants.specs import *  # noqa: F403  (its names are listed in its __all__)
    from epsilond.accountants.specs.mechanisms import *  # noqa: F403
    from epsilond.accountants.theorems import THEOREMS as THEOREMS
    from epsilond.calibrators import CALIBRATORS as CALIBRATORS
    from epsilond.calibrators.answer import Calibration as Calibration
    from epsilond.calibrators.answer import as_json as as_json
    from epsilond.extras import MissingExtra as MissingExtra
    from epsilond.integrations.dp_accounting.events import spec_from_dp_event as spec_from_dp_event
    from epsilond.integrations.opacus.history import spec_from_opacus_history as spec_from_opacus_history
    from epsilond.ledgers.client.opening import ledger as ledger
    from epsilond.profiles import profile_from_trade_off as profile_from_trade_off
    from epsilond.questions.account import account as account
    from epsilond.questions.cite import cite as cite
    from epsilond.questions.report import report as report
    from epsilond.questions.report import verify as verify
    from epsilond.questions.simulate import simulate as simulate
    from epsilond.questions.sweep import sweep as sweep
    from epsilond.questions.train import train as train
    from epsilond.runs.statement import RunStatement as RunStatement
    from epsilond.runs.status import RunStatus as RunStatus
    from epsilond.trained import Trained as Trained
    from epsilond.training.clients.callables import Client as Client
    from epsilond.training.clients.tabular import tabular as tabular
    from epsilond.typed import bound_risk as bound_risk
    from epsilond.typed import calibrate as calibrate
    from epsilond.typed import evaluate as evaluate
    from epsilond.typed import plan as plan
    from epsilond.witness.figures import draw as draw

__version__ = VERSION

_HOMES: Mapping[str, str] = {
    "accountants.curve.enclosure": "Interval",
    "accountants.errors": (
        "BeyondBudget ConditionViolated EpsilondError Fault Infeasible InvalidInput LedgerExhausted NoCertificate "
        "RunDiffers"
    ),
    "accountants.guarantee": "PrivacyCurve",
    "accountants.theorems": "THEOREMS",
    "calibrators": "CALIBRATORS",
    "calibrators.answer": "Calibration as_json",
    "extras": "MissingExtra",
    "integrations.dp_accounting.events": "spec_from_dp_event",
    "integrations.opacus.history": "spec_from_opacus_history",
    "ledgers.client.opening": "ledger",
    "profiles": "profile_from_trade_off",
    "questions.account": "account",
    "questions.calibrate": "calibrate",
    "questions.cite": "cite",
    "questions.evaluate": "evaluate",
    "questions.plan": "plan",
    "questions.report": "report verify",
    "questions.risk": "bound_risk",
    "questions.simulate": "simulate",
    "questions.sweep": "sweep",
    "questions.train": "train",
    "runs.statement": "RunStatement",
    "runs.status": "RunStatus",
    "trained": "Trained",
    "training.clients.callables": "Client",
    "training.clients.tabular": "tabular",
    "witness.figures": "draw",
}
"""Public names by module, except the specs. Type checkers read them above, some with the fields of typed.pyi."""
_HOME = {name: home for home, names in _HOMES.items() for name in names.split()}
_SPECS = "accountants.specs"
"""Module whose `__all__` lists the other public names: the kinds of spec."""


def _home_of(name: str) -> str | None:
    """Return the module that defines a public name, relative to this package; None if there is no such name."""
    if name in _HOME:
        return _HOME[name]
    return None if name.startswith("_") or name not in _spec_names() else _SPECS


def _spec_names() -> list[str]:
    """Return the public names of the module of specs, which is imported by this call."""
    names: list[str] = import_module(f"{__name__}.{_SPECS}").__all__
    return names


def __dir__() -> list[str]:
    names = set(globals()).union(_HOME, _spec_names())
    return sorted(names - {"Mapping", "TYPE_CHECKING", "import_module"})


if TYPE_CHECKING:
    __all__: list[str]
else:  # with this function, a type checker would accept any name

    def __getattr__(name: str) -> object:
        """Import a public name of the package on its first use, so that importing the package itself is fast.

        Args:
            name: the requested attribute of the package, which is not imported yet.

        Returns:
            The object. It is also stored in the module, so that later uses do not call this function.

        Raises:
            AttributeError: the package has no such public name.
        """
        if name == "__all__":
            value = ["ENGINE_VERSION", *_HOME, *_spec_names()]
        elif home := _home_of(name):
            value = getattr(import_module(f"{__name__}.{home}"), name)
        else:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        # Python calls this function only for names that the module does not have yet.
        globals()[name] = value
        return value
