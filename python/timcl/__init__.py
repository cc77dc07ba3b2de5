"""Neural-network graphs on OpenCL devices.

    model = timcl.load("model.onnx")
    scores = model(picture)

`load()` takes model files, `Graph` builds graphs operator by operator,
`CustomOp` makes operators of OpenCL C, `devices()` lists what they run on;
`timcl.values` has functions of arrays, which run at once, later, or as programs.
Everything that fails raises a subclass of `Error` whose text says which object,
what was expected, what was found and what to do.
"""

from . import log as _log
from . import values
from ._core import version
from .arrays import empty
from .custom import CustomOp
from .devices import Device, devices
from .errors import (
    ArgumentError,
    CompileError,
    Error,
    GraphError,
    ModelError,
    Refusal,
    RunError,
)
from .graph import Builder, Graph
from .log import use_logging
from .model import Model, Node, load
from .operators import Attribute, Operator, operators
from .profile import Profile, ProfiledDevice, ProfiledOperation
from .runnable import Runnable, Running
from .tensors import Port, Quantization, Tensor

__version__ = version
__all__ = [
    "ArgumentError", "Attribute", "Builder", "CompileError", "CustomOp", "Device",
    "Error", "Graph", "GraphError", "Model", "ModelError", "Node", "Operator",
    "Port", "Profile", "ProfiledDevice", "ProfiledOperation", "Quantization",
    "Refusal", "RunError", "Runnable", "Running", "Tensor", "devices", "empty",
    "load", "operators", "use_logging", "values", "version",
]  # fmt: skip

_log._start()
del _log
