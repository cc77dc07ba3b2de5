"""Exceptions of the package; their texts are the library's own."""

from __future__ import annotations

from typing import NamedTuple, Sequence


class Error(Exception):
    """Base of all; raised itself where no other kind fits."""


class ArgumentError(Error, ValueError):
    """An argument of a call is not as it should be."""


class GraphError(Error):
    """An operation or a tensor cannot be in the graph."""


class CompileError(Error):
    """A graph cannot be compiled."""


class RunError(Error):
    """A run of a graph has failed."""


class Refusal(NamedTuple):
    """Something of a model file that is not taken."""

    node: str
    """The node's name, or "#12", its number in the file."""
    op: str
    """"com.microsoft.Attention", "CONV_2D"."""
    about: str
    """The attribute or operand; empty: all of it."""
    reason: str


class ModelError(Error):
    """A file cannot be loaded; `refusals` lists all that is not taken."""

    refusals: tuple[Refusal, ...]

    def __init__(self, text: str, refusals: Sequence[Sequence[str]] = ()) -> None:
        super().__init__(text)
        self.refusals = tuple(Refusal(*entry) for entry in refusals)
