"""dp-accounting's accountants, where another library's accounting and calibration use them, answered by ours."""

from tests.peers.adapters import dp_accounting_pld, dp_accounting_rdp


def install(use, *, own):
    """Replace PLDAccountant and RdpAccountant, also as the default of jax_privacy's `calibrate`."""
    dp_accounting_pld.install(use, own=own)
    dp_accounting_rdp.install(use, own=own)
