# SPDX-License-Identifier: Apache-2.0
"""A case: a call of an operator and the result to judge."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

import softnpu
from softnpu import reference
from softnpu.contract import Argument, Contract, find
from softnpu.errors import MASKED_ARRAY, with_rule
from softnpu.judging.dtypes import BFLOAT16, NUMPY
from softnpu.reference.smooth_l1_loss import REDUCTIONS

Array = npt.NDArray[Any]

# The result of an in-place operator; the other form's result has the same name.
IN_PLACE_RESULT = "out"
FORMAT = "format"


class CaseError(ValueError):
    """A case that cannot be judged: the message has the operator, the argument and the error.

    ``softnpu explain`` explains its ``rule``.
    """

    def __init__(self, message: str, rule: str) -> None:
        super().__init__(message, rule)
        with_rule(self, rule=rule)

    def __str__(self) -> str:
        """Return the message."""
        return str(self.args[0])


@dataclass(frozen=True)
class Case:
    """All arguments of a call in the documented order, and the result.

    Attributes
    ----------
    contract : Contract
    inputs : dict
        By documented names: tensors as arrays, attributes as numbers, strings and lists.
    result_name : str
    got : array
        The result.
    format : str
        "NDHWC", or another one that is read as "NCDHW"; empty if the operator has none.
    """

    contract: Contract
    inputs: dict[str, Any]
    result_name: str
    got: Array
    format: str = ""

    @property
    def tensors(self) -> dict[str, Array]:
        """The inputs that are tensors."""
        return {n: value for n, value in self.inputs.items() if isinstance(value, np.ndarray)}

    @property
    def reduction(self) -> str:
        """The name of the reduction; empty for an operator that has none."""
        given = self.inputs.get("reduction", "")
        return next((name for name, code in REDUCTIONS.items() if given == code), given)

    def reference(self, changes: Mapping[str, Any] | None = None) -> Array:
        """Evaluate the definition, with some inputs replaced, in the shape of the result."""
        inputs = {**self.inputs, **(changes or {})}
        if "inputSize" in inputs:
            # The result's own order of axes is the unambiguous one of the two documented orders.
            inputs["inputSize"] = self.got.shape
        function = getattr(reference, self.contract.family)
        with np.errstate(all="ignore"):
            exact = function(*inputs.values(), **self._keywords("NCDHW"))
        return np.asarray(exact).reshape(self.got.shape)

    def check(self) -> None:
        """Call softnpu's operator, which checks the contract."""
        function = getattr(softnpu, self.contract.python)
        inputs = list(self.inputs.values())
        try:
            if self.contract.python.endswith("_"):
                function(inputs[0].copy(), *inputs[1:])
            else:
                function(*inputs, **self._keywords(), out=np.empty_like(self.got, order="C"))
        except (softnpu.AclnnError, TypeError) as error:
            raise CaseError(str(error), rule=getattr(error, "rule", "argument-class")) from error

    def _keywords(self, other: str = "") -> dict[str, Any]:
        """Return the format argument, if there is one; all but NDHWC as ``other``, if given."""
        if not self.format:
            return {}
        return {"format": other if other and self.format != "NDHWC" else self.format}


def build(operator: str, values: Mapping[str, Any]) -> Case:
    """Create a case that satisfies the operator's contract, or raise CaseError."""
    contract = contract_of(operator)
    inputs = [a for a in contract.arguments if a.role != "out"]
    result = result_name(contract)
    optional = {FORMAT} if takes_format(contract) else set()
    _require_names(contract, [*(a.name for a in inputs), result], optional, values)
    name = contract.operator
    case = Case(
        contract,
        {a.name: _converted(name, a, values[a.name]) for a in inputs},
        result,
        as_array(name, result, values[result]),
        str(np.asarray(values.get(FORMAT, "NCDHW"))) if optional else "",
    )
    _require_like(case)
    case.check()
    return case


def contract_of(operator: str) -> Contract:
    """Find the contract of an operator."""
    try:
        return find(operator)
    except LookupError as error:
        message, guess = error.args
        raise CaseError(f"{message}. {guess}".rstrip(". "), rule="operator-unknown") from None


