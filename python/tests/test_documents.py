"""What the pages of docs show works as written, and prints that; README.md shows the
first of it."""

import contextlib
import io
import re

import pytest

from .conftest import ROOT, needs_importers

BLOCK = re.compile(r"^```python\n(.*?)^```\n(?:\n((?:^    [^\n]*\n)+))?", re.M | re.S)


def blocks(document):
    """Code, and what stands below it as its output."""
    found = BLOCK.findall((ROOT / document).read_text())
    assert found, document
    return found


@pytest.mark.parametrize(
    "document",
    [pytest.param("docs/python.md", marks=needs_importers), "docs/python_values.md"],
)
def test_blocks_run_in_order(document, monkeypatch):
    monkeypatch.chdir(ROOT)
    names = {}
    for code, expected in blocks(document):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(code, names)  # noqa: S102
        for line in expected.splitlines():
            assert line[4:] in printed.getvalue(), code


def test_ten_lines_are_no_more():
    text = (ROOT / "docs" / "python.md").read_text()
    code = text.split("In ten lines:")[1].split("```python\n")[1].split("```")[0]
    assert len(code.splitlines()) <= 10


def test_five_lines_are_five_and_the_same():
    first = [blocks(document)[0][0] for document in ("README.md", "docs/python.md")]
    assert first[0] == first[1]
    assert len(first[0].splitlines()) == 5
