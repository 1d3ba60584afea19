"""Whether a page can do anything but be read, judged by its bytes alone and not by a parser that a browser may outwit.

Text in a report is escaped, so that every "<" begins a tag. Here each tag must be written as a report writes it: a
known element, known attributes, double quotes. Comments, scripts, frames, event handlers, links and CDATA are nothing
that a report holds. What a style sheet hides or covers is not judged: a page is confirmed by writing it again.
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
"""What a style sheet could ask another host with; a backslash could spell any of it otherwise."""


def is_inert(visible: str) -> bool:
    """Whether nothing in a page, its data taken out, can run, load, link, or stand where a parser may see it otherwise.

    The policy that forbids it all must be there, before any style.
    """
    styles = _STYLE.findall(visible)
    if not visible.startswith(DOCTYPE) or len(styles) != 1 or _REACHING.search(styles[0]):
        return False
    before, _, _ = visible.partition("<style>")
    if visible.count(POLICY) != 1 or POLICY not in before:
        return False
    rest = _STYLE.sub("", visible.removeprefix(DOCTYPE)).replace(POLICY, "")
    return len(_TAG.findall(rest)) == rest.count("<")
