"""The suites of peers that are run through adapters, and where their files are in the peers' source trees."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Suite:
    """A suite of a peer.

    Attributes:
        name: name of the suite.
        peer: folder of the peer's source tree in EPSILOND_PEERS.
        commit: commit of the tree that the stored counts belong to.
        paths: folders of the tree that are searched for modules; none if the installed package is tested.
        files: its test modules.
        adapter: module of `tests.peers.adapters` that replaces the peer's accountants.
        needs: trees of other peers that it needs, with their folders that are searched for modules.
        packages: packages that must be installed.
        keyword: expression of pytest that selects tests; the others use no accountant, and take long.
    """

    name: str
    peer: str
    commit: str
    paths: tuple[str, ...]
    files: tuple[str, ...]
    adapter: str
    needs: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()
    keyword: str = ""


_DP = "python/dp_accounting"
_DP_PACKAGES = ("absl", "attr", "mpmath", "scipy")
SUITES = {
    suite.name: suite
    for suite in (
        Suite(
            name="dp-accounting PLD",
            peer="dp_accounting",
            commit="b5b0286e313b64a692abfc8c528d54ef47d960a0",
            paths=(_DP,),
            files=(f"{_DP}/dp_accounting/pld/pld_privacy_accountant_test.py",),
            adapter="dp_accounting_pld",
            packages=_DP_PACKAGES,
        ),
        Suite(
            name="dp-accounting RDP",
            peer="dp_accounting",
            commit="b5b0286e313b64a692abfc8c528d54ef47d960a0",
            paths=(_DP,),
            files=(f"{_DP}/dp_accounting/rdp/rdp_privacy_accountant_test.py",),
            adapter="dp_accounting_rdp",
            packages=_DP_PACKAGES,
        ),
        Suite(
            name="Opacus",
            peer="opacus",
            commit="4d0ebc84613d214fbfd37fbfd1390e3747a625ce",
            paths=(),
            files=("opacus/tests/accountants_test.py",),
            adapter="opacus",
            packages=("opacus", "hypothesis"),
        ),
        Suite(
            name="prv_accountant",
            peer="prv_accountant",
            commit="a844f7200af2722d6a81e0386b2b7351688ecf35",
            paths=(".",),
            files=(
                "tests/test_accountant.py",
                "tests/test_backwards_compatibility.py",
                "tests/test_discrete_privacy_random_variable.py",
                "tests/test_dpsgd.py",
                "tests/test_readme.py",
            ),
            adapter="prv_accountant",
        ),
        Suite(
            name="jax_privacy",
            peer="jax_privacy",
            commit="8967688c26d46f3b74bfdfe61ef1f984b887abab",
            paths=(".",),
            files=("tests/accounting_test.py", "tests/execution_plan_test.py"),
            adapter="dp_accounting_hosts",
            needs=("dp_accounting/python/dp_accounting", "optax"),
            packages=("jax", "absl"),
        ),
        Suite(
            name="dpsynth",
            peer="dpsynth",
            commit="cf8075f319b96c2e009e4ea6bb55378faccbbc80",
            paths=(".",),
            files=(
                "tests/data_generation_v3_test.py",
                "tests/discrete_mechanisms/discrete_mechanisms_test.py",
                "tests/relational/synthesizer_test.py",
            ),
            adapter="dp_accounting_hosts",
            needs=("dp_accounting/python/dp_accounting", "mbi/src"),
            packages=("jax", "absl", "etils", "more_itertools", "networkx", "pandas"),
            keyword="small_epsilon or epsilon_delta or zero_epsilon or poisson_calibrate or calibrate_end_to_end",
        ),
        Suite(
            name="riskcal",
            peer="riskcal",
            commit="d9a2722c177824728db803e029226e487b1a469b",
            paths=("src",),
            files=tuple(
                f"tests/test_{name}.py" for name in ("backward_compatibility", "blackbox", "conversions", "dpsgd")
            ),
            adapter="riskcal",
            needs=("dp_accounting/python/dp_accounting",),
            packages=("opacus", "absl"),
        ),
    )
}
