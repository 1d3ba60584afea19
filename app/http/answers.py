"""Answers that change from one moment to the next, and links to further pages of lists."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlencode

from starlette.responses import Response

from epsilond.app.workers.work import render


def json_response(answer: object, status: int = 200) -> Response:
    """Return an answer in JSON that may have changed at the next request.

    Args:
        answer: the answer, any value that the service can write as JSON.
        status: HTTP status of the response.

    Returns:
        The response. Clients may use a stored copy only after asking the service whether it is still valid.
    """
    return Response(render(answer), status, media_type="application/json", headers={"cache-control": "no-cache"})


def page_link(path: str, query: Mapping[str, object]) -> str:
    """Return the link to another page of a list.

    Args:
        path: the path of the list.
        query: the parameters of the page by name; parameters that are None are left out.

    Returns:
        The path with the query, in which special characters are escaped.
    """
    given_parameters = {name: value for name, value in query.items() if value is not None}
    return f"{path}?{urlencode(given_parameters)}"
