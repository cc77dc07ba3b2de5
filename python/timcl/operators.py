"""The operators that graphs are made of, and their attributes."""

from __future__ import annotations

import dataclasses
import difflib
import functools
import numbers
from typing import Any, Mapping

from . import _core
from .errors import ArgumentError


@dataclasses.dataclass(frozen=True)
class Attribute:
    """An attribute of an operator."""

    name: str
    kind: str
    """"bool", "int", "float", "text", or "ints", "floats", "texts"."""
    required: bool
    default: str
    """As text; empty where it is required."""
    values: Mapping[str, int]
    """Legal values of an int by name; empty: any."""


@dataclasses.dataclass(frozen=True)
class Operator:
    """An operator of the library; docs/operators.md has formulas and types."""

    name: str
    least_inputs: int
    most_inputs: int
    least_outputs: int
    most_outputs: int
    attributes: Mapping[str, Attribute]


@functools.cache
def _table() -> dict[str, Operator]:
    table: dict[str, Operator] = {}
    for name, inputs, most_inputs, outputs, most_outputs, listed in _core.operators():
        attributes = {each[0]: Attribute(*each) for each in listed}
        table[name] = Operator(
            name, inputs, most_inputs, outputs, most_outputs, attributes
        )
    return table


def operators() -> Mapping[str, Operator]:
    """All operators by name."""
    return dict(_table())


def _nearest(name: str, known: Any) -> str:
    found = difflib.get_close_matches(name, list(known), 1)
    return f"; did you mean '{found[0]}'?" if found else ""


def find(name: str) -> Operator:
    """The operator of this name; ArgumentError where there is none."""
    operator = _table().get(name)
    if operator is None:
        raise ArgumentError(
            f"there is no operator '{name}'{_nearest(name, _table())} "
            f"(timcl.operators() lists all)"
        )
    return operator


def convert(operator: Operator, given: Mapping[str, Any]) -> list[tuple[str, str, Any]]:
    """Attributes as _core takes them."""
    converted = []
    for name, value in given.items():
        attribute = operator.attributes.get(name)
        if attribute is None:
            known = ", ".join(operator.attributes)
            raise ArgumentError(
                f"{operator.name} has no attribute '{name}'"
                f"{_nearest(name, operator.attributes)}; it has {known}"
            )
        what = f"{operator.name}: attribute '{name}'"
        converted.append((name, attribute.kind, _value(attribute, value, what)))
    missing = [
        attribute.name
        for attribute in operator.attributes.values()
        if attribute.required and attribute.name not in given
    ]
    if missing:
        raise ArgumentError(f"{operator.name} needs " + ", ".join(missing))
    return converted


def _value(attribute: Attribute, value: Any, what: str) -> Any:
    kind = attribute.kind
    if kind == "int" and isinstance(value, str) and attribute.values:
        number = attribute.values.get(value.lower())
        if number is None:
            known = ", ".join(attribute.values)
            raise ArgumentError(f"{what} is '{value}', expected one of {known}")
        return number
    if kind.endswith("s"):
        return _list(kind[:-1], value, what)
    return _single(kind, value, what)


def _list(kind: str, value: Any, what: str) -> list[Any]:
    if isinstance(value, (str, bytes)) or not hasattr(value, "__iter__"):
        raise ArgumentError(f"{what} is {value!r}, expected a list of {kind}")
    return [_single(kind, each, what) for each in value]


def _single(kind: str, value: Any, what: str) -> Any:
    if kind == "text" and isinstance(value, str):
        return value
    is_flag = isinstance(value, bool) or type(value).__name__ in ("bool_", "bool")
    if kind == "bool" and (is_flag or value in (0, 1)):
        return bool(value)
    if kind == "int" and isinstance(value, numbers.Integral) and not is_flag:
        if not -(2**63) <= int(value) < 2**63:
            raise ArgumentError(f"{what} is {value}, which does not fit 64 bits")
        return int(value)
    if kind == "float" and isinstance(value, numbers.Real) and not is_flag:
        return float(value)
    expected = {"int": "an integer", "float": "a number", "bool": "True or False"}
    raise ArgumentError(f"{what} is {value!r}, expected {expected.get(kind, 'a text')}")
