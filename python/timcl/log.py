"""The library's messages, in Python's logging."""

from __future__ import annotations

import atexit
import logging

from . import _core

logger = logging.getLogger("timcl")

_LEVELS = {1: logging.ERROR, 2: logging.WARNING, 3: logging.INFO, 4: logging.DEBUG}


def _receive(level: int, text: str, raised: bool) -> None:
    # What becomes an exception is not told twice.
    logger.log(
        logging.DEBUG if raised else _LEVELS.get(level, logging.INFO), "%s", text
    )


def use_logging(on: bool = True) -> None:
    """Sends the library's messages to the logger "timcl", which is so from the
    start, or to stderr.  TIMCL_LOG says which there are: warnings and errors
    where it is unset.  Errors that are raised as exceptions come with the level
    DEBUG, but those of runs.  Handlers may be called on threads of the library.
    """
    _core.set_log(_receive if on else None)


def _start() -> None:
    use_logging()
    # Threads of the library must not meet an interpreter that ends.
    atexit.register(use_logging, False)
