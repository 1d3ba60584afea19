"""A check that a page is inert: nothing in it can run, load or link.

The page is judged only by its bytes and not by a parser, which a browser might contradict. Text in a report is
escaped, so that every "<" begins a tag. Each tag must be written as a report writes it: a known element, known
attributes, double quotes. Comments, scripts, frames, event handlers, links and CDATA do not occur in a report. The
check does not cover text that a style sheet hides or covers: a page is confirmed by rendering it again.
"""

from __future__ import annotations

import re

ELEMENT = (
    "html|head|meta|title|style|body|header|main|section|footer|div|span|h[123]|p|[uo]l|li|table|caption|thead|tbody|t[rhd]"
    "|code|figure|figcaption|svg|line|text|polygon|polyline|circle"
)
ATTRIBUTE = (
    "lang|charset|name|content|class|id|scope|role|aria-label|aria-labelledby|viewBox|c?[xy]|[xy][12]|r|points"
    "|fill|fill-opacity|stroke|stroke-width|text-anchor|transform"
)
POLICY = "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
DOCTYPE = "<!DOCTYPE html>"
_STYLE = re.compile("<style>([^<]*)</style>")
_TAG = re.compile(f'</?(?:{ELEMENT})(?: (?:{ATTRIBUTE})="[^"<>]*")*/?>')
_REACHING = re.compile(r"url\(|@import|\\", re.IGNORECASE)
"""Parts of a style sheet that can request another host; a backslash could encode any of them."""


def is_inert(visible: str) -> bool:
    """Decide whether the page of a report is harmless: nothing in it can run, load or link.

    The page must have the Content-Security-Policy `POLICY` exactly once, before its only style sheet. This policy
    forbids scripts and requests. Every tag must be an element that a report uses, with attributes that a report uses.

    Args:
        visible: the page without its embedded data.

    Returns:
        True if all of this holds; False for any deviation.
    """
    # The page has one style sheet, which requests nothing.
    styles = _STYLE.findall(visible)
    if not visible.startswith(DOCTYPE) or len(styles) != 1:
        return False
    (style,) = styles
    if _REACHING.search(style):
        return False

    # The policy is in front of the style sheet.
    head, _, _ = visible.partition("<style>")
    if visible.count(POLICY) != 1 or POLICY not in head:
        return False

    # Every "<" begins a tag of a known form.
    without_style = _STYLE.sub("", visible.removeprefix(DOCTYPE))
    tags = without_style.replace(POLICY, "")
    return len(_TAG.findall(tags)) == tags.count("<")
