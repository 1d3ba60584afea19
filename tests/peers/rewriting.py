"""Imports test modules of peers with every `assert` turned into a call that counts it."""

import ast
import importlib.abc
import importlib.machinery
import sys
from pathlib import Path

CHECK = "_epsilond_peers_check"
"""Name that the rewritten modules call for each assertion."""


class _Asserts(ast.NodeTransformer):
    """Turns `assert test, message` into `CHECK(test, line)`."""

    def visit_Assert(self, node):
        call = ast.Call(ast.Name(CHECK, ast.Load()), [node.test, ast.Constant(node.lineno)], [])
        return ast.copy_location(ast.Expr(call), node)


class _Loader(importlib.machinery.SourceFileLoader):
    """Compiles a module from its rewritten source, and neither reads nor writes byte code."""

    def __init__(self, name, path, check):
        super().__init__(name, path)
        self._check = check

    def get_code(self, fullname):
        path = self.get_filename(fullname)
        tree = _Asserts().visit(ast.parse(self.get_data(path), path))
        return compile(ast.fix_missing_locations(tree), path, "exec", dont_inherit=True)

    def exec_module(self, module):
        setattr(module, CHECK, self._check)
        super().exec_module(module)


class _Finder(importlib.abc.MetaPathFinder):
    """Finds the test modules by the paths of their files."""

    def __init__(self, files, check):
        self._files = {Path(file).resolve() for file in files}
        self._check = check

    def find_spec(self, fullname, path=None, target=None):  # noqa: ARG002
        last = fullname.rpartition(".")[2]
        for folder in path or sys.path:
            file = Path(folder or ".", f"{last}.py")
            if file.exists() and file.resolve() in self._files:
                loader = _Loader(fullname, str(file.resolve()), self._check)
                return importlib.machinery.ModuleSpec(fullname, loader, origin=str(file.resolve()))
        return None


def install(files, check):
    """Import these files with counted assertions from now on."""
    sys.meta_path.insert(0, _Finder(files, check))
