"""Tests against the hosts themselves. Where a host is not installed its tests are left out: scripts/test-integrations
runs each host's in an environment that has it."""

from importlib.util import find_spec

HOSTS = {
    "dp_accounting": "dp_accounting",
    "dpsynth": "dp_accounting",
    "flower": "flwr",
    "jax_privacy": "jax_privacy",
    "networks": "torch",
    "opacus": "opacus",
    "pfl": "pfl",
}
"""Package that the tests in the folder of each host import."""

collect_ignore = [host for host, package in HOSTS.items() if find_spec(package) is None]
