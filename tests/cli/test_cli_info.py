# SPDX-License-Identifier: Apache-2.0
"""`softnpu info`, `softnpu ops`, `softnpu --version`: what is there, and why."""

import json
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import softnpu as package
from tests.support.contract import OPERATORS, Contract, contract, statement

CONTRACTS = [contract(op) for op in OPERATORS]


def info_lines(softnpu: Any, **settings: str) -> dict[str, str]:
    """The lines of `softnpu info` by their labels; stderr has no more than what is not followed."""
    done = softnpu("info", env=settings)
    assert done.returncode == 0
    assert all("an invalid value" in line for line in done.stderr.splitlines())
    return {line[:20].rstrip(): line[20:] for line in done.stdout.splitlines()}


def test_info_shows_versions_and_paths(softnpu: Any, prefix: Path) -> None:
    """`info` names the versions of softnpu, Python and NumPy, the SDK and the cache."""
    lines = info_lines(softnpu)
    settings = ("product", "threads", "instruction set", "devices", "output pool (MB)")
    assert all("default" in lines[label] for label in (*settings, "device memory (MB)"))
    assert lines["softnpu"] == package.__version__
    assert lines["Python"].startswith(platform.python_version())
    assert lines["numpy"][0].isdigit()
    assert lines["SDK"] == str(prefix)
    assert lines["compiled programs"].startswith(softnpu.environment["XDG_CACHE_HOME"])


@pytest.mark.parametrize(
    ("variable", "label", "given", "shown"),
    [
        ("SOFTNPU_SOC", "product", "Ascend310P", "Ascend310P  (from SOFTNPU_SOC)"),
        ("SOFTNPU_SOC", "product", "ascend910b2c", "Ascend910B2C  (from SOFTNPU_SOC)"),
        ("SOFTNPU_ISA", "instruction set", "baseline", "baseline  (from SOFTNPU_ISA)"),
        ("SOFTNPU_ISA", "instruction set", "BASELINE", "(SOFTNPU_ISA=BASELINE is an invalid"),
        ("SOFTNPU_THREADS", "threads", "3", "3  (from SOFTNPU_THREADS)"),
        ("SOFTNPU_THREADS", "threads", "02", "2  (from SOFTNPU_THREADS)"),
        ("SOFTNPU_THREADS", "threads", "+2", "(SOFTNPU_THREADS=+2 is an invalid"),
        ("SOFTNPU_DEVICES", "devices", "003", "3  (from SOFTNPU_DEVICES)"),
        ("SOFTNPU_MEMORY_MB", "device memory (MB)", "7", "7  (from SOFTNPU_MEMORY_MB)"),
        ("SOFTNPU_POOL_MB", "output pool (MB)", "064", "64  (from SOFTNPU_POOL_MB)"),
        ("SOFTNPU_POOL_MB", "output pool (MB)", "00", "0  (from SOFTNPU_POOL_MB)"),
    ],
)
def test_info_says_where_settings_come_from(
    softnpu: Any, variable: str, label: str, given: str, shown: str
) -> None:
    """Each setting shows the value in force and which variable gave it, read as the core does:
    products may be in any case, other names may not; numbers may begin with zeros.
    """
    assert shown in info_lines(softnpu, **{variable: given})[label]


def test_info_names_a_setting_that_cannot_be_followed(softnpu: Any) -> None:
    """A variable that names no product gives status 1 and the names of all."""
    done = softnpu("info", env={"SOFTNPU_SOC": "Ascend1"})
    assert done.returncode == 1
    assert "Ascend910B  (SOFTNPU_SOC=Ascend1 is an invalid value)\n" in done.stdout
    assert 'softnpu: SOFTNPU_SOC is "Ascend1"; it must be one of Ascend950, ' in done.stderr
    assert "Ascend910B2C, " in done.stderr


def test_info_follows_the_product(softnpu: Any) -> None:
    """The default product has BF16, and one without it says so."""
    assert info_lines(softnpu)["product"].startswith("Ascend910B ")
    assert info_lines(softnpu)["BF16"].startswith("yes")
    assert info_lines(softnpu, SOFTNPU_SOC="Ascend310P")["BF16"].startswith("no")


