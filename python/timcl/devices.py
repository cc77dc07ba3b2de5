"""The devices of this machine."""

from __future__ import annotations

import dataclasses
import operator
import os
import re
from typing import Union

from . import _core
from .errors import ArgumentError


@dataclasses.dataclass(frozen=True)
class Device:
    """A device that graphs can run on."""

    number: int
    id: str
    """"opencl:0", "host": what `device=` and TIMCL_DEVICE take."""
    name: str
    """For people: "opencl: <name>" or "host"."""
    cores: int


DeviceLike = Union[Device, str, int, None]


def devices() -> list[Device]:
    """Every OpenCL device in the loader's order, then the host."""
    listed = []
    for number, name, cores in _core.devices():
        is_host = name == "host"
        listed.append(
            Device(number, "host" if is_host else f"opencl:{number}", name, cores)
        )
    return listed


def number_of(device: DeviceLike) -> int:
    """The device's number, -1 for the default one.  Where TIMCL_DEVICE is set,
    it rules, and what is asked for need not be there."""
    if device is None:
        return -1
    _check_form(device)
    if os.environ.get("TIMCL_DEVICE"):
        return -1
    if isinstance(device, Device):
        return device.number
    known = devices()
    if not isinstance(device, str):
        if device < len(known):
            return int(device)
        raise ArgumentError(f"device {device}: there are {len(known)}, counted from 0")
    for each in known:
        if device == each.id or (device == "opencl" and each.id == "opencl:0"):
            return each.number
    ids = ", ".join(each.id for each in known)
    raise ArgumentError(f"there is no device '{device}'; there are {ids}")


def _check_form(device: object) -> None:
    if isinstance(device, Device):
        return
    if isinstance(device, str):
        if re.fullmatch(r"host|opencl(:\d{1,9})?", device):
            return
    elif hasattr(device, "__index__") and not isinstance(device, bool):
        if operator.index(device) >= 0:
            return
    raise ArgumentError(
        f"there is no device {device!r}: expected one of timcl.devices(), its id or "
        f"its number"
    )
