"""Functions of arrays: the same code runs at once, later, or as a program.

    from timcl import values as tv
    x = tv.value([[0.5, -2, 3], [4, 5, -6]])
    b = tv.value([-1.0, 0, 1])
    print(tv.relu(x + b))

`Value` is an array that never changes. Functions here have NumPy's order of axes,
`call()` reaches every operator by its name, with the attributes that its header
documents. `lazy()` records calls, `@capture` makes programs of functions, `grad` and
`Tape` differentiate. Everything that fails raises a subclass of `timcl.Error`.
"""

import atexit as _atexit

from .. import _core
from ._axis_operators import (
    arg_max,
    arg_min,
    broadcast,
    concat,
    cum_sum,
    embedding_lookup,
    gather,
    gather_nd,
    l2_normalization,
    layer_normalization,
    log_softmax,
    one_hot,
    pad,
    reduce_all,
    reduce_any,
    reduce_max,
    reduce_mean,
    reduce_min,
    reduce_prod,
    reduce_sum,
    reshape,
    reverse,
    scatter_nd,
    slice,
    softmax,
    split,
    squeeze,
    stack,
    tile,
    transpose,
    unstack,
)
from ._calls import (
    ComputeEstimate,
    MemoryEstimate,
    Node,
    Token,
    Variable,
    call,
    holder,
    if_,
    while_,
)
from ._capture import CapturedFunction, capture
from ._gradients import Tape, differentiate, grad, value_and_grad, vjp
from ._graphs import Graph, NodeReport, Program
from ._making import constant, from_dlpack, share, value
from ._modes import (
    CacheStats,
    Device,
    Event,
    Memory,
    devices,
    eager,
    eager_stats,
    explain,
    flush,
    flush_all,
    lazy,
    lazy_stats,
    set_default_device,
    set_lazy_options,
)
from ._operators import (
    abs,
    add,
    average_pool2d,
    cast,
    ceil,
    clip,
    conv2d,
    cos,
    data_convert,
    div,
    elu,
    equal,
    erf,
    exp,
    floor,
    floor_div,
    fully_connected,
    gelu,
    greater,
    greater_or_equal,
    hard_sigmoid,
    hard_swish,
    leaky_relu,
    less,
    less_or_equal,
    linear,
    log,
    logical_and,
    logical_not,
    logical_or,
    matmul,
    max_pool2d,
    maximum,
    minimum,
    mish,
    mod,
    multiply,
    neg,
    not_equal,
    pool2d,
    pow,
    rcp,
    relu,
    relu1,
    relu6,
    round,
    rsqrt,
    select,
    sigmoid,
    sign,
    sin,
    soft_relu,
    sqrt,
    square,
    stop_gradient,
    sub,
    swish,
    tanh,
)
from ._patterns import Match, Pattern
from ._types import AtMost, Spec
from ._value import Value

__all__ = [
    "AtMost", "CacheStats", "CapturedFunction", "ComputeEstimate", "Device",
    "Event", "Graph", "Match", "Memory", "MemoryEstimate", "Node", "NodeReport",
    "Pattern", "Program", "Spec", "Tape", "Token", "Value", "Variable", "abs",
    "add", "arg_max", "arg_min", "average_pool2d", "broadcast", "call", "capture",
    "cast", "ceil", "clip", "concat", "constant", "conv2d", "cos", "cum_sum",
    "data_convert", "devices", "differentiate", "div", "eager", "eager_stats",
    "elu", "embedding_lookup", "equal", "erf", "exp", "explain", "floor",
    "floor_div", "flush", "flush_all", "from_dlpack", "fully_connected", "gather",
    "gather_nd", "gelu", "grad", "greater", "greater_or_equal", "hard_sigmoid",
    "hard_swish", "holder", "if_", "l2_normalization", "layer_normalization",
    "lazy", "lazy_stats", "leaky_relu", "less", "less_or_equal", "linear", "log",
    "log_softmax", "logical_and", "logical_not", "logical_or", "matmul",
    "max_pool2d", "maximum", "minimum", "mish", "mod", "multiply", "neg",
    "not_equal", "one_hot", "pad", "pool2d", "pow", "rcp", "reduce_all",
    "reduce_any", "reduce_max", "reduce_mean", "reduce_min", "reduce_prod",
    "reduce_sum", "relu", "relu1", "relu6", "reshape", "reverse", "round",
    "rsqrt", "scatter_nd", "select", "set_default_device", "set_lazy_options",
    "share", "sigmoid", "sign", "sin", "slice", "soft_relu", "softmax", "split",
    "sqrt", "square", "squeeze", "stack", "stop_gradient", "sub", "swish", "tanh",
    "tile", "transpose", "unstack", "value", "value_and_grad", "vjp", "while_",
]  # fmt: skip

# Threads of the library must not meet an interpreter that ends.
_atexit.register(_core.values_close)
