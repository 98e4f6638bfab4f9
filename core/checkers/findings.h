// SPDX-License-Identifier: Apache-2.0
// Reports of the checkers, and where they go.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/export.h"
#include "checkers/site.h"

namespace softnpu::checkers {

enum class Tool : uint8_t { memcheck, initcheck, racecheck, synccheck, leakcheck };
constexpr std::string_view kToolNames[] = {"memcheck", "initcheck", "racecheck", "synccheck",
                                           "leakcheck"};

struct Part {
  std::string role;  // "was freed here"
  SharedSite site;
};

struct Finding {
  Tool tool;
  std::string_view kind;  // "use-after-free"
  std::string headline;
  std::vector<Part> parts;  // the first is where it was found
  std::string_view suggestion;
};

// Reads SOFTNPU_CHECK_REPORT.
void choose_report();

// Writes it: as a line of JSON to the file that SOFTNPU_CHECK_REPORT names, or keeps it for
// take_findings(), or writes text to stderr. The same finding at the same place is written once.
void report(const Finding& finding);

// How many were written.
size_t finding_count();

// From now on findings are kept until they are taken, each as a line of JSON.
SOFTNPU_EXPORT void keep_findings();
SOFTNPU_EXPORT std::vector<std::string> take_findings();

}  // namespace softnpu::checkers
