"""The command line reads JSON as strictly as the service does."""

import pytest

from epsilond.accountants.errors import InvalidInput
from epsilond.strict_json import parse


def test_reads_json():
    assert parse('{"a": [1, 2.5, "x", true], "b": {"c": 0.0e5}}') == {"a": [1, 2.5, "x", True], "b": {"c": 0.0}}


@pytest.mark.parametrize(
    ("text", "pointer"),
    [
        ('{"a": 1, "a": 2}', "/at/a"),
        ('{"a": {"b": null}}', "/at/a/b"),
        ("NaN", "/at"),
        ("[-Infinity]", "/at/0"),
        ("1e-400", "/at"),
        ("[1,", "/at"),
        ("", "/at"),
        ("[" * 100_000, "/at"),
    ],
)
def test_refuses_with_a_pointer(text, pointer):
    with pytest.raises(InvalidInput) as caught:
        parse(text, at="/at")
    assert [fault.pointer for fault in caught.value.faults] == [pointer]