def test_info_does_not_import_torch(softnpu: Any) -> None:
    """Asking for the version of PyTorch does not load it."""
    command = [sys.executable, "-X", "importtime", "-m", "softnpu", "info"]
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, env=softnpu.environment
    )
    imported = {line.rsplit("|", 1)[-1].strip() for line in done.stderr.splitlines()}
    assert "softnpu.cli.output" in imported
    assert "torch" not in imported


def test_ops_lists_every_operator(softnpu: Any) -> None:
    """`ops` has one line for each contract, with data types and products, and no other."""
    documented, _, everyday = softnpu("ops").stdout.partition("Everyday operators")
    assert "aclnnAdd " in everyday
    rows = [line.split() for line in documented.splitlines() if "aclnn" in line]
    assert len(rows) == len(CONTRACTS) >= 5
    for row, spec in zip(rows, CONTRACTS, strict=True):
        products = [name for name, supported in spec.products.items() if supported]
        assert row[:2] == [spec.operator, spec.python]
        assert set(row[2:]) > {"FLOAT", *products}


@pytest.mark.parametrize("spec", CONTRACTS, ids=OPERATORS)
def test_ops_shows_a_contract(softnpu: Any, spec: Contract) -> None:
    """`ops NAME` shows arguments and every rule in order."""
    text = softnpu("ops", spec.operator).stdout
    assert all(f" {argument.name} " in text for argument in spec.arguments)
    rows = [line.split()[:2] for line in text.splitlines() if line.strip()[:1].isdigit()]
    rules = [[str(rule["status"]), rule["id"]] for rule in statement(spec.op)["rule"]]
    assert rows[: len(rules)] == rules


def test_unknown_operator(softnpu: Any) -> None:
    """An unknown operator gives status 2 and the closest name."""
    done = softnpu("ops", "elu_backwards")
    assert (done.returncode, done.stdout) == (2, "")
    assert "no documented operator 'elu_backwards'" in done.stderr
    assert "aclnnEluBackward" in done.stderr


def test_version(softnpu: Any) -> None:
    """`--version` prints the package's version."""
    done = softnpu("--version")
    assert (done.returncode, done.stdout) == (0, f"softnpu {package.__version__}\n")


def test_the_script_is_the_module(softnpu: Any) -> None:
    """`softnpu` and `python -m softnpu` are the same command."""
    script = Path(sys.executable).parent / "softnpu"
    done = subprocess.run(
        [script, "--help"], capture_output=True, text=True, check=True, env=softnpu.environment
    )
    assert done.stdout == softnpu("--help").stdout
    commands = "run build sdk env info ops explain verify bench cache"
    for command in commands.split():
        assert f" {command} " in done.stdout


def test_unknown_command(softnpu: Any) -> None:
    """A command that does not exist is a usage error."""
    done = softnpu("walk")
    assert done.returncode == 2
    assert "walk" in done.stderr


def test_info_json(softnpu: Any, prefix: Path) -> None:
    """The same for programs: numbers, and where settings come from."""
    done = softnpu("info", "--json", env={"SOFTNPU_THREADS": "3"})
    found = json.loads(done.stdout)
    assert (done.returncode, done.stderr) == (0, "")
    assert (found["version"], found["threads"], found["sdk"]) == (
        package.__version__,
        3,
        str(prefix),
    )
    assert found["origins"]["threads"] == "from SOFTNPU_THREADS"
    assert found["bf16"] is True
    assert found["isa"] in found["isa_available"]
    assert set(found["versions"]) == {"softnpu", "Python", "numpy", "ml_dtypes", "torch"}
    assert all(Path(library).is_file() for library in found["libraries"])


def test_info_json_with_a_wrong_product(softnpu: Any) -> None:
    """The status and the message are those of the text."""
    done = softnpu("info", "--json", env={"SOFTNPU_SOC": "Ascend1"})
    assert done.returncode == 1
    assert "is an invalid value" in json.loads(done.stdout)["origins"]["product"]
    assert "it must be one of" in done.stderr


def test_ops_shows_an_everyday_operator(softnpu: Any) -> None:
    """Each parameter, with its kind, and whether it may be null."""
    lines = softnpu("ops", "aclnnLayerNorm").stdout.splitlines()
    rows = [" ".join(line.split()) for line in lines]
    assert {"input in tensor", "weight in tensor, may be null", "out out tensor"} <= set(rows)