def result_name(contract: Contract) -> str:
    """Return the name of a case's result."""
    output = next(a for a in contract.arguments if a.is_output)
    return IN_PLACE_RESULT if output.role == "inout" else output.name


def takes_format(contract: Contract) -> bool:
    """Whether the operator distinguishes formats."""
    return any(a.has_format for a in contract.arguments)


def as_array(operator: str, name: str, value: Any) -> Array:
    """Read a tensor of any library as an array of a documented type."""
    array = _to_numpy(operator, name, value)
    if array.dtype.itemsize == 2 and array.dtype.kind == "V":
        # NumPy's files do not support bfloat16 and return its bytes.
        array = array.view(BFLOAT16)
    array = array.astype(array.dtype.newbyteorder("="), copy=False)
    if array.dtype not in NUMPY.values():
        raise CaseError(
            f"{operator}: {name} has data type {array.dtype}; expected one of "
            f"{', '.join(dtype.name for dtype in NUMPY.values())}",
            rule="case-dtype",
        )
    return array


def _to_numpy(operator: str, name: str, value: Any) -> Array:
    if isinstance(value, np.ma.MaskedArray):
        raise CaseError(f"{operator}: {name} {MASKED_ARRAY}", rule="masked-array")
    try:
        return _exported(value)
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        kind = type(value).__name__
        raise CaseError(
            f"{operator}: {name}, of class {kind}, is no array: {error}", rule="case-not-an-array"
        ) from error


def _exported(value: Any) -> Array:
    if hasattr(value, "detach"):  # a PyTorch tensor
        tensor = value.detach().cpu().resolve_neg().resolve_conj()
        if str(tensor.dtype) == "torch.bfloat16":
            return np.asarray(tensor.float().numpy()).astype(BFLOAT16)
        return np.asarray(tensor.numpy())
    if hasattr(value, "__dlpack__") and not isinstance(value, np.ndarray):
        return np.from_dlpack(value)
    return np.asarray(value)


def _converted(operator: str, argument: Argument, value: Any) -> Any:
    """Convert an argument to the type that the Python functions take."""
    if argument.kind == "tensor":
        return as_array(operator, argument.name, value)
    array = _to_numpy(operator, argument.name, value)
    if argument.kind == "int_array":
        if array.ndim != 1:
            raise CaseError(
                f"{operator}: {argument.name} has shape {array.shape}; expected a list of integers",
                rule="case-shape",
            )
        return array.tolist()
    if array.size != 1:
        raise CaseError(
            f"{operator}: {argument.name} has shape {array.shape}; expected a single value",
            rule="case-shape",
        )
    if array.dtype.kind == "V":
        return float(as_array(operator, argument.name, array).reshape(()))
    return array.item()


def _require_names(
    contract: Contract, wanted: list[str], optional: set[str], values: Mapping[str, Any]
) -> None:
    missing = [name for name in wanted if name not in values]
    unknown = [str(name) for name in values if name not in wanted and name not in optional]
    if missing or unknown:
        complaints = [f"missing: {', '.join(missing)}"] if missing else []
        complaints += [f"unknown: {', '.join(unknown)}"] if unknown else []
        expected = ", ".join([*wanted, *(f"{name} (optional)" for name in optional)])
        raise CaseError(
            f"{contract.operator}: {'; '.join(complaints)}; expected: {expected}",
            rule="case-arguments",
        )


def _require_like(case: Case) -> None:
    """Check that the result of an in-place call is like its input."""
    if not case.contract.python.endswith("_"):
        return
    name, before = next(iter(case.inputs.items()))
    for what, got, expected in (
        ("shape", list(case.got.shape), list(before.shape)),
        ("data type", case.got.dtype, before.dtype),
    ):
        if got != expected:
            raise CaseError(
                f"{case.contract.operator}: {case.result_name} has {what} {got}, but {name} has "
                f"{what} {expected}; they must be equal",
                rule="case-in-place",
            )
