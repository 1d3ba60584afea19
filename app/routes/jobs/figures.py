"""GET /v1/jobs/{id}/figure: a drawing of the result of a simulation."""

from __future__ import annotations

from functools import partial
from typing import Annotated, get_args

from fastapi import FastAPI, Query
from starlette.requests import Request
from starlette.responses import Response

from epsilond.app.http.problems import Problem
from epsilond.app.jobs.documents import PATH
from epsilond.app.jobs.job import SIMULATION
from epsilond.app.jobs.work import Format, draw_figure
from epsilond.app.questions.asking import compute_answer
from epsilond.app.questions.question import Question
from epsilond.app.routes.by_algorithm import Endpoint
from epsilond.app.routes.jobs.looking import find_job

MEDIA_TYPES: dict[Format, str] = {"png": "image/png", "svg": "image/svg+xml"}
HEADERS = {
    "cache-control": "no-cache",
    "vary": "Accept",
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
}
"""Headers of a figure. An SVG contains its styles."""


def add(app: FastAPI, figures: str) -> None:
    """Add the route GET /v1/jobs/{id}/figure, which draws the result of a simulation.

    Args:
        app: the service.
        figures: name of a module; a worker process calls its function `draw`.
    """
    binary = {"schema": {"type": "string", "format": "binary"}}
    image = dict.fromkeys(MEDIA_TYPES.values(), binary)
    app.add_api_route(
        f"{PATH}/{{id}}/figure",
        _endpoint(figures),
        operation_id="draw_job",
        summary="A figure of the result of a simulation",
        response_class=Response,
        responses={200: {"description": "The figure, as image/png or image/svg+xml", "content": image}},
        openapi_extra={"x-problems": [406, 409, 429, 501, 503]},
        tags=["jobs"],
    )


def _endpoint(figures: str) -> Endpoint:
    """Make the endpoint that draws the result of a simulation.

    Args:
        figures: name of the module with the function `draw`. Only worker processes import it.

    Returns:
        The endpoint, which takes the id of the job from the path.
    """

    async def draw_job(
        request: Request,
        id: str,  # noqa: A002 (the name of the path parameter)
        form: Annotated[
            Format | None, Query(alias="format", description="image format. It takes precedence over the Accept header")
        ] = None,
    ) -> Response:
        """Draw the result in the format that `format` or, without it, Accept states; PNG if Accept prefers none.

        \f

        Args:
            request: the HTTP request; its Accept header selects the format if `form` is None.
            id: id of the job.
            form: png or svg; None follows the Accept header.

        Returns:
            The response with the image, in the chosen format.

        Raises:
            Problem: the job is not a simulation, has no result, or the Accept header allows neither format.
        """
        # A request without an Accept header accepts every format.
        accept_header = request.headers.get("accept", "").strip() or "*/*"
        chosen = form or accepted_format(accept_header)
        job = await find_job(request, id, 0.0)
        record = job.record
        if record.kind != SIMULATION:
            raise Problem("not-found", f"Only the result of a simulation has a figure; this job is a {record.kind}.")
        if record.result is None:
            raise Problem("no-result", f"There is nothing to draw: the job is {record.state}.")
        # A repeated request gets the kept figure, because its question has the same id and format.
        computation = partial(draw_figure, figures, record.result, chosen)
        question = Question.of("figure", record.name, (id, chosen), computation)
        answer = await compute_answer(request, question)
        return Response(answer.body, media_type=MEDIA_TYPES[chosen], headers=HEADERS)

    return draw_job


def accepted_format(header: str) -> Format:
    """Return the image format that an Accept header prefers; PNG if it gives both formats the same weight.

    Args:
        header: value of the Accept header.

    Returns:
        The name of the format, "png" or "svg".

    Raises:
        Problem: the header accepts neither format.
    """
    weights = {form: _quality(header, MEDIA_TYPES[form]) for form in get_args(Format)}
    # Of equal weights, `max` returns the first, which is PNG.
    best: Format = max(weights, key=lambda form: weights[form])
    if weights[best] <= 0.0:
        raise Problem("not-acceptable", f"A figure is {' or '.join(MEDIA_TYPES.values())}.")
    return best


def _quality(header: str, media_type: str) -> float:
    """Return the weight that an Accept header gives to a media type (RFC 9110, section 12.5.1).

    An Accept header is a list of ranges of media types, such as `image/*;q=0.8`, in which q is the weight. A range
    without q has the weight 1. Of the ranges that include the media type, the most specific one counts.

    Args:
        header: value of the Accept header.
        media_type: the media type, such as `image/png`.

    Returns:
        The weight, at least 0; it is 0 if the header does not accept the media type, or has no valid weight for it.
    """
    weights: dict[str, float] = {}
    for item in header.split(","):
        media_range, *parameters = (part.strip().lower() for part in item.split(";"))
        stated_weights = [parameter.removeprefix("q=") for parameter in parameters if parameter.startswith("q=")]
        weight = stated_weights[0] if stated_weights else "1"
        is_number = weight.replace(".", "", 1).isdecimal()
        weights[media_range] = float(weight) if is_number else 0.0
    main_type, _, _ = media_type.partition("/")
    most_specific_first = (media_type, f"{main_type}/*", "*/*")
    return next((weights[media_range] for media_range in most_specific_first if media_range in weights), 0.0)
