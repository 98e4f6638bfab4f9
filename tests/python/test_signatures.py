# SPDX-License-Identifier: Apache-2.0
"""The public surface: names, signatures, documentation, types."""

from __future__ import annotations

import ast
import builtins
import inspect
import re
from pathlib import Path
from typing import Any

import pytest

import softnpu
from softnpu import _core, acl, aclnn, functional, judging, pool, reference
from tests.python.operators import OPERATORS, Operator
from tests.support.paths import INCLUDE
from tests.support.stub import stub_functions

# The modules whose functions are documented in sections.
MODULES = (functional, reference, aclnn, acl, acl.op, acl.util, pool, judging)
SECTIONS = ("Parameters", "Returns", "Raises", "Notes")
PACKAGE = Path(softnpu.__file__).parent

SIGNATURES = {
    "elu_backward": "(grad_output, alpha, scale, input_scale, is_result, self_or_result, *, "
    "out=None)",
    "elu": "(self, alpha=1.0, scale=1.0, input_scale=1.0, *, out=None)",
    "elu_": "(self_ref, alpha=1.0, scale=1.0, input_scale=1.0)",
    "selu": "(self, *, out=None)",
    "selu_": "(self_ref)",
    "selu_backward": "(grad_output, result, *, out=None)",
    "smooth_l1_loss": "(self, target, reduction='mean', beta=1.0, *, out=None)",
    "smooth_l1_loss_backward": "(grad_out, self, target, reduction, beta, *, out=None)",
    "upsample_nearest3d_backward": "(grad_out, output_size, input_size, scales_d=0.0, "
    "scales_h=0.0, scales_w=0.0, *, format='NCDHW', out=None)",
    "upsample_nearest3d": "(self, output_size, scales_d=0.0, scales_h=0.0, scales_w=0.0, *, "
    "format='NCDHW', out=None)",
    "max_unpool3d": "(self, indices, output_size, stride, padding, *, out=None)",
    "max_unpool3d_backward": "(grad_output, self, indices, output_size, stride, padding, *, "
    "out=None)",
}


def plain(function: Any) -> str:
    """A signature without its types."""
    signature = inspect.signature(function)
    parameters = [
        p.replace(annotation=inspect.Parameter.empty) for p in signature.parameters.values()
    ]
    return str(inspect.Signature(parameters))


@pytest.mark.parametrize("name", SIGNATURES)
def test_the_functions_have_the_pinned_signatures(name: str) -> None:
    """Names, order, kinds and defaults of all arguments."""
    assert plain(getattr(softnpu, name)) == SIGNATURES[name]


def test_all_public_names_exist_and_no_others() -> None:
    """`__all__` names what there is, and the functions that are pinned here are among them."""
    assert all(hasattr(softnpu, name) for name in softnpu.__all__)
    assert set(SIGNATURES) <= set(functional.__all__) <= set(softnpu.__all__)


def is_written_in_python(function: Any) -> bool:
    """Whether it is no class, no module and nothing of the extension's."""
    return inspect.isfunction(inspect.unwrap(function))


FUNCTIONS = [
    pytest.param(getattr(module, name), id=f"{module.__name__}.{name}")
    for module in MODULES
    for name in sorted(module.__all__)
    if is_written_in_python(getattr(module, name))
]


def sections(function: Any) -> dict[str, str]:
    """The sections of a function's documentation by their titles."""
    parts = re.split(r"\n(\w+)\n-+\n", inspect.getdoc(function) or "")
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def entries(section: str) -> list[str]:
    """The lines that name something; what is said about it is indented."""
    return re.findall(r"^\S.*", section, re.M)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_functions_document_their_arguments_and_results(function: Any) -> None:
    """All sections in order; every argument with its type, every error a class that there is."""
    signature, body = inspect.signature(function), sections(function)
    assert list(body) == [title for title in SECTIONS if title in body]
    parameters = [entry.partition(" : ") for entry in entries(body.get("Parameters", ""))]
    assert [name for names, *_ in parameters for name in names.split(", ")] == list(
        signature.parameters
    )
    assert all(kind for *_, kind in parameters)
    assert ("Returns" in body) == (signature.return_annotation != "None")
    for name in entries(body.get("Raises", "")):
        error = getattr(softnpu, name, None) or getattr(builtins, name)
        assert issubclass(error, Exception), name


