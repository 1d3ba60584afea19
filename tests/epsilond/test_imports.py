"""What is imported for what: nothing for the name itself, the mathematics of accounts for an account."""

import ast
import json
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest

import epsilond
from epsilond.accountants import specs
from epsilond.accountants.specs import mechanisms
from epsilond.accountants.theorems import FAMILIES

FIRST = """import epsilond
step = epsilond.Subsampled(sampling="poisson", rate=0.01, mechanism=epsilond.Gaussian(noise_multiplier=1.0))
setting = dict(relation="add-or-remove-one", unit="record", observer="released-models")
epsilond.account(epsilond.Repeated(times=1000, mechanism=step), **setting, delta=1e-5)"""
VERSION = """import sys
from epsilond.cli import main
sys.argv = ["epsilond", "--version"]
try:
    main()
except SystemExit:
    pass"""
HEAVY = {
    "fastapi", "starlette", "pydantic", "uvicorn", "sqlalchemy", "structlog", "typer", "rich", "jinja2", "matplotlib",
    "sklearn", "threadpoolctl", "scipy.stats", "scipy.integrate", "epsilond.app", "epsilond.ledgers", "epsilond.witness",
    "epsilond.simulators", "epsilond.calibrators.mb_sgd", "epsilond.accountants.theorems.risk",
}  # fmt: skip
MATHEMATICS = {"numpy", "scipy", "scipy.special", "scipy.optimize", "epsilond.accountants.account"}
CALIBRATION = """import epsilond
run = dict(sampling="full", rounds=1, epsilon=1.0, delta=1e-5)
run |= dict(relation="replace-one", unit="record", observer="released-models")
epsilond.calibrate("gaussian", solve_for="noise_multiplier", **run)"""
PROGRAMS = {
    "the name": ("import epsilond", HEAVY | MATHEMATICS),
    "the mechanisms": ("import epsilond.mechanisms", HEAVY | (MATHEMATICS - {"numpy"})),
    "the first account": (FIRST, HEAVY),
    "the version": (VERSION, (HEAVY | MATHEMATICS) - {"typer", "rich", "numpy", "pydantic"}),
    "a calibration": (
        CALIBRATION,
        {each for each in HEAVY if not each.startswith("epsilond.")} | {"epsilond.app", "epsilond.witness"},
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_modules_that_are_not_imported(name):
    program, unwanted = PROGRAMS[name]
    listed = (
        f"{program}\nimport json, sys\nprint(json.dumps([each for each in {sorted(unwanted)} if each in sys.modules]))"
    )
    ran = subprocess.run([sys.executable, "-c", listed], capture_output=True, text=True, check=True)
    assert json.loads(ran.stdout.splitlines()[-1]) == []


def test_type_checkers_read_the_names_that_are_there():
    tree = ast.parse(Path(epsilond.__file__).read_text(encoding="utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If) and isinstance(node.test, ast.Name))
    typed = {alias.name: node.module for node in block.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert typed.pop("*") == mechanisms.__name__
    stubs = dict.fromkeys(("bound_risk", "calibrate", "evaluate", "plan"), "epsilond.typed")
    homes = {name: f"epsilond.{home}" for name, home in epsilond._HOME.items()}
    assert typed == homes | stubs
    for name, home in homes.items():
        assert getattr(epsilond, name) == getattr(sys.modules[home], name)  # tests may clear what a module has cached
    assert set(typed) < set(dir(epsilond))


def test_specs_are_public():
    kinds = {each.__name__ for each in get_args(get_args(specs.Spec.__value__)[0])}
    repetitions = {"GeometricRepetitions", "NegativeBinomialRepetitions", "PoissonRepetitions"}
    assert set(specs.__all__) == kinds | repetitions | {"Spec"}
    for name in specs.__all__:
        assert getattr(epsilond, name) is getattr(specs, name)
    assert set(specs.__all__) < set(epsilond.__all__) < set(dir(epsilond))


@pytest.mark.parametrize("family", FAMILIES, ids=lambda each: each.name)
def test_a_family_says_whether_it_has_rules(family):
    assert family.module.THEOREMS
    assert hasattr(family.module, "RULES") == family.rules


def test_a_name_that_is_not_there_is_an_error():
    with pytest.raises(AttributeError, match="no attribute 'acount'"):
        _ = epsilond.acount  # type: ignore[attr-defined]


OTHER_EXTRAS = {"fastapi", "jinja2", "matplotlib", "sklearn", "sqlalchemy", "threadpoolctl", "uvicorn"}
SETTING = ["--relation", "replace-one", "--unit", "record", "--observer", "server"]
ACCOUNT = ["account", '{"kind": "gaussian", "noise_multiplier": 2.0}', *SETTING, "--delta", "1e-5"]
BLOCKED = {
    "matplotlib": ("epsilond.draw(dict(kind='risk'), 'png')", "a figure", "simulate"),
    "sklearn": (
        "from epsilond.simulators.problems.data_sets import read_features; read_features('digits')",
        "a data set",
        "simulate",
    ),
    "threadpoolctl": ("epsilond.simulate('mb-sgd-bound')", "a simulation", "simulate"),
    "sqlalchemy": ("epsilond.ledger('/nowhere/ledger.db')", "a ledger", "ledger"),
    "jinja2": ("epsilond.report('account', request={})", "a report", "reports"),
}


@pytest.mark.parametrize("package", BLOCKED)
def test_a_missing_extra_is_said_in_one_sentence(package):
    program, what, extra = BLOCKED[package]
    blocked = f"import sys\nsys.modules[{package!r}] = None\nimport epsilond\n"
    told = f"try:\n    {program}\nexcept epsilond.MissingExtra as error:\n    print(error)"
    ran = subprocess.run([sys.executable, "-c", blocked + told], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == f"{what} needs {package}, which is not installed: pip install 'epsilond[{extra}]'"


@pytest.mark.parametrize(
    "arguments",
    [["--help"], ["simulate", "--help"], ["theorems"], ["calibrate", "gaussian", "--help"], [*ACCOUNT, "--json"]],
    ids=" ".join,
)
def test_the_command_line_needs_no_other_extra(arguments):
    program = f"import sys\nsys.modules.update(dict.fromkeys({sorted(OTHER_EXTRAS)}))\nfrom epsilond.cli import main\n"
    started = f"sys.argv = {['epsilond', *arguments]}\nmain()"
    subprocess.run([sys.executable, "-c", program + started], capture_output=True, text=True, check=True)


MATHEMATICS_OF_HELP = {"numpy", "scipy", "epsilond.accountants.theorems", "epsilond.calibrators.answer"}
HELP = """from typer.testing import CliRunner
from epsilond.commands.line import FAMILIES, line
import json, sys
helps = [[], *([each] for each in FAMILIES), *(["calibrate", each] for each in ("gaussian", "mb-sgd", "mu2-sgd"))]
helps += [["risk-bound", "mb-sgd"], ["ledger", "reserve"], ["ledger", "verify"], ["report", "account"], ["jobs", "wait"]]
for words in helps:
    assert CliRunner().invoke(line, [*words, "--help"]).exit_code == 0, words
print(json.dumps(sorted(sys.modules)))"""


def test_help_imports_no_mathematics():
    ran = subprocess.run([sys.executable, "-c", HELP], capture_output=True, text=True, check=True)
    imported = set(json.loads(ran.stdout))
    assert not imported & (HEAVY - {"typer", "rich", "pydantic", "epsilond.ledgers"} | MATHEMATICS_OF_HELP)


@pytest.mark.parametrize(
    ("package", "arguments", "said"),
    [
        ("typer", ["theorems"], "the command line needs typer, which is not installed: pip install 'epsilond[cli]'"),
        (
            "sqlalchemy",
            ["ledger", "list", "--at", "/nowhere/ledger.db"],
            "a ledger needs sqlalchemy, which is not installed: pip install 'epsilond[ledger]'",
        ),
        ("fastapi", ["serve"], "the service needs fastapi, which is not installed: pip install 'epsilond[service]'"),
        (
            "jinja2",
            ["verify", __file__],
            "a report needs jinja2, which is not installed: pip install 'epsilond[reports]'",
        ),
    ],
)
def test_a_command_says_which_extra_it_needs(package, arguments, said):
    program = f"import sys\nsys.modules[{package!r}] = None\nfrom epsilond.cli import main\n"
    started = f"sys.argv = {['epsilond', *arguments]}\nmain()"
    ran = subprocess.run([sys.executable, "-c", program + started], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr.strip(), ran.stdout) == (1, f"error: {said}", "")
