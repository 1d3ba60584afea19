"""The library torch and the device on which networks are trained: the CPU, unless `EPSILOND_DEVICE` names another.

Nothing here imports torch before a network is trained. So an installation without the extra `networks` runs all other
simulations.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from epsilond.accountants.errors import InvalidInput
from epsilond.extras import MissingExtra, extra

VARIABLE: Final = "EPSILOND_DEVICE"
"""Environment variable with the device: `cpu`, `cuda` or `mps`."""
DEVICES: Final = ("cpu", "cuda", "mps")


def load_torch() -> Any:
    """Import torch and return it as a module.

    Torch is an optional dependency, which only experiments with neural networks need.

    Returns:
        The module `torch`.

    Raises:
        InvalidInput: torch is not installed; the message says how to install it.
    """
    try:
        with extra("networks", "an experiment with networks"):
            import torch  # noqa: PLC0415  only networks need it
    except MissingExtra as error:
        raise InvalidInput.at("/preset", str(error)) from None
    return torch


def choose_device() -> Any:
    """Return the torch device that the environment variable `EPSILOND_DEVICE` names.

    Returns:
        The device; the CPU if the variable is unset or empty.

    Raises:
        InvalidInput: torch is not installed, or the device is unknown or not available on this machine.
    """
    torch = load_torch()
    name = os.environ.get(VARIABLE) or "cpu"
    if name not in DEVICES:
        raise InvalidInput.at("/preset", f"{VARIABLE}={name} is not a device", allowed=", ".join(DEVICES))
    # A known device may be missing on this machine.
    available = {
        "cpu": True,
        "cuda": bool(torch.cuda.is_available()),
        "mps": bool(torch.backends.mps.is_available()),
    }
    if not available[name]:
        present = ", ".join(device for device in DEVICES if available[device])
        raise InvalidInput.at("/preset", f"{VARIABLE}={name} is not available on this machine", allowed=present)
    return torch.device(name)


@contextmanager
def seeded_torch(seed: int) -> Iterator[None]:
    """Make torch's results reproducible within the context: seed it, and let it use one thread.

    With one thread, numbers are always added in the same order. The state of the CPU's generator and the number of
    threads are restored at the end.

    Args:
        seed: seed of torch's generators, from 0 to 2^63 − 1.

    Yields:
        Nothing.
    """
    torch = load_torch()
    threads = torch.get_num_threads()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        torch.set_num_threads(1)
        try:
            yield
        finally:
            torch.set_num_threads(threads)
