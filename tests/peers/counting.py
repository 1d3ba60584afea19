"""Counts the assertions of a peer's tests, and goes on after one that fails.

An assertion counts as ours if an adapter was used in its test before. The others examine code that no adapter replaces.
"""

import functools
import unittest
from collections import defaultdict

import numpy as np
import pytest

REJECTIONS = (
    "UnsupportedEventError",
    "NotCovered",
    "NoCertificate",
    "ConditionViolated",
    "BeyondBudget",
    "NoEquivalent",
)
"""Names of the exceptions by which ours rejects a question. Any other exception is a difference."""


class NoEquivalent(NotImplementedError):
    """An internal of the peer, or a question that ours cannot be asked."""


class Counter:
    """A plugin of pytest.

    Args:
        is_lack: says of an exception whether ours lacks what is asked, which counts as a rejection; None if ours
            is to lack nothing.

    Attributes:
        tests: for each test the outcomes of its assertions, "passed" or a message of the failure.
        stops: for each test that an exception ended: its kind, "rejected" or "different", and its message.
        ours: the tests in which an adapter was used.
    """

    def __init__(self, is_lack=None):
        self._is_lack = is_lack
        self.tests = defaultdict(list)
        self.stops = {}
        self.ours = set()
        self._test = ""
        self._depth = 0

    # What adapters and rewritten modules call ------------------------------------------------------------------------
    def use(self):
        """Note that the running test uses an adapter."""
        self.ours.add(self._test)

    def check(self, outcome, line):
        """Count an `assert` statement."""
        self._count("passed" if outcome else f"line {line}: the assertion is false")

    def _count(self, outcome):
        self.tests[self._test].append(outcome)

    def _is_rejection(self, error):
        """Return whether ours rejects a question by an exception."""
        names = {each.__name__ for each in type(error).__mro__}
        return bool(names & set(REJECTIONS)) or (self._is_lack is not None and self._is_lack(error))

    # unittest, numpy and pytest ---------------------------------------------------------------------------------------
    def install(self):
        """Count the assertions of unittest, absl, numpy and pytest."""
        classes = [unittest.TestCase]
        try:
            from absl.testing import absltest

            classes.append(absltest.TestCase)
        except ModuleNotFoundError:
            pass
        for each in classes:
            for name, method in list(vars(each).items()):
                if name.startswith("assert") and callable(method):
                    setattr(each, name, self._counted(method))
        for name in ("assert_allclose", "assert_almost_equal", "assert_array_almost_equal", "assert_equal"):
            setattr(np.testing, name, self._counted(getattr(np.testing, name)))
        for name in ("raises", "warns", "deprecated_call"):
            setattr(pytest, name, self._counted(getattr(pytest, name)))

    def _counted(self, function):
        """Return an assertion that is counted where it is not called by another one."""

        @functools.wraps(function)
        def call(*args, **kwargs):
            if self._depth:
                return function(*args, **kwargs)
            self._depth += 1
            try:
                result = function(*args, **kwargs)
            except (AssertionError, pytest.fail.Exception) as failure:
                self._count(_message(failure))
                return None
            finally:
                self._depth -= 1
            if hasattr(result, "__exit__"):
                return _CountedContext(result, self._count, self._is_rejection)
            self._count("passed")
            return result

        return call

    # Hooks of pytest --------------------------------------------------------------------------------------------------
    def pytest_runtest_setup(self, item):
        self._test = item.nodeid

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item, call):
        outcome = yield
        report = outcome.get_result()
        if call.excinfo is not None and report.when in ("setup", "call") and not report.skipped:
            error = call.excinfo.value
            kind = "rejected" if self._is_rejection(error) else "different"
            self.stops[item.nodeid] = (kind, _message(error))


class _CountedContext:
    """A context such as `assertRaises`, whose failure is counted and does not end the test."""

    def __init__(self, context, count, is_rejection):
        self._context, self._count, self._is_rejection = context, count, is_rejection

    def __enter__(self):
        return self._context.__enter__()

    def __exit__(self, kind, error, trace):
        try:
            suppressed = self._context.__exit__(kind, error, trace)
        except (AssertionError, pytest.fail.Exception) as failure:
            if error is not None and self._is_rejection(error):
                return False  # such as a warning that is missing because the question was rejected
            self._count(_message(failure))
            return True
        if kind is None or suppressed:
            self._count("passed")
        return suppressed


def _message(error):
    return f"{type(error).__name__}: {str(error).strip()[:300]}"