@pytest.mark.parametrize("documented", [*MODULES, *FUNCTIONS])
def test_no_quoted_code_is_broken_into_two_lines(documented: Any) -> None:
    """What stands between backticks, double or single, is on one line."""
    for line in (inspect.getdoc(documented) or "").splitlines():
        assert line.count("``") % 2 == line.replace("``", "").count("`") % 2 == 0, line


WRONG_CALLS = [
    (acl.op.set_model_dir, (5,), TypeError),
    (acl.util.numpy_to_ptr, ([1.0],), TypeError),
    (acl.util.start_thread, (5, None), TypeError),
    (acl.util.ptr_to_numpy, (0, (1,), 11), ValueError),
    (acl.util.ptr_to_numpy, (1, (-1,), 11), ValueError),
    (acl.util.ptr_to_numpy, (1, (1,), 99), ValueError),
    (acl.util.ptr_to_numpy, (1, (1,), "float31"), TypeError),
    (acl.util.bytes_to_ptr, ("text",), TypeError),
    (acl.util.ptr_to_bytes, (0, 1), ValueError),
    (acl.util.ptr_to_bytes, (1, -1), ValueError),
    (acl.util.ptr_to_bytes, (1, 1.0), TypeError),
    (aclnn.aclCreateScalar, (None, acl.ACL_FLOAT), softnpu.ParamInvalidError),
    (aclnn.aclCreateScalar, (1, acl.ACL_STRING), softnpu.ParamInvalidError),
    (aclnn.aclCreateScalar, (256, acl.ACL_UINT8), OverflowError),
    (aclnn.aclCreateScalar, (1j, acl.ACL_FLOAT), TypeError),
    (pool.set_pool_limit, (-1,), TypeError),
    (pool.set_pool_limit, (1.5,), TypeError),
    (pool.set_pool_limit, (2**64,), TypeError),
    (reference.round_to, (0.0, "S1"), TypeError),
]


@pytest.mark.parametrize(("function", "arguments", "error"), WRONG_CALLS)
def test_the_documentation_names_the_errors(
    function: Any, arguments: tuple[Any, ...], error: type[Exception]
) -> None:
    """Of functions that are no operator's: what a wrong argument raises stands there."""
    with pytest.raises(error) as caught:
        function(*arguments)
    assert caught.type.__name__ in entries(sections(function)["Raises"])


@pytest.mark.parametrize("name", [*acl.util.__all__, "aclCreateScalar"])
def test_functions_of_other_interfaces_name_their_source(name: str) -> None:
    """The documented function is looked up under the same name."""
    function = getattr(acl.util, name, None) or getattr(aclnn, name)
    assert re.search(rf"^Source: (acl\.util\.)?{name}\b", sections(function)["Notes"])


@pytest.mark.parametrize("operator", OPERATORS, ids=lambda o: o.name)
def test_the_documentation_says_what_a_user_needs(operator: Operator) -> None:
    """Types, the errors with their numbers, and the source."""
    body = sections(operator.function)
    assert list(body) == list(SECTIONS)
    assert "float32" in body["Parameters"]
    assert {"ParamNullptrError", "ParamInvalidError", "AclnnError", "MemoryError"} <= set(
        entries(body["Raises"])
    )
    for status in (161001, 161002, 561003, 100000):
        assert f"({status})" in body["Raises"]
    assert operator.aclnn in body["Notes"]


@pytest.mark.parametrize("operator", OPERATORS, ids=lambda o: o.name)
def test_the_references_say_what_they_define(operator: Operator) -> None:
    """Types and shapes, the errors, and the document."""
    definition = getattr(reference, operator.name)
    body = sections(definition)
    raises = "raise " in inspect.getsource(definition)
    assert list(body) == [name for name in SECTIONS if name != "Raises" or raises]
    assert "float32" in body["Parameters"]
    assert "shape" in body["Returns"]
    if raises:
        assert "ValueError" in entries(body["Raises"])
    assert operator.aclnn in body["Notes"]


