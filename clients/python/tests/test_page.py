"""The Python of docs/jobs.md is run against the service at EPSILOND_URL."""

from __future__ import annotations

import re
from pathlib import Path

PAGE = Path(__file__).parents[3] / "docs/jobs.md"


def test_the_example_prints_the_answer_of_a_job(url, capsys):
    (example,) = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert "http://127.0.0.1:8000" in example
    exec(compile(example.replace("http://127.0.0.1:8000", url), str(PAGE), "exec"), {})  # noqa: S102  our own page
    assert re.search(r" done 1\.56\d+$", capsys.readouterr().out)
