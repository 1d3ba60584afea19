"""What the adapters of dp-accounting's accountants share."""

from epsilond.integrations.dp_accounting import EpsilondAccountant


def make_accountant(use, setup):
    """Return a subclass of ours whose constructor takes a peer's arguments and notes that it is used.

    Args:
        use: called whenever an accountant is made.
        setup: called with the accountant and the peer's arguments; returns the neighbouring relation.
    """

    class Accountant(EpsilondAccountant):
        """Ours, made by a peer's arguments."""

        def __init__(self, *args, **kwargs):
            use()
            super().__init__(setup(self, *args, **kwargs), unit="record", observer="released-models")

    return Accountant
