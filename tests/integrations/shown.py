"""The sessions of the documents that need a host, run where it is installed."""

import doctest

from tests import documents


def assert_goes_as_shown(test_file, name="docs/integrations.md"):
    """Run the blocks of a document that are shown to be run in this file of tests.

    Args:
        test_file: path of the file, from tests/integrations.
        name: path of the document.
    """
    text = (documents.ROOT / name).read_text(encoding="utf-8")
    shown = [
        block.text
        for block in documents.blocks(text)
        if block.why is not None and block.why.startswith(f"in tests/integrations/{test_file},")
    ]
    assert shown
    examples = doctest.DocTestParser().get_doctest("\n".join(shown), {}, name, name, 0)
    said: list[str] = []
    assert examples.examples
    assert doctest.DocTestRunner().run(examples, out=said.append).failed == 0, "".join(said)
