// SPDX-License-Identifier: Apache-2.0
// The checkers for Python: starts them, takes their findings, and reports stacks of Python code.
#include <nanobind/stl/string.h>

#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "bound_function.h"
#include "checkers/findings.h"
#include "checkers/misuse.h"
#include "checkers/site.h"
#include "checkers/tools.h"
#include "gil.h"
#include "raise.h"
#include "sections.h"

namespace softnpu::python {
namespace {

namespace nb = nanobind;

constexpr size_t kDeepest = 24;

std::string text_or_nothing(PyObject* string) {
  const char* const bytes = PyUnicode_AsUTF8(string);
  if (bytes == nullptr) PyErr_Clear();
  return bytes == nullptr ? "" : bytes;
}

// A place in Python code, and what is known of it. The code is never released, so that no other
// gets its address.
struct CodeLine {
  PyCodeObject* code;
  int line;
  bool operator==(const CodeLine&) const = default;
};
struct HashCodeLine {
  size_t operator()(const CodeLine& one) const {
    return std::hash<const void*>()(one.code) * 31 + static_cast<size_t>(one.line);
  }
};

// Requires the GIL.
const checkers::Frame* describe(PyFrameObject* frame) {
  static auto& known = *new std::unordered_map<CodeLine, checkers::Frame, HashCodeLine>;
  PyCodeObject* const code = PyFrame_GetCode(frame);
  const auto [found, is_new] = known.try_emplace({code, PyFrame_GetLineNumber(frame)});
  if (is_new)
    found->second = {text_or_nothing(code->co_name), text_or_nothing(code->co_filename),
                     found->first.line, 0};
  else
    Py_DECREF(code);
  return &found->second;
}

// Returns false in threads that run no Python code, and after the interpreter has ended.
bool python_frames(std::vector<const checkers::Frame*>& out) {
  if (!Py_IsInitialized()) return false;
  const GilAcquire gil;
  PyFrameObject* frame = PyThreadState_GetFrame(PyThreadState_Get());
  out.reserve(kDeepest);
  while (frame != nullptr && out.size() < kDeepest) {
    out.push_back(describe(frame));
    PyFrameObject* const outer = PyFrame_GetBack(frame);
    Py_DECREF(frame);
    frame = outer;
  }
  Py_XDECREF(frame);
  return !out.empty();
}

void start_checks(const std::string& tools, int last_words) {
  const auto parsed = checkers::parse_tools(tools);
  if (!parsed)
    raise(PyExc_ValueError, "check-tools"_rule,
          text("tools is \"", tools, "\"; expected ", checkers::kToolLists));
  checkers::keep_findings(last_words);
  checkers::start(*parsed);
}

nb::list take_findings() {
  nb::list out;
  for (const std::string& line : checkers::take_findings()) out.append(line.c_str());
  return out;
}

}  // namespace

void bind_checks(nb::module_& m) {
  checkers::set_stack_source(&python_frames);
  define(m, "start_checks", &start_checks, nb::arg("tools"), nb::arg("last_words"),
         "Start checkers, which keep what they find until it is taken. A finding that ends the "
         "process is written to the descriptor last_words.");
  m.def("take_findings", &take_findings, nb::sig("def take_findings() -> list[str]"),
        "What was found since the last call: a JSON object for each finding.");
  m.def(
      "finding_of", [](const std::string& rule) { return checkers::finding_of(rule); },
      nb::arg("rule"), "As what a call that breaks the rule is reported, as TOOL/KIND, or \"\".");
  m.def("check_moment", &checkers::moment, "Count what was made so far, for look_for_leaks().");
  define(m, "look_for_leaks", &checkers::look_for_leaks, nb::arg("since"),
         "Report what is alive and was made after that moment.");
}

}  // namespace softnpu::python
