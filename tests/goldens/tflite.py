"""Runs single TensorFlow Lite operators, with states that they keep from one
invocation to the next."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import flatbuffers
import numpy as np
import tensorflow
from tensorflow.lite.python import schema_py_generated as schema

_TYPES = {"float32": schema.TensorType.FLOAT32, "int8": schema.TensorType.INT8,
          "uint8": schema.TensorType.UINT8, "int32": schema.TensorType.INT32}


class Operator:
    """`inputs`: arrays are constants, (array, scale) quantized ones with zero
    point 0, shapes the inputs of run(), State a state that begins as zeros.
    `outputs`: shapes. All inputs and outputs of run() are float32."""

    class State:
        def __init__(self, *shape):
            self.shape = shape

    def __init__(self, name, options, inputs, outputs, version=1):
        self._model = schema.ModelT()
        self._model.version = 3
        self._model.buffers = [schema.BufferT()]
        graph = schema.SubGraphT()
        graph.tensors, graph.inputs = [], []
        self._states = []
        for each in inputs:
            graph.tensors.append(self._tensor(each))
            index = len(graph.tensors) - 1
            if isinstance(each, tuple) and isinstance(each[0], int):
                graph.inputs.append(index)
            if isinstance(each, self.State):
                self._states.append(index)
        node = schema.OperatorT()
        node.inputs = list(range(len(inputs)))
        for shape in outputs:
            graph.tensors.append(self._tensor(shape))
        node.outputs = list(range(len(inputs), len(graph.tensors)))
        graph.outputs = node.outputs
        node.builtinOptionsType = getattr(
            schema.BuiltinOptions, type(options).__name__[:-1])
        node.builtinOptions = options
        graph.operators = [node]
        code = schema.OperatorCodeT()
        code.builtinCode = getattr(schema.BuiltinOperator, name)
        code.deprecatedBuiltinCode = min(code.builtinCode, 127)
        code.version = version
        self._model.operatorCodes = [code]
        self._model.subgraphs = [graph]
        builder = flatbuffers.Builder(1024)
        builder.Finish(self._model.Pack(builder), b"TFL3")
        self._graph = graph
        self._interpreter = tensorflow.lite.Interpreter(
            model_content=bytes(builder.Output()),
            experimental_op_resolver_type=tensorflow.lite.experimental
            .OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES)
        self._interpreter.allocate_tensors()

    def _tensor(self, each):
        tensor = schema.TensorT()
        tensor.type = schema.TensorType.FLOAT32
        tensor.buffer = 0
        if isinstance(each, self.State):
            tensor.shape, tensor.isVariable = list(each.shape), True
            return tensor
        if isinstance(each, tuple) and isinstance(each[0], int):
            tensor.shape = list(each)
            return tensor
        array, scale = each if isinstance(each, tuple) else (each, None)
        tensor.shape = list(array.shape)
        tensor.type = _TYPES[array.dtype.name]
        if scale is not None:
            tensor.quantization = schema.QuantizationParametersT()
            tensor.quantization.scale = [scale]
            tensor.quantization.zeroPoint = [0]
        buffer = schema.BufferT()
        buffer.data = np.frombuffer(array.tobytes(), np.uint8)
        self._model.buffers.append(buffer)
        tensor.buffer = len(self._model.buffers) - 1
        return tensor

    def run(self, *arrays):
        """Outputs of one invocation, then the states after it."""
        for index, array in zip(self._graph.inputs, arrays):
            self._interpreter.set_tensor(index, array.astype(np.float32))
        self._interpreter.invoke()
        return [self._interpreter.get_tensor(i).copy()
                for i in [*self._graph.outputs, *self._states]]
