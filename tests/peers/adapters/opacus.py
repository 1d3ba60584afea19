"""Opacus' accountants, in whose places are ours."""

import importlib

from tests.peers.older import has_module, rejecting

DROP_IN = "epsilond.integrations.opacus.drop_in"


def install(use, *, own):
    """Replace the three accountants, under their names and their mechanisms; with `own`, only note their use."""
    from opacus import accountants

    theirs = {"rdp": "RDPAccountant", "gdp": "GaussianAccountant", "prv": "PRVAccountant"}
    if own:
        kinds = {mechanism: getattr(accountants, name) for mechanism, name in theirs.items()}
    else:
        kinds = drop_ins()
        register(kinds)
    for mechanism, name in theirs.items():
        note_use(kinds[mechanism], use)
        setattr(accountants, name, kinds[mechanism])


def drop_ins():
    """Return our class in the place of each of Opacus' accountants, by mechanism.

    Where this version of ours has none, the classes reject every question.
    """
    if has_module(DROP_IN):
        return importlib.import_module(DROP_IN).DROP_INS
    from opacus.accountants import IAccountant

    # Without abstract methods, because their absence would be another exception.
    concrete = type("Concrete", (IAccountant,), dict.fromkeys(IAccountant.__abstractmethods__, None))
    return {mechanism: rejecting(f"accountant {mechanism}", concrete) for mechanism in ("rdp", "gdp", "prv")}


def register(kinds):
    """Let Opacus' `create_accountant` and engine use our classes."""
    if has_module(DROP_IN):
        importlib.import_module(DROP_IN).replace_accountants()
        return
    from opacus.accountants.registry import register_accountant

    for mechanism, kind in kinds.items():
        register_accountant(mechanism, kind, force=True)


def note_use(kind, use):
    """Call `use` whenever a class is instantiated."""
    original = kind.__init__

    def init(self, *args, **kwargs):
        use()
        original(self, *args, **kwargs)

    kind.__init__ = init
