"""Structured logs: JSON lines on standard output, including the log lines of the HTTP server."""

from __future__ import annotations

import json
import logging
import sys
from contextlib import suppress
from dataclasses import dataclass
from typing import TextIO, cast

import structlog
from structlog.typing import Processor

SHARED: list[Processor] = [
    structlog.contextvars.merge_contextvars,
    structlog.processors.add_log_level,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
    structlog.processors.format_exc_info,
]


ENCODER = json.JSONEncoder(ensure_ascii=False, default=repr)


@dataclass(eq=False)
class LossyStream:
    """Text stream that ignores every OSError on writing; lines of the log are then lost.

    A full disk or a closed pipe therefore never stops the service.

    Attributes:
        stream: stream to which the text is written, such as standard output.
    """

    stream: TextIO

    def write(self, text: str) -> int:
        """Write the text, unless the stream raises OSError; return its length in characters in both cases."""
        with suppress(OSError):
            self.stream.write(text)
        return len(text)

    def flush(self) -> None:
        """Flush the stream, and ignore an OSError."""
        with suppress(OSError):
            self.stream.flush()


def _render(event: object, **_: object) -> str:
    """Return an event as JSON. All events share one encoder, because making an encoder takes as long as encoding."""
    return ENCODER.encode(event)


def configure(level: str) -> None:
    """Configure structlog and Python's own logging to write JSON lines to standard output.

    The handlers of the root logger are replaced.

    Args:
        level: name of the lowest level that is written, such as "info", in upper or lower case.
    """
    out = cast("TextIO", LossyStream(sys.stdout))
    threshold = logging.getLevelNamesMapping()[level.upper()]
    structlog.configure(
        processors=[*SHARED, structlog.processors.JSONRenderer(_render)],
        wrapper_class=structlog.make_filtering_bound_logger(threshold),
        logger_factory=structlog.PrintLoggerFactory(out),
        cache_logger_on_first_use=True,
    )
    # Lines of Python's own logging pass through the same processors as those of structlog.
    handler = logging.StreamHandler(out)
    render: list[Processor] = [
        structlog.stdlib.ProcessorFormatter.remove_processors_meta,
        structlog.processors.JSONRenderer(),
    ]
    handler.setFormatter(structlog.stdlib.ProcessorFormatter(processors=render, foreign_pre_chain=SHARED))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(threshold)
