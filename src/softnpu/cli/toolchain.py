# SPDX-License-Identifier: Apache-2.0
"""Selects the system's compiler and its flags."""

import os
import re
import shlex
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from softnpu.cli.child import Outcome, run_in_group
from softnpu.cli.output import EXIT_NOT_FOUND, EXIT_USAGE, fail


@dataclass(frozen=True)
class Language:
    """The differences between C and C++."""

    name: str
    compilers: tuple[str, ...]
    compiler_variable: str
    flags_variable: str


C = Language("C", ("cc", "gcc", "clang"), "CC", "CFLAGS")
CXX = Language("C++", ("c++", "g++", "clang++"), "CXX", "CXXFLAGS")
LANGUAGES = {".c": C, ".cpp": CXX, ".cc": CXX, ".cxx": CXX, ".c++": CXX, ".C": CXX}

LIBRARIES = ("-lhccl", "-lopapi", "-lnnopbase", "-lascendcl", "-pthread", "-ldl", "-lm")

# Flags with which a program depends only on its preprocessed text. Other flags may refer to a file
# or a library. -L is harmless only because -l is not listed.
_TEXT_ONLY = re.compile(
    r"-(w|ansi|pipe|pthread|pedantic(-errors)?|shared|no-pie|pie|rdynamic|s"
    r"|[OLDUI].+|O|std=.+|g[\w-]*|m[\w.,=+-]+|W(?![lap],)[\w=+-]+"
    r"|f(?!auto-profile|branch-|module|plugin|profile)[\w-]+(=[\w,+-]+)?"
    r"|Wl(,-O\d|,--(no-)?as-needed|,--gc-sections|,--sort-common|,-z,\w+|,-rpath,[^,]+)+)"
)
_WITH_VALUE = ("-D", "-U", "-I", "-L", "-include", "-imacros", "-isystem", "-iquote", "-idirafter")
# Assembling such text reads a file that the preprocessor has not seen.
_READS_FILES = re.compile(rb"\.inc(bin|lude)\b|^\s*#\s*embed\b", re.MULTILINE)


@dataclass(frozen=True)
class Toolchain:
    """A compiler as a command prefix, and the flags that build a program against the SDK."""

    compiler: tuple[str, ...]
    compile_flags: tuple[str, ...]
    link_flags: tuple[str, ...]
    # The user's own flags.
    users_flags: tuple[str, ...] = ()

    def preprocess(self, source: Path) -> Outcome:
        """Preprocess the program's text, with line markers.

        A program can query its lines and files without __LINE__ and __FILE__.
        """
        command = [*self.compiler, *self.compile_flags, "-E", as_argument(source)]
        return _run(command, capture=True)

    def reads_only(self, text: bytes) -> bool:
        """Whether a program depends only on its preprocessed ``text`` and system libraries."""
        if _READS_FILES.search(text):
            return False
        programs = self._programs()
        words = iter((*(word for word in self.compiler if word not in programs), *self.users_flags))
        for word in words:
            if word in _WITH_VALUE:
                next(words, None)
            elif not _TEXT_ONLY.fullmatch(word):
                return False
        return True

    def build(self, source: Path, output: Path) -> int:
        """Compile and link; the compiler prints to our stderr. Returns its exit status."""
        return self.link([source], output).status or 0

    def link(self, sources: Sequence[Path], output: Path, capture: bool = False) -> Outcome:
        """Compile several sources into one file, as `build` does."""
        files = [*map(as_argument, sources), "-o", as_argument(output)]
        command = [*self.compiler, *self.compile_flags, *files, *self.link_flags]
        return _run(command, capture)

    def identity(self) -> list[str]:
        """Return a fingerprint of the compiler: its command, and the files of its programs."""
        found = list(self.compiler)
        for program in self._programs().values():
            file = Path(program).resolve()
            stat = file.stat()
            found += [str(file), str(stat.st_size), str(stat.st_mtime_ns)]
        return found

    def _programs(self) -> dict[str, str]:
        """Find the programs in the compiler's command: one, or a launcher and what it launches."""
        files = {word: shutil.which(word) for word in self.compiler if not word.startswith("-")}
        return {word: file for word, file in files.items() if file}


_NO_HEADER = re.compile(rb"aclnnop/(\w+/)?aclnn_\w+\.h")


def advice(errors: bytes) -> str:
    """Say what to do if a compiler did not find an operator's header; else nothing."""
    missing = _NO_HEADER.search(errors)
    if not missing:
        return ""
    return (
        f"softnpu has no {missing[0].decode()}. `softnpu ops` lists the operators that it has; to "
        "add one, see `softnpu build --help` and docs/own-operators.md. If it is one of your own, "
        "name its folder by --operators."
    )


def _run(command: list[str], capture: bool) -> Outcome:
    try:
        return run_in_group(command, capture=capture)
    except OSError as error:
        fail(f"cannot run the compiler {command[0]}: {error.strerror}", EXIT_NOT_FOUND)


def as_argument(file: Path) -> str:
    """Format a path so that no program reads it as an option or a list of options."""
    # A Path does not keep the user's leading ./
    return f"./{file}" if str(file).startswith(("-", "@")) else str(file)


def toolchain_for(source: Path, prefix: Path, extra_flags: str) -> Toolchain:
    """Choose compiler and flags for ``source``, with the user's variables and ``extra_flags``."""
    return toolchain_of(LANGUAGES[source.suffix], prefix, extra_flags)


def toolchain_of(language: Language, prefix: Path, extra_flags: str) -> Toolchain:
    """Choose compiler and flags for a language."""
    include, lib = prefix / "include", prefix / "lib64"
    # With DWARF 5, some releases of addr2line confuse the lines of inlined headers and the source.
    folders = (include, include / "aclnn", include / "aclnnop")
    # Calls at the end of a function stay calls: `softnpu check` names the function.
    kept = "-fno-optimize-sibling-calls"
    flags = ("-O2", "-gdwarf-4", kept, *(f"-I{folder}" for folder in folders))
    users = _words("CPPFLAGS", os.environ.get("CPPFLAGS", ""))
    users += _words(language.flags_variable, os.environ.get(language.flags_variable, ""))
    users += _words("--cxxflags", extra_flags)
    # With the rpath, the program finds the libraries. -Wl would split a folder's name at commas.
    link = (f"-L{lib}", "-Xlinker", "-rpath", "-Xlinker", str(lib))
    users_link = _words("LDFLAGS", os.environ.get("LDFLAGS", ""))
    return Toolchain(
        find_compiler(language),
        (*flags, *users),
        (*link, *users_link, *LIBRARIES),
        (*users, *users_link),
    )


def find_compiler(language: Language) -> tuple[str, ...]:
    """Find the user's compiler or one of the system's; end the command if there is none."""
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
            hint="Install GCC or Clang (Debian and Ubuntu: apt install g++; Fedora and openEuler: "
            f"dnf install gcc-c++), or name your compiler in {language.compiler_variable}.",
        )
    return (found,)


def _words(origin: str, text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError as error:
        fail(f"{origin} cannot be split into words: {error}", EXIT_USAGE)
