"""Goldens of the functions of simple_operations.h and erf.h. Oracles: NumPy and
Python's math in float64, checked against ONNX Runtime.

The tolerances of float32 results are those of the contract: 1 to 4 ulp, exact
where one IEEE operation makes the result."""

import math
import os
import sys

import numpy as np
import onnxruntime

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from golden_format import NONE, Case, Suite, Tensor
from unary import Function, add_all

FUNCTIONS = [
    Function("Neg", np.negative, onnx="Neg"),
    Function("Abs", np.abs, onnx="Abs"),
    Function("Square", np.square),
    Function("Floor", np.floor, onnx="Floor"),
    Function("Ceil", np.ceil, onnx="Ceil"),
    Function("Round", np.rint, onnx="Round"),
    Function("Rcp", np.reciprocal, domain=(0.3, 5), onnx="Reciprocal"),
    Function("Sqrt", np.sqrt, domain=(0, 9), onnx="Sqrt"),
    Function("Rsqrt", lambda x: 1 / np.sqrt(x), 2, domain=(0.3, 9)),
    Function("Exp", np.exp, 1, domain=(-4, 3), onnx="Exp"),
    Function("Log", np.log, 2, domain=(0.2, 9), onnx="Log"),
    Function("ATanh", np.arctanh, 3, domain=(-0.95, 0.95), onnx="Atanh"),
    Function("ACosh", np.arccosh, 3, domain=(1, 9), onnx="Acosh"),
    Function("Erf", np.vectorize(math.erf), 2, domain=(-3, 3), onnx="Erf"),
    Function("Sin", np.sin, 2, domain=(-7, 7), onnx="Sin"),
    Function("Cos", np.cos, 2, domain=(-7, 7), onnx="Cos"),
    Function("Tan", np.tan, 4, domain=(-1.3, 1.3), onnx="Tan"),
    Function("ATan", np.arctan, 3, domain=(-9, 9), onnx="Atan"),
]


def logical_not(rng, x_type, y_type):
    low, high = (0, 1) if x_type == "bool8" else (-2, 2)
    x = Tensor(x_type, rng.integers(low, high + 1, (3, 17)), NONE)
    return Case("tim.LogicalNot", {}, [x], Tensor(y_type, np.logical_not(x.array) * 1))


def main():
    suite = Suite(__file__, onnxruntime)
    add_all(suite, FUNCTIONS)
    for x_type in ("bool8", "int8"):
        for y_type in ("bool8", "int8"):
            suite.add(f"logicalnot_{x_type}_to_{y_type}",
                      lambda rng: logical_not(rng, x_type, y_type))
    suite.write()


if __name__ == "__main__":
    main()
