"""Devices, events, and when calls run."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, Callable, NamedTuple, Sequence, Union

from .. import _core
from ..devices import Device as ListedDevice
from ..errors import ArgumentError

if TYPE_CHECKING:
    from ._value import Value


class Memory(NamedTuple):
    """Bytes of a device's pool."""

    in_use: int
    reserved: int
    peak: int


class Device:
    """A device of values: "host", "opencl:1", a timcl.Device, or without a name
    the default one."""

    __slots__ = ("_handle",)

    def __init__(self, device: "DeviceLike" = None) -> None:
        if device is None:
            self._handle = _core.ValueDevice.default()
        elif isinstance(device, Device):
            self._handle = device._handle
        elif isinstance(device, (str, ListedDevice)):
            name = device if isinstance(device, str) else device.id
            self._handle = _core.ValueDevice.named(name)
        else:
            raise ArgumentError(
                f"{device!r} is no device: expected its id, as in "
                f"timcl.values.devices()"
            )

    @property
    def id(self) -> str:
        """What names it: "opencl:0"."""
        return str(self._handle.spec)

    @property
    def name(self) -> str:
        """For people: the driver's name of it."""
        return str(self._handle.name)

    def put(self, value: Any) -> Value:
        """The value on this device; arrays and numbers become one."""
        from . import _operands, _value

        return _value.Value(self._handle.move(_operands.handle(value)))

    def memory(self) -> Memory:
        """Bytes in values, bytes taken from the device, and the most that were in
        values at a time."""
        return Memory(*self._handle.memory())

    def trim(self) -> int:
        """Gives memory that is not in use back to the device; the bytes."""
        return int(self._handle.trim())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device) and other.id == self.id

    def __hash__(self) -> int:
        return hash(self.id)

    def __repr__(self) -> str:
        return f"<timcl.values.Device {self.id}>"


DeviceLike = Union[Device, ListedDevice, str, None]


def devices() -> list[Device]:
    """All devices, the host last."""
    found = []
    for each in _core.ValueDevice.list():
        device = Device.__new__(Device)
        device._handle = each
        found.append(device)
    return found


def set_default_device(device: DeviceLike) -> None:
    """The device of calls that name none and whose operands are on the host."""
    Device(device)._handle.set_default()


class Event:
    """Work in flight. It may be dropped: the work goes on."""

    __slots__ = ("_handle",)

    def __init__(self, handle: _core.Event) -> None:
        self._handle = handle

    def wait(self) -> None:
        """Blocks until the work has ended; RunError where it failed."""
        self._handle.wait()

    @property
    def ready(self) -> bool:
        """Whether wait() would return at once."""
        return bool(self._handle.ready())

    def then(self, function: Callable[[str | None], Any]) -> None:
        """Calls function(None), or function(text) of a failure, once the work has
        ended, on a thread of the library."""
        if not callable(function):
            raise ArgumentError(f"{function!r} is no function")
        self._handle.then(function)


class _Thread(threading.local):
    """What scopes of this thread say."""

    def __init__(self) -> None:
        self.devices: list[Device | None] = []
        self.tapes = 0


thread = _Thread()


def device_for(values: Sequence[Any]) -> str:
    """Where a program runs: on the device of the scope, else where one of its
    operands is, else on the default one."""
    scope = thread.devices[-1] if thread.devices else None
    if scope is not None:
        return scope.id
    for each in values:
        handle = each._handle
        if not handle.symbolic and not handle.pending:
            found = handle.device
            if found != "host":
                return str(found)
    return str(_core.ValueDevice.default().spec)


class _Scope:
    """The mode, and the device, of calls of this thread in a with statement."""

    def __init__(self, lazy: bool, device: DeviceLike) -> None:
        self._lazy = lazy
        self._device = None if device is None else Device(device)
        self._entered: list[_core.ModeScope] = []

    def __enter__(self) -> None:
        device = self._device
        scope = _core.ModeScope(self._lazy, None if device is None else device._handle)
        scope.enter()
        self._entered.append(scope)
        if device is None and thread.devices:
            device = thread.devices[-1]
        thread.devices.append(device)

    def __exit__(self, *exception: Any) -> None:
        thread.devices.pop()
        self._entered.pop().leave()


def eager(device: DeviceLike = None) -> _Scope:
    """Calls in the with statement run at once, as they do outside of any; on
    `device`, where one is given."""
    return _Scope(False, device)


def lazy(device: DeviceLike = None) -> _Scope:
    """Calls in the with statement are recorded, and run when their elements are
    asked for. The end of the statement runs nothing."""
    return _Scope(True, device)


def flush(values: Sequence[Any]) -> Event:
    """Runs what the values are made of."""
    from . import _operands

    return Event(_core.values_flush(_operands.handles(values)))


def flush_all() -> Event:
    """Runs what this thread has recorded and somebody can still reach."""
    return Event(_core.values_flush_all())


def set_lazy_options(
    *,
    max_pending_nodes: int = 10000,
    max_pending_bytes: int = 1 << 30,
    compile_after: int = 2,
    max_plans: int = 256,
) -> None:
    """Of the process. Recording more nodes or bytes than may be pending runs them.
    `compile_after`: how often a structure runs operator by operator before it is
    compiled; 0: it is compiled at once, -1: never."""
    _core.values_set_lazy_options(
        max_pending_nodes, max_pending_bytes, compile_after, max_plans
    )


class CacheStats(NamedTuple):
    """What was found prepared, and what was not."""

    hits: int
    misses: int
    plans: int
    evictions: int
    program_builds: int
    compile_ms: float


def eager_stats() -> CacheStats:
    """Of calls that run at once."""
    return CacheStats(*_core.values_eager_stats())


def lazy_stats() -> CacheStats:
    """Of structures that were recorded."""
    return CacheStats(*_core.values_lazy_stats())


def explain() -> str:
    """The last flushes of this thread with their causes, and the last calls that
    ran on the host because no kernel took them."""
    return str(_core.values_explain())
