"""Profiles: where the time of a graph's runs goes."""

from __future__ import annotations

import dataclasses
from typing import Any


@dataclasses.dataclass(frozen=True)
class ProfiledDevice:
    """Rates that a device reaches, all 0 where they were not measured."""

    name: str
    gflops: float
    gbytes_per_second: float
    launch_us: float


@dataclasses.dataclass(frozen=True)
class ProfiledOperation:
    """An operation of the compiled graph: what is left after fusion."""

    name: str
    type: str
    device: int
    """Index in Profile.devices."""
    kernel: str
    chosen: str
    """Why the kernel was taken."""
    refused: tuple[str, ...]
    """"kernel: reason" of those that were not."""
    calls: int
    launches: int
    microseconds: float
    """Of one call, the mean."""
    share: float
    """Part of the time of all operations, 0 to 1."""
    clock: str
    """"device" or "host"."""
    operations: float
    bytes: float
    gflops: float
    gbytes_per_second: float


@dataclasses.dataclass(frozen=True)
class Profile:
    """Runs that were done step by step.  str() is a table."""

    graph: str
    runs: int
    microseconds: float
    """Of one run, the mean."""
    devices: tuple[ProfiledDevice, ...]
    operations: tuple[ProfiledOperation, ...]
    """The first to run first."""
    text: str

    def __str__(self) -> str:
        return self.text


def from_core(data: dict[str, Any]) -> Profile:
    """Of the dict that _core gives."""
    return Profile(
        graph=data["graph"],
        runs=data["runs"],
        microseconds=data["microseconds"],
        devices=tuple(ProfiledDevice(**each) for each in data["devices"]),
        operations=tuple(ProfiledOperation(**each) for each in data["operations"]),
        text=data["text"],
    )