def test_ops_json(softnpu: Any) -> None:
    """The list, and the contract of one."""
    listed = json.loads(softnpu("ops", "--json").stdout)
    documented = [each["operator"] for each in listed if each["tier"] == "documented"]
    assert documented == [spec.operator for spec in CONTRACTS]
    assert {"aclnnAdd", "aclnnInplaceAdd"} <= {
        each["operator"] for each in listed[len(documented) :]
    }
    one = json.loads(softnpu("ops", "elu_backward", "--json").stdout)
    table = statement("elu_backward")
    assert [rule["id"] for rule in one["rules"]] == [rule["id"] for rule in table["rule"]]
    assert [row["name"] for row in one["arguments"]] == [a.name for a in table["arguments"]]
    assert {rule["id"] for rule in one["shared_rules"]} >= {"product", "dead-handle"}


@pytest.mark.parametrize("code", ["161001", "ACLNN_ERR_PARAM_NULLPTR", "aclnn_err_param_nullptr"])
def test_ops_of_a_code(softnpu: Any, code: str) -> None:
    """A status code gives the checks that return it, and no others."""
    rows = json.loads(softnpu("ops", code, "--json").stdout)
    tables = [statement(op) for op in OPERATORS]
    expected = [
        (table["operator"], rule["id"])
        for table in tables
        for rule in table["rule"]
        if rule["status"] == 161001
    ]
    found = [(row["operator"], row["rule"]) for row in rows]
    assert found[: len(expected)] == expected
    assert {operator for operator, _ in found[len(expected) :]} == {"all"}
    text = softnpu("ops", code).stdout
    assert "softnpu explain 161001" in text
    assert all(rule in text for _, rule in found)


@pytest.mark.parametrize("code", ["507000", "42"])
def test_ops_of_a_code_that_no_check_gives(softnpu: Any, code: str) -> None:
    """Says so, and where the code is explained."""
    done = softnpu("ops", code)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"no check of an operator gives {code}" in done.stderr
    assert f"softnpu explain {code}" in done.stderr


@pytest.mark.parametrize(
    ("spelling", "operator"),
    [
        ("aclnnSeluGetWorkspaceSize", "aclnnSelu"),
        ("aclnnInplaceEluGetWorkspaceSize", "aclnnInplaceElu"),
        ("selu_", "aclnnInplaceSelu"),
        ("inplace_selu", "aclnnInplaceSelu"),
        ("EluBackward", "aclnnEluBackward"),
        ("ELU_BACKWARD", "aclnnEluBackward"),
        ("leaky_relu", "aclnnLeakyRelu"),
    ],
)
def test_spellings(softnpu: Any, spelling: str, operator: str) -> None:
    """What stands in a program's source can be asked for, in C++ and in Python, in any case."""
    assert softnpu("ops", spelling).stdout.splitlines()[0] == operator


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("aclnnSleu", "aclnnSelu"),
        ("upsample", "aclnnUpsampleNearest3d"),
        ("ELU_BAKWARD", "aclnnElu"),
    ],
)
def test_near_misses_of_operators(softnpu: Any, name: str, meant: str) -> None:
    """What may be meant is named."""
    done = softnpu("ops", name)
    assert done.returncode == 2
    assert "Did you mean" in done.stderr
    assert meant in done.stderr


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("softnpu exp", "explain"),
        ("softnpu ops aclnnSeluB", "aclnnSeluBackward"),
        ("softnpu explain alpha-n", "alpha-negative"),
        ("softnpu explain ACLNN_ERR_PARAM_I", "ACLNN_ERR_PARAM_INVALID"),
    ],
)
def test_shell_completion(softnpu: Any, words: str, expected: str) -> None:
    """Commands, operators, rules and codes are completed in bash."""
    count = str(len(words.split()) - 1)
    asking = {"_SOFTNPU_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": count}
    done = softnpu(env=asking)
    assert expected in done.stdout.split()


def test_completion_can_be_shown(softnpu: Any) -> None:
    """The script for a shell, to be evaluated or installed."""
    done = softnpu(env={"_SOFTNPU_COMPLETE": "source_bash"})
    assert "_SOFTNPU_COMPLETE=complete_bash" in done.stdout
    assert "--install-completion" in softnpu("--help").stdout
