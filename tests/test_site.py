"""The site of the documents: it builds without a warning, asks no other host, and holds what the lists hold."""

import os
import re
import subprocess
import sys
from html.parser import HTMLParser

import pytest

import epsilond
from epsilond.accountants.theorem import Status
from epsilond.accountants.theorems import THEOREMS
from epsilond.app.http.problem_kinds import KINDS
from epsilond.calibrators import CALIBRATORS
from scripts.pages.formulas import TYPESET
from scripts.pages.markdown import plain
from tests.documents import ROOT

LOADED = {"script": "src", "link": "href", "img": "src", "iframe": "src", "source": "src", "video": "src"}
SAID_ONLY = {"canonical", "alternate", "next", "prev"}
"""Relations of a link that load nothing."""


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    build = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    environment = os.environ | {"NO_MKDOCS_2_WARNING": "1", "PYTHONPATH": str(ROOT)}
    ran = subprocess.run(build, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "WARNING" not in ran.stderr
    return folder


class Loaded(HTMLParser):
    """Addresses that a page makes a browser load."""

    def __init__(self, page):
        super().__init__()
        self.found = []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        if tag in LOADED and given.get("rel") not in SAID_ONLY:
            self.found.append(given.get(LOADED[tag]) or "")
        self.found += [part.split()[0] for part in (given.get("srcset") or "").split(",") if part.strip()]


def test_a_browser_is_sent_to_no_other_host(site):
    pages = list(site.rglob("*.html"))
    assert len(pages) > len(THEOREMS) + len(CALIBRATORS)
    for page in pages:
        text = page.read_text(encoding="utf-8")
        loaded = Loaded(text).found
        assert loaded
        assert not [each for each in loaded if re.match(r"(https?:)?//", each)], page
        assert not re.search(r"@import|url\(\s*['\"]?(https?:)?//", text), page
    for sheet in site.rglob("*.css"):
        assert not re.search(r"@import|url\(\s*['\"]?(https?:)?//", sheet.read_text(encoding="utf-8")), sheet


def test_nothing_on_the_pages_makes_the_theme_fetch_a_program(site):
    """Its script fetches mermaid, and only where a diagram stands."""
    assert not [page for page in site.rglob("*.html") if 'class="mermaid"' in page.read_text(encoding="utf-8")]


def test_each_theorem_has_a_page_with_statement_status_errata_and_tests(site):
    for each in THEOREMS:
        text = (site / "theorems" / f"{each.id}.html").read_text(encoding="utf-8")
        assert f"<strong>{each.status.value}</strong>" in text, each.id
        assert text.count("Shown by <code>") == len(each.errata), each.id
        for erratum in each.errata:
            assert erratum.test in text
        for condition in each.conditions:
            assert f"<code>{condition.id}</code>" in text


def test_a_statement_reads_as_it_was_written(site):
    """Stars, bars and underscores of formulas stay what they are."""
    for each in THEOREMS:
        text = (site / "theorems" / f"{each.id}.html").read_text(encoding="utf-8")
        (said,) = re.findall(r'<h2 id="statement">.*?</h2>\s*<p>(.*?)</p>', text, flags=re.DOTALL)
        assert Words(said).text == " ".join(each.statement.replace("`", "").split()), each.id


class Words(HTMLParser):
    """What a reader reads."""

    def __init__(self, page):
        super().__init__(convert_charrefs=True)
        self.text = ""
        self.feed(page)
        self.close()

    def handle_data(self, data):
        self.text += data


def test_each_algorithm_and_each_kind_of_problem_is_explained(site):
    for each in CALIBRATORS:
        assert f"/v1/calibrations/{each.name}" in (site / "algorithms" / f"{each.name}.html").read_text(
            encoding="utf-8"
        )
    errors = (site / "errors.html").read_text(encoding="utf-8")
    assert all(f"<code>{slug}</code>" in errors for slug in KINDS)


def test_the_first_page_links_to_what_it_cannot_do_and_ends_with_it(site):
    text = (site / "index.html").read_text(encoding="utf-8")
    headings = re.findall(r'<h2 id="([\w-]+)">', text)
    assert headings[-1] == "known-limits"
    assert text.index('href="limits.html"') < text.index('id="known-limits"')
    assert "<!-- generated" not in text


def test_refuted_theorems_are_told_on_the_page_that_lists_them(site):
    text = (site / "theorems" / "index.html").read_text(encoding="utf-8")
    assert text.count("<td>refuted</td>") == sum(each.status is Status.REFUTED for each in THEOREMS)


def test_text_keeps_its_signs_and_code_stays_code():
    assert plain("a_i* < [b] | `c_d`") == "a\\_i\\* &lt; \\[b\\] \\| `c_d`"


def test_every_public_name_is_in_the_python_reference(site):
    text = (site / "python.html").read_text(encoding="utf-8")
    headings = set(re.findall(r"<h[34][^>]*><code>([\w.]+)</code>", text))
    assert set(epsilond.__all__) <= headings
    assert {"clip", "from_calibration", "PrivacyCurve.epsilon"} <= headings
    assert "0x" not in re.sub(r"<script.*?</script>", "", text, flags=re.DOTALL)


def test_the_page_of_what_is_not_found_begins_where_the_site_does(site):
    links = Loaded((site / "404.html").read_text(encoding="utf-8")).found
    assert any(links)
    assert all(link.startswith("/") for link in links if link)


def test_formulas_are_drawn_by_the_browser_itself(site):
    by_id = {each.id: each for each in THEOREMS}
    assert set(TYPESET) <= set(by_id)
    used = {theorem for each in CALIBRATORS for theorem in each.theorems}
    assert {name for name in used if by_id[name].status is Status.REFUTED} <= set(TYPESET)
    for name, (printed, corrected) in TYPESET.items():
        text = (site / "theorems" / f"{name}.html").read_text(encoding="utf-8")
        assert text.count("<math ") == (2 if corrected else 1), name
        assert printed != corrected
        assert "merror" not in text
        assert "\\frac" not in text


def test_a_formula_can_be_evaluated_where_the_service_shows_its_page(site):
    for each in THEOREMS:
        text = (site / "theorems" / f"{each.id}.html").read_text(encoding="utf-8")
        assert text.count(f'<div class="evaluate" data-theorem="{each.id}"') == (each.formula is not None)
        assert "How to cite it" in text
