# SPDX-License-Identifier: Apache-2.0
"""The headers: clean in every language standard, and every documented name with its value."""

import re
import subprocess
from pathlib import Path

import pytest

from tests.capi.capi_names import CODES, ENUMS, FUNCTIONS, SIGNATURES
from tests.support.paths import EVERYDAY, INCLUDE, everyday_functions, headers

HEADERS = headers()
OPERATOR_HEADERS = [name for name in HEADERS if re.fullmatch(r"aclnnop/(?!aclnn_util).*", name)]
STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Wunused-const-variable", "-Werror", "-fsyntax-only"]
ALL_HEADERS = "".join(f'#include "{header}"\n' for header in HEADERS)


def compile_text(compiler: str, language: str, standard: str, text: str) -> str:
    """What the compiler says about a program; nothing when it is clean."""
    command = [compiler, "-x", language, f"-std={standard}", f"-I{INCLUDE}", *STRICT, "-"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    return done.stderr if done.returncode else ""


@pytest.mark.parametrize("header", HEADERS)
@pytest.mark.parametrize("standard", ["c++11", "c++17", "c++20"])
def test_header_is_clean_cxx(cxx: str, standard: str, header: str) -> None:
    """Every header compiles alone, without a warning, in every C++ standard."""
    assert compile_text(cxx, "c++", standard, f'#include "{header}"\n') == ""


@pytest.mark.parametrize("header", HEADERS)
@pytest.mark.parametrize("standard", ["c99", "c11"])
def test_header_is_clean_c(cc: str, standard: str, header: str) -> None:
    """Every header compiles alone, without a warning, as C, which forbids an empty program."""
    text = f'#include "{header}"\ntypedef int not_empty;\n'
    assert compile_text(cc, "c", standard, text) == ""


@pytest.mark.parametrize("header", HEADERS)
def test_header_is_idempotent(cxx: str, header: str) -> None:
    """A header may be included twice."""
    assert compile_text(cxx, "c++", "c++11", f'#include "{header}"\n' * 2) == ""


def test_include_guards_are_unique() -> None:
    """No two headers share an include guard, and each guards itself."""
    guards: dict[str, str] = {}
    for header in sorted(str(file.relative_to(INCLUDE)) for file in INCLUDE.rglob("*.h")):
        text = (INCLUDE / header).read_text(encoding="utf-8")
        found = re.search(r"#ifndef (\w+)\n#define (\w+)\n", text)
        assert found is not None, header
        assert found[1] == found[2], header
        assert found[1] not in guards, (header, guards[found[1]])
        guards[found[1]] = header


def included_by(header: str) -> set[str]:
    """Our headers that this one pulls in, itself included."""
    command = ["g++", f"-I{INCLUDE}", "-M", "-x", "c++", str(INCLUDE / header)]
    rule = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    files = [Path(word).resolve() for word in rule.replace("\\\n", " ").split()[1:]]
    return {str(file.relative_to(INCLUDE)) for file in files if file.is_relative_to(INCLUDE)}


def test_acl_h_pulls_in_the_runtime() -> None:
    """Including acl/acl.h is enough for the whole runtime."""
    assert included_by("acl/acl.h") >= {"acl/acl_base.h", "acl/acl_rt.h"}


@pytest.mark.parametrize("header", OPERATOR_HEADERS)
def test_operator_header_pulls_in_descriptors(header: str) -> None:
    """Including one operator's header is enough for the descriptors that it takes."""
    wanted = {"aclnn/aclnn_base.h", "aclnn/acl_meta.h", "acl/acl_base.h"}
    assert included_by(header) >= wanted


def test_enumerators_have_documented_values(cxx: str) -> None:
    """Every enumerator of the API has its documented value, and its documented type."""
    checks = "".join(
        f'static_assert({name} == {value} && {enum}::{name} == {value}, "{name}");\n'
        for enum, members in ENUMS.items()
        for name, value in members.items()
    )
    assert compile_text(cxx, "c++", "c++11", ALL_HEADERS + checks) == ""


def test_codes_have_documented_values(cxx: str) -> None:
    """Every status code and flag has its documented value."""
    checks = "".join(f'static_assert({name} == {value}, "");\n' for name, value in CODES.items())
    assert compile_text(cxx, "c++", "c++11", ALL_HEADERS + checks) == ""


def test_a_wrong_value_is_noticed(cxx: str) -> None:
    """The two tests above can fail."""
    wrong = 'static_assert(ACL_BF16 == 26, "ACL_BF16");\n'
    assert "ACL_BF16" in compile_text(cxx, "c++", "c++11", ALL_HEADERS + wrong)


def test_enumerators_have_documented_values_in_c(cc: str) -> None:
    """C programs see the same enumerators."""
    checks = "".join(
        f'_Static_assert({name} == {value}, "{name}");\n'
        for members in ENUMS.values()
        for name, value in members.items()
    )
    assert compile_text(cc, "c", "c11", ALL_HEADERS + checks) == ""


def test_runtime_codes_are_macros(cxx: str) -> None:
    """Runtime codes can be tested for by the preprocessor; the other codes are constants."""
    runtime = [name for name in CODES if name.startswith("ACL_ERROR_RT_")]
    assert len(runtime) > 80
    checks = "".join(f"#ifndef {name}\n#error {name}\n#endif\n" for name in runtime)
    checks += "#ifdef ACL_ERROR_INVALID_PARAM\n#error constant\n#endif\n"
    checks += "const int *constant = &ACL_ERROR_INVALID_PARAM; int use() { return *constant; }\n"
    assert compile_text(cxx, "c++", "c++11", ALL_HEADERS + checks) == ""


def test_signatures(cxx: str) -> None:
    """Functions have the documented parameter types, in the documented order."""
    checks = "#include <type_traits>\n" + "".join(
        f'static_assert(std::is_same<decltype(&{name}), {kind}>::value, "{name}");\n'
        for name, kind in SIGNATURES.items()
    )
    assert compile_text(cxx, "c++", "c++11", ALL_HEADERS + checks) == ""


def test_every_declared_function_is_listed() -> None:
    """The headers declare the documented functions, all of them and no others.

    tests/runtime/collectives.cpp calls those of hccl.
    """
    others = {header for header in HEADERS if header.startswith("hccl/")}
    listed = [header for header in HEADERS if header not in {*EVERYDAY, *others}]
    text = "".join((INCLUDE / header).read_text(encoding="utf-8") for header in listed)
    text = re.sub(r"//.*|^#.*", "", text, flags=re.MULTILINE)
    declared = re.findall(r"(?:ACL_FUNC_VISIBILITY|ACLNN_API)[^;(]*?\b(\w+)\(", text)
    assert sorted(declared) == sorted(FUNCTIONS)


OWN_DECLARATION = """
#include "aclnnop/aclnn_cos.h"
#include "aclnnop/aclnn_copy.h"
#include "aclnnop/aclnn_avgpool2d.h"
#include "aclnnop/aclnn_sum.h"
extern "C" int aclnnRotaryPositionEmbeddingGetWorkspaceSize(const aclTensor*, const aclTensor*,
    const aclTensor*, int64_t, const aclTensor*, uint64_t*, aclOpExecutor**);
void* use[] = {(void*)&aclnnAvgPool2d, (void*)&aclnnInplaceCopy};
"""


def test_a_program_declares_an_operator_itself(cxx: str) -> None:
    """As ggml does, which includes headers by these names, and takes the output for const."""
    assert compile_text(cxx, "c++", "c++11", OWN_DECLARATION) == ""


def test_every_function_links(cxx: str, sdk: Path, tmp_path: Path) -> None:
    """The libraries define every declared function, and a program can call each by name."""
    source = tmp_path / "link.cpp"
    table = ", ".join(
        f"reinterpret_cast<void *>(&{name})" for name in [*FUNCTIONS, *everyday_functions()]
    )
    body = f"void *volatile all[] = {{{table}}};\n"
    body += "int main() { for (void *one : all) if (one == nullptr) return 1; return 0; }\n"
    source.write_text(ALL_HEADERS + body)
    program, lib = tmp_path / "link", sdk / "lib64"
    libraries = [str(lib / f"lib{name}.so") for name in ("opapi", "nnopbase", "ascendcl")]
    rpath = ["-Xlinker", "-rpath", "-Xlinker", str(lib)]
    include = f"-I{sdk / 'include'}"
    subprocess.run(
        [cxx, "-std=c++11", include, str(source), "-o", str(program), *libraries, *rpath],
        check=True,
    )
    assert subprocess.run([program], check=False).returncode == 0
