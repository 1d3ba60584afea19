"""Facts about this machine that settings need: its cores, its folder for persistent state, and its own addresses."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import urlsplit

# Names and addresses by which programs of this machine reach the machine itself.
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


def cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    # Systems without affinities let a process use all cores.
    return os.cpu_count() or 1


def state_file() -> str:
    """Return the path of the job store in the user's folder for state: $XDG_STATE_HOME, or ~/.local/state if unset."""
    home = os.environ.get("XDG_STATE_HOME", "")
    folder = Path(home) if home else Path("~/.local/state").expanduser()
    return str(folder / "epsilond" / "jobs.sqlite")


def is_private_url(url: str) -> bool:
    """Return whether no third party can read or change the traffic of a URL: https, or http to this machine itself.

    Args:
        url: any text. The result is False if it is not a URL with a host.
    """
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError:  # a malformed address
        return False
    if not host:
        return False
    return parts.scheme == "https" or (parts.scheme == "http" and host in LOOPBACK)
