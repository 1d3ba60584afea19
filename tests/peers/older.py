"""What an older version of ours lacks. A question that needs it counts as rejected."""

from importlib.util import find_spec

from epsilond.accountants.errors import InvalidInput
from tests.peers.counting import NoEquivalent

PACKAGE = "epsilond"


def has_module(name):
    """Return whether this version of ours has a module."""
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:
        return False


def rejecting(name, base):
    """Return a class in the place of one that this version of ours lacks; making an instance is a rejection."""

    def init(self, *args, **kwargs):
        del self, args, kwargs
        raise NoEquivalent(f"this version has no {name}")

    return type(name, (base,), {"__init__": init})


def is_lack(error):
    """Return whether an exception says that our package has no module, name or field that is asked of it."""
    if isinstance(error, ImportError):
        return _is_ours(error.name)
    if isinstance(error, AttributeError):
        return _is_ours(getattr(error.obj, "__name__", type(error.obj).__module__))
    return isinstance(error, InvalidInput) and "is not a field of this object" in str(error)


def _is_ours(name):
    """Return whether a name is that of our package, or of a part of it."""
    return (name or "").partition(".")[0] == PACKAGE
