# SPDX-License-Identifier: Apache-2.0
"""The formulas of everyday operators in NumPy, on float64 or int64: the tests' own statement.

Each takes the tensors and scalars in the documented order. `SCALARS` has the scalars' values.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

erf = np.vectorize(math.erf, otypes=[float])
erfc = np.vectorize(math.erfc, otypes=[float])
SQRT2 = math.sqrt(2)


def sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def gelu(x: Any) -> Any:
    return x * erfc(-x / SQRT2) / 2


def gelu_slope(x: Any) -> Any:
    return erfc(-x / SQRT2) / 2 + x * np.exp(-x * x / 2) / math.sqrt(2 * math.pi)


def power(x: Any, y: Any) -> Any:
    if np.asarray(x).dtype.kind == "f" or np.asarray(y).dtype.kind == "f":
        return np.power(x, y)
    return np.power(x, np.abs(y)) if np.all(np.asarray(y) >= 0) else np.trunc(np.power(1.0 * x, y))


def mish(x: Any) -> Any:
    return x * np.tanh(np.log1p(np.exp(x)))


def mish_slope(x: Any) -> Any:
    w = np.tanh(np.log1p(np.exp(x)))
    return w + x * (1 - w * w) * sigmoid(x)


def softplus(x: Any, beta: Any, threshold: Any) -> Any:
    return np.where(beta * x > threshold, x, np.log1p(np.exp(beta * x)) / beta)


UNARY: dict[str, Any] = {
    "Abs": np.abs,
    "Acos": np.arccos,
    "Acosh": np.arccosh,
    "Asin": np.arcsin,
    "Asinh": np.arcsinh,
    "Atan": np.arctan,
    "Atanh": np.arctanh,
    "Ceil": np.ceil,
    "Cos": np.cos,
    "Cosh": np.cosh,
    "Erf": erf,
    "Erfc": erfc,
    "Exp": np.exp,
    "Exp2": np.exp2,
    "Expm1": np.expm1,
    "Floor": np.floor,
    "Log": np.log,
    "Log10": np.log10,
    "Log1p": np.log1p,
    "Log2": np.log2,
    "Neg": lambda x: -x,
    "Reciprocal": lambda x: 1 / x,
    "Round": np.rint,
    "Rsqrt": lambda x: 1 / np.sqrt(x),
    "Sign": lambda x: np.where(np.isnan(x), 0, np.sign(x)),
    "Sin": np.sin,
    "Sinh": np.sinh,
    "Sqrt": np.sqrt,
    "Tan": np.tan,
    "Tanh": np.tanh,
    "Trunc": np.trunc,
    "Sigmoid": sigmoid,
    "Relu": lambda x: np.where(x < 0, 0, x),
    "Gelu": gelu,
    "Silu": lambda x: x * sigmoid(x),
    "Hardsigmoid": lambda x: np.clip(x + 3, 0, 6) / 6,
    "Hardswish": lambda x: x * np.clip(x + 3, 0, 6) / 6,
    "Frac": lambda x: x - np.trunc(x),
    "Mish": mish,
    "Signbit": np.signbit,
    "Sinc": np.sinc,
    "Square": np.square,
    "IsFinite": np.isfinite,
    "IsInf": np.isinf,
    "IsNegInf": lambda x: x == -np.inf,
    "IsPosInf": lambda x: x == np.inf,
    "LogicalNot": lambda x: x == 0,
}
BINARY: dict[str, Any] = {
    "Mul": lambda x, y: x * y,
    "Div": lambda x, y: x / y,
    "Maximum": np.maximum,
    "Minimum": np.minimum,
    "PowTensorTensor": power,
    "Atan2": np.arctan2,
    "FloorDivide": np.floor_divide,
    "LogAddExp": np.logaddexp,
    "LogAddExp2": np.logaddexp2,
    "MishBackward": lambda g, x: g * mish_slope(x),
    "FmodTensor": np.fmod,
    "RemainderTensorTensor": np.remainder,
    "ClampMinTensor": np.maximum,
    "ClampMaxTensor": np.minimum,
    "EqTensor": np.equal,
    "NeTensor": np.not_equal,
    "GtTensor": np.greater,
    "GeTensor": np.greater_equal,
    "LtTensor": np.less,
    "LeTensor": np.less_equal,
    "LogicalAnd": np.logical_and,
    "LogicalOr": np.logical_or,
    "LogicalXor": np.logical_xor,
    "SigmoidBackward": lambda g, y: g * y * (1 - y),
    "TanhBackward": lambda g, y: g * (1 - y * y),
    "GeluBackward": lambda g, x: g * gelu_slope(x),
    "SiluBackward": lambda g, x: g * (sigmoid(x) * (1 + x * (1 - sigmoid(x)))),
    "HardsigmoidBackward": lambda g, x: np.where(np.abs(x) < 3, g / 6, 0),
    "HardswishBackward": lambda g, x: g * np.select([x <= -3, x >= 3], [0, 1], x / 3 + 0.5),
    "BitwiseAndTensor": np.bitwise_and,
    "BitwiseOrTensor": np.bitwise_or,
    "BitwiseXorTensor": np.bitwise_xor,
}
TERNARY: dict[str, Any] = {
    "Addcmul": lambda x, a, b, value: x + value * a * b,
    "Addcdiv": lambda x, a, b, value: x + value * a / b,
    "ClampTensor": lambda x, low, high: np.minimum(np.maximum(x, low), high),
    "SWhere": lambda c, x, y: np.where(c != 0, x, y),
    "Lerp": lambda x, end, weight: x + weight * (end - x),
}
# Names of operators on one tensor and scalars; on two tensors and scalars.
WITH_SCALARS: dict[str, tuple[Any, tuple[float, ...]]] = {
    "Adds": (lambda x, y, alpha: x + alpha * y, (3.0, 2.0)),
    "Subs": (lambda x, y, alpha: x - alpha * y, (3.0, 2.0)),
    "Muls": (lambda x, y: x * y, (3.0,)),
    "Divs": (lambda x, y: x / y, (3.0,)),
    "PowTensorScalar": (power, (2.0,)),
    "Clamp": (lambda x, low, high: np.minimum(np.maximum(x, low), high), (-1.0, 2.0)),
    "ClampMin": (np.maximum, (-1.0,)),
    "ClampMax": (np.minimum, (2.0,)),
    "Hardtanh": (lambda x, low, high: np.minimum(np.maximum(x, low), high), (-1.0, 2.0)),
    "Threshold": (lambda x, threshold, value: np.where(x > threshold, x, value), (1.0, 5.0)),
    "FmodScalar": (np.fmod, (3.0,)),
    "RemainderTensorScalar": (np.remainder, (3.0,)),
    "FloorDivides": (np.floor_divide, (3.0,)),
    "EqScalar": (np.equal, (1.0,)),
    "NeScalar": (np.not_equal, (1.0,)),
    "GtScalar": (np.greater, (1.0,)),
    "GeScalar": (np.greater_equal, (1.0,)),
    "LtScalar": (np.less, (1.0,)),
    "LeScalar": (np.less_equal, (1.0,)),
    "Softplus": (softplus, (2.0, 4.0)),
}
TWO_WITH_SCALARS: dict[str, tuple[Any, tuple[float, ...]]] = {
    "Add": (lambda x, y, alpha: x + alpha * y, (2.0,)),
    "Sub": (lambda x, y, alpha: x - alpha * y, (2.0,)),
    "Lerps": (lambda x, end, weight: x + weight * (end - x), (0.25,)),
    "ThresholdBackward": (lambda g, x, threshold: np.where(x > threshold, g, 0), (1.0,)),
    "HardtanhBackward": (
        lambda g, x, low, high: np.where((x > low) & (x < high), g, 0),
        (-1.0, 2.0),
    ),
    "HardshrinkBackward": (lambda g, x, size: np.where(np.abs(x) <= size, 0, g), (1.0,)),
    "SoftshrinkBackward": (lambda g, x, size: np.where(np.abs(x) <= size, 0, g), (1.0,)),
    "SoftplusBackward": (
        lambda g, x, beta, t: np.where(beta * x > t, g, g * sigmoid(beta * x)),
        (2.0, 4.0),
    ),
}
# Integers of both kinds are computed in float64.
REAL_ONLY = {"Div", "Divs", "Addcdiv", "Reciprocal"}