def said_signature(name: str) -> ast.FunctionDef:
    """What a function of the extension says of itself."""
    function = getattr(_core, name)
    text = function.__nb_signature__[0][0].replace("\\0", "None")
    text = text.replace("collections.abc.", "").replace("typing.", "")
    (said,) = ast.parse(text + ": ...").body
    assert isinstance(said, ast.FunctionDef)
    return said


def test_the_stub_has_the_names_of_the_extension() -> None:
    """Nothing is missing in `_core.pyi`, and nothing is left over."""
    there = {name for name in dir(_core) if callable(getattr(_core, name)) and name[0] != "_"}
    assert set(stub_functions()) == there


@pytest.mark.parametrize("name", stub_functions())
def test_the_stub_has_the_signatures_of_the_extension(name: str) -> None:
    """Arguments, defaults and types are those that the extension says it has."""
    stub, said = stub_functions()[name], said_signature(name)
    assert ast.unparse(stub) == ast.unparse(said)


RUNTIME = ("acl/acl_rt.h", "acl/acl_rt_memory.h")


def declared(header: str) -> set[str]:
    """The functions that a header of the C API declares."""
    text = (INCLUDE / header).read_text()
    return set(re.findall(r"^(?:ACL_FUNC_VISIBILITY|ACLNN_API) .*?(\w+)\(", text, re.M))


# What only programs in C are known to use: graphs, descriptions of compiled operators and their
# buffers, peers, registered memory, codes that softnpu does not return.
FOR_C = re.compile(
    r"aclmdlRI|acl\w*(TensorDesc|DataBuffer|SetTensor)|aclAppLog|aclsys"
    r"|aclrt(Cmo|Device\w+(Peer|Tgid)|Host|Ipc|MemcpyBatch$|Pointer)"
    r"|ACL_(ERROR|MEMTYPE|DEBUG|INFO|WARNING|HOST_REG|RT_(CMO|IPC)|MEM_LOCATION_TYPE_UNREGISTERED)"
)


def test_acl_covers_the_headers_of_the_runtime() -> None:
    """Every function of the runtime has a name in `softnpu.acl` or `softnpu.acl.rt`."""
    headers = ("acl/acl.h", "acl/acl_base.h", *RUNTIME)
    names = {name for each in headers for name in declared(each) if not FOR_C.match(name)}
    assert len(names) > 60
    offered = {id(getattr(m, n)) for m in (acl, acl.rt) for n in m.__all__}
    assert [n for n in sorted(names) if id(getattr(_core, n, None)) not in offered] == []


def test_aclnn_covers_the_headers_of_the_operators() -> None:
    """Every function of aclnn has its documented name in `softnpu.aclnn`."""
    names = declared("aclnn/acl_meta.h") | declared("aclnn/aclnn_base.h")
    for header in (INCLUDE / "aclnnop").glob("aclnn_*.h"):
        names |= declared(f"aclnnop/{header.name}")
    assert len(names) > 45
    # Everyday operators are not in __all__; one has a header of its own.
    assert [n for n in sorted(names) if not hasattr(aclnn, n)] == []


def test_the_constants_are_those_of_the_headers() -> None:
    """Same names, same values."""
    for header in ("acl/acl_base.h", *RUNTIME):
        text = (INCLUDE / header).read_text()
        pairs = re.findall(r"\b(ACL_[A-Z0-9_]+)(?: =)? (-?\d+|0x[0-9a-f]+)u?\b", text)
        pairs += re.findall(r"\b(ACL_FRACTAL_Z_3D) = (\d+)", text)
        assert len(pairs) > 20
        for name, value in pairs:
            if hasattr(acl, name) or not FOR_C.match(name):
                assert getattr(acl, name) == int(value, 0), name
