"""Patterns: parts of graphs by their looks."""

from __future__ import annotations

from typing import Any, Callable, Sequence

from .. import _core
from ..errors import ArgumentError
from ._operands import library_name, plain_attribute
from ._value import Value


class Match:
    """A place where a pattern occurs in a graph. It counts until the graph is
    changed."""

    __slots__ = ("_handle",)

    def __init__(self, handle: _core.Match) -> None:
        self._handle = handle

    def __contains__(self, name: str) -> bool:
        """Whether a part of this name occurred."""
        return bool(self._handle.has(name))

    def __getitem__(self, name: str) -> Value:
        """The value of the part with this name."""
        return Value(self._handle.part(name))

    @property
    def nodes(self) -> list[str]:
        """Names of all nodes of the match, the root's first."""
        return list(self._handle.nodes())


class Pattern:
    """Matches a value of a graph and, backwards from it, what computes it. Parts
    with the same name must be the same value. Nodes but the root must have no
    readers outside of the match, of which the graph's outputs are some."""

    __slots__ = ("_handle",)

    def __init__(self, handle: _core.Pattern) -> None:
        self._handle = handle

    @staticmethod
    def any(name: str = "") -> "Pattern":
        """Any value."""
        return Pattern(_core.Pattern.any(name))

    @staticmethod
    def constant(name: str = "") -> "Pattern":
        return Pattern(_core.Pattern.constant(name))

    @staticmethod
    def op(op: str, inputs: Sequence["Pattern"] = (), name: str = "") -> "Pattern":
        """The result of an operator, "Relu", or of any where `op` is ""; inputs that
        the pattern lacks may be anything."""
        return Pattern(_core.Pattern.op(_name(op), _handles(inputs), name))

    @staticmethod
    def graph(
        name_of_graph: str, inputs: Sequence["Pattern"] = (), name: str = ""
    ) -> "Pattern":
        """The result of a graph that was called, by the graph's name."""
        return Pattern(_core.Pattern.op(name_of_graph, _handles(inputs), name))

    @staticmethod
    def one_of(alternatives: Sequence["Pattern"]) -> "Pattern":
        """The first of these that matches."""
        return Pattern(_core.Pattern.one_of(_handles(alternatives)))

    @staticmethod
    def optional(op: str, inside: "Pattern", name: str = "") -> "Pattern":
        """op(inside), or inside alone."""
        (part,) = _handles([inside])
        return Pattern(_core.Pattern.optional(_name(op), part, name))

    @staticmethod
    def repeat(
        op: str, least: int, most: int, inside: "Pattern", name: str = ""
    ) -> "Pattern":
        """op(op(.. inside)), `least` to `most` times."""
        (part,) = _handles([inside])
        return Pattern(_core.Pattern.repeat(_name(op), least, most, part, name))

    def where(self, condition: Callable[[Match], Any]) -> "Pattern":
        """This pattern, where the condition of a match holds, too."""
        if not callable(condition):
            raise ArgumentError(f"the condition is {condition!r}, no function")
        made = self._copy()
        made._handle.where(lambda match: bool(condition(Match(match))))
        return made

    def having(self, **attributes: Any) -> "Pattern":
        """This pattern, of nodes with these attributes, which are as in call()."""
        made = self._copy()
        for name, value in attributes.items():
            made._handle.with_attribute(name, plain_attribute(name, value))
        return made

    def any_order(self) -> "Pattern":
        """This pattern; its first two inputs may change places."""
        made = self._copy()
        made._handle.any_order()
        return made

    def may_be_shared(self) -> "Pattern":
        """This pattern; others may read the node's result, too."""
        made = self._copy()
        made._handle.may_be_shared()
        return made

    def _copy(self) -> "Pattern":
        return Pattern(self._handle.copy())


def _name(op: str) -> str:
    return op if op == "" else library_name(op)


def _handles(patterns: Sequence[Pattern]) -> list[_core.Pattern]:
    for each in patterns:
        if not isinstance(each, Pattern):
            raise ArgumentError(f"{each!r} is no pattern")
    return [each._handle for each in patterns]
