# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: N816  the names are those of the C API
"""The two-phase interface of the operators under its documented names.

Handles and addresses are ints, and None is null. Results that C returns through pointers are
returned: phase one of an operator returns ``(workspace_size, executor)``. A status other than
success raises its subclass of `softnpu.AclnnError`, with the message of ``aclGetRecentErrMsg``.
Arguments have the order of C, without the lengths of arrays.

Device memory, streams and the rest of the runtime are in `softnpu.acl`.
"""

from __future__ import annotations

import math
from contextlib import suppress
from numbers import Number
from operator import index
from typing import Any, SupportsComplex, SupportsFloat, SupportsIndex

import numpy as np
import numpy.typing as npt

from softnpu import _core, described
from softnpu._phases import *  # noqa: F403  both phases of each operator
from softnpu.acl import constants
from softnpu.acl.constants import *  # noqa: F403  the names are documented, and many
from softnpu.errors import with_rule

aclCreateBoolArray = _core.aclCreateBoolArray
aclCreateFloatArray = _core.aclCreateFloatArray
aclCreateIntArray = _core.aclCreateIntArray
aclCreateScalarList = _core.aclCreateScalarList
aclCreateTensor = _core.aclCreateTensor
aclCreateTensorList = _core.aclCreateTensorList
aclDestroyAclOpExecutor = _core.aclDestroyAclOpExecutor
aclDestroyBoolArray = _core.aclDestroyBoolArray
aclDestroyFloatArray = _core.aclDestroyFloatArray
aclDestroyIntArray = _core.aclDestroyIntArray
aclDestroyScalar = _core.aclDestroyScalar
aclDestroyScalarList = _core.aclDestroyScalarList
aclDestroyTensor = _core.aclDestroyTensor
aclDestroyTensorList = _core.aclDestroyTensorList
aclGetBoolArraySize = _core.aclGetBoolArraySize
aclGetDataType = _core.aclGetDataType
aclGetFloatArraySize = _core.aclGetFloatArraySize
aclGetFormat = _core.aclGetFormat
aclGetIntArraySize = _core.aclGetIntArraySize
aclGetRawTensorAddr = _core.aclGetRawTensorAddr
aclGetScalarListSize = _core.aclGetScalarListSize
aclGetStorageShape = _core.aclGetStorageShape
aclGetTensorListSize = _core.aclGetTensorListSize
aclGetViewOffset = _core.aclGetViewOffset
aclGetViewShape = _core.aclGetViewShape
aclGetViewStrides = _core.aclGetViewStrides
aclInitTensor = _core.aclInitTensor
aclSetAclOpExecutorRepeatable = _core.aclSetAclOpExecutorRepeatable
aclSetInputTensorAddr = _core.aclSetInputTensorAddr
aclSetOutputTensorAddr = _core.aclSetOutputTensorAddr
aclSetRawTensorAddr = _core.aclSetRawTensorAddr
aclSetTensorAddr = _core.aclSetTensorAddr
aclnnFinalize = _core.aclnnFinalize
aclnnInit = _core.aclnnInit

# The same functions with capitalised names.
AclSetAclOpExecutorRepeatable = aclSetAclOpExecutorRepeatable
AclSetInputTensorAddr = aclSetInputTensorAddr
AclSetOutputTensorAddr = aclSetOutputTensorAddr
AclSetTensorAddr = aclSetTensorAddr

_NUMPY: dict[int, npt.DTypeLike] = {
    constants.ACL_FLOAT: np.float32,
    constants.ACL_FLOAT16: np.float16,
    constants.ACL_INT8: np.int8,
    constants.ACL_INT32: np.int32,
    constants.ACL_UINT8: np.uint8,
    constants.ACL_INT16: np.int16,
    constants.ACL_UINT16: np.uint16,
    constants.ACL_UINT32: np.uint32,
    constants.ACL_INT64: np.int64,
    constants.ACL_UINT64: np.uint64,
    constants.ACL_DOUBLE: np.float64,
    constants.ACL_BOOL: np.bool_,
    constants.ACL_COMPLEX64: np.complex64,
    constants.ACL_COMPLEX128: np.complex128,
}


# The types that NumPy lacks.
_OTHERS = (constants.ACL_BF16, constants.ACL_COMPLEX32)


def _numpy_type(dataType: int) -> np.dtype[Any]:
    if dataType == constants.ACL_BF16:
        import ml_dtypes  # takes as long to import as the rest of the package

        bfloat16: np.dtype[Any] = np.dtype(ml_dtypes.bfloat16)
        return bfloat16
    return np.dtype(_NUMPY[dataType])


_CONVERSIONS = ("__float__", "__index__", "__complex__")


