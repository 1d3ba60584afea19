"""Opacus' accountants, in whose places are ours."""


def install(use, *, own):
    """Replace the three accountants, under their names and their mechanisms; with `own`, only note their use."""
    from opacus import accountants

    theirs = {"rdp": "RDPAccountant", "gdp": "GaussianAccountant", "prv": "PRVAccountant"}
    if own:
        kinds = {mechanism: getattr(accountants, name) for mechanism, name in theirs.items()}
    else:
        from epsilond.integrations.opacus.drop_in import DROP_INS, replace_accountants

        replace_accountants()
        kinds = DROP_INS
    for mechanism, name in theirs.items():
        note_use(kinds[mechanism], use)
        setattr(accountants, name, kinds[mechanism])


def note_use(kind, use):
    """Call `use` whenever a class is instantiated."""
    original = kind.__init__

    def init(self, *args, **kwargs):
        use()
        original(self, *args, **kwargs)

    kind.__init__ = init
