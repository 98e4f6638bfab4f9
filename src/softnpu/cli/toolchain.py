# SPDX-License-Identifier: Apache-2.0
"""The system's compiler: which one, with which flags."""

import os
import shlex
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from softnpu.cli.output import EXIT_NOT_FOUND, EXIT_USAGE, fail


@dataclass(frozen=True)
class Language:
    """What differs between C and C++."""

    name: str
    compilers: tuple[str, ...]
    compiler_variable: str
    flags_variable: str


C = Language("C", ("cc", "gcc", "clang"), "CC", "CFLAGS")
CXX = Language("C++", ("c++", "g++", "clang++"), "CXX", "CXXFLAGS")
LANGUAGES = {".c": C, ".cpp": CXX, ".cc": CXX, ".cxx": CXX, ".c++": CXX, ".C": CXX}

LIBRARIES = ("-lopapi", "-lnnopbase", "-lascendcl", "-pthread", "-ldl", "-lm")


@dataclass(frozen=True)
class Toolchain:
    """A compiler as a command prefix, and the flags that build a program against the SDK."""

    compiler: tuple[str, ...]
    compile_flags: tuple[str, ...]
    link_flags: tuple[str, ...]

    def preprocess(self, source: Path) -> "subprocess.CompletedProcess[bytes]":
        """Expand the program's text with all that it includes; no line markers, no comments."""
        command = [*self.compiler, *self.compile_flags, "-E", "-P", str(source)]
        return subprocess.run(command, capture_output=True, check=False)

    def build(self, source: Path, output: Path) -> int:
        """Compile and link; the compiler prints to our stderr. Returns its exit status."""
        command = [*self.compiler, *self.compile_flags, str(source), "-o", str(output)]
        return subprocess.run([*command, *self.link_flags], check=False).returncode

    def identity(self) -> list[str]:
        """Tell this compiler from another: by its command, and the file behind the name."""
        file = Path(self.compiler[0]).resolve()
        stat = file.stat()
        return [*self.compiler, str(file), str(stat.st_size), str(stat.st_mtime_ns)]


def toolchain_for(source: Path, prefix: Path, extra_flags: str) -> Toolchain:
    """Choose compiler and flags for ``source``; the user's variables and ``extra_flags`` count."""
    language = LANGUAGES[source.suffix]
    include, lib = prefix / "include", prefix / "lib64"
    flags = ["-O2", f"-I{include}", f"-I{include / 'aclnn'}"]
    flags += _words("CPPFLAGS", os.environ.get("CPPFLAGS", ""))
    flags += _words(language.flags_variable, os.environ.get(language.flags_variable, ""))
    flags += _words("--cxxflags", extra_flags)
    # The rpath lets the program run by itself. -Wl would split a folder's name at its commas.
    link = [f"-L{lib}", "-Xlinker", "-rpath", "-Xlinker", str(lib)]
    link += _words("LDFLAGS", os.environ.get("LDFLAGS", ""))
    return Toolchain(_find_compiler(language), tuple(flags), (*link, *LIBRARIES))


def _find_compiler(language: Language) -> tuple[str, ...]:
    chosen = os.environ.get(language.compiler_variable, "")
    words = _words(language.compiler_variable, chosen)
    if words:
        found = shutil.which(words[0])
        if found is None:
            fail(f"{language.compiler_variable} is {chosen!r}, which is not found", EXIT_NOT_FOUND)
        return (found, *words[1:])
    found = next(filter(None, map(shutil.which, language.compilers)), None)
    if found is None:
        fail(
            f"no {language.name} compiler found: looked for {', '.join(language.compilers)}",
            EXIT_NOT_FOUND,
            hint=f"Install GCC or Clang, or name your compiler in {language.compiler_variable}.",
        )
    return (found,)


def _words(origin: str, text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError as error:
        fail(f"{origin} cannot be split into words: {error}", EXIT_USAGE)