def _as_number(value: Any, name: str) -> Any:
    """Refuse values that NumPy converts silently: strings, times, sequences, complex to real."""
    # Python 3.10's complex has no __complex__.
    converts = isinstance(value, complex) or any(hasattr(value, each) for each in _CONVERSIONS)
    if not converts or np.ndim(value) != 0 or _seen_by_numpy(value).dtype.kind in "SUMm":
        message = f"aclCreateScalar: value is of class {type(value).__name__}, no number"
        raise with_rule(TypeError(message), rule="not-a-number")
    number = _plain(value)
    if np.iscomplexobj(number) and not name.startswith(("complex", "bool")):
        message = f"aclCreateScalar: value is complex, but dataType is {name}"
        raise with_rule(TypeError(message), rule="scalar-complex")
    return number


def _seen_by_numpy(value: Any) -> npt.NDArray[Any]:
    """Convert a number to an array, of objects if necessary: tensors may require grad."""
    try:
        return np.asarray(value)
    except (TypeError, RuntimeError):
        return np.array(None)


def _plain(value: Any) -> Any:
    """Convert a number to a class that NumPy can compare and convert."""
    array = _seen_by_numpy(value)
    if array.dtype.kind != "O" and array.dtype.isbuiltin == 1:
        return array[()]
    if isinstance(value, Number):
        return value
    for convert in (index, float):
        with suppress(TypeError, RuntimeError):
            return convert(value)
    return complex(value)


def _rounded_to_odd(value: Any) -> Any:
    """Convert a real number to float64 so that a later rounding is the only one."""
    if isinstance(value, complex | np.complexfloating):
        return value
    value = int(value) if isinstance(value, np.integer) else value
    near = float(value)
    if near == value or math.isnan(near) or np.float64(near).view(np.int64) % 2 == 1:
        return near
    return math.nextafter(near, math.inf if value > near else -math.inf)


def _require_range(value: Any, dtype: np.dtype[Any]) -> None:
    limits = np.iinfo(dtype)
    # Python compares exactly. NumPy would round the limit to the value's type, possibly upwards.
    exact = value.item() if isinstance(value, np.generic) else value
    if not limits.min <= exact <= limits.max:
        message = f"aclCreateScalar: {value} does not fit {dtype}"
        raise with_rule(OverflowError(message), rule="scalar-range")


def _bytes_of(value: Any, dataType: int) -> bytes:
    parts = dataType == constants.ACL_COMPLEX32
    dtype = np.dtype(np.float16) if parts else _numpy_type(dataType)
    if type(value) not in (bool, int, float):
        value = _as_number(value, "complex32" if parts else dtype.name)
    if dtype.kind in "iu":
        _require_range(value, dtype)
    elif dtype.kind != "b" and dtype not in (np.float64, np.complex128):
        value = _rounded_to_odd(value)
    if dataType == constants.ACL_BF16:
        from softnpu.reference import round_to  # NumPy would also round to float32

        return round_to(float(value), dtype).tobytes()
    if type(value) is float and 1e-4 < value < 6e4 and not parts:
        return np.array(value, dtype).tobytes()  # always in range, and errstate is slow
    with np.errstate(all="ignore"):  # overflow becomes infinity, as documented
        if parts:
            value = [complex(value).real, complex(value).imag]
        return np.array(value, dtype).tobytes()


def aclCreateScalar(
    value: complex | SupportsComplex | SupportsFloat | SupportsIndex | None, dataType: int
) -> int:
    """Create a scalar that holds a number as the given data type.

    Parameters
    ----------
    value : number
        Rounded to nearest even for floating and complex types, toward zero for integer types. Above
        the range of a floating type it becomes infinity, for ``ACL_BOOL`` all but 0 are true.
    dataType : int
        ``ACL_FLOAT``, ``ACL_FLOAT16``, ``ACL_BF16``, ``ACL_DOUBLE``, a complex type, ``ACL_BOOL``,
        or an integer type of 8 bits and more.

    Returns
    -------
    int
        The scalar's handle, valid until aclDestroyScalar or the end of a list that owns it.

    Raises
    ------
    ParamInvalidError
        value is None, or dataType has no scalars (161002).
    OverflowError
        value is outside the range of an integer type, or an int outside that of float64.
    TypeError
        value is complex, but dataType is real; or it is not a number.

    Notes
    -----
    Source: aclCreateScalar.
    """
    dataType = index(dataType)
    if value is None or (dataType not in _NUMPY and dataType not in _OTHERS):
        # Fails with the documented status.
        return _core.aclCreateScalar(None if value is None else bytes(16), dataType)
    return _core.aclCreateScalar(_bytes_of(value, dataType), dataType)


__all__ = [
    *(name for name in dir() if name.startswith(("ACL_", "Acl", "acl"))),
]


def __getattr__(name: str) -> Any:
    """Find a phase of an everyday operator, or of one from outside of softnpu."""
    function = described.phase(name)
    if function is None:
        raise AttributeError(f"softnpu.aclnn has no {name}; `softnpu ops` lists the operators")
    globals()[name] = function
    return function


def __dir__() -> list[str]:
    return [*globals(), *described.phase_names()]
