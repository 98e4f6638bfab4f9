// SPDX-License-Identifier: Apache-2.0
// Findings of the checkers, and their output.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/export.h"
#include "checkers/site.h"

namespace softnpu::checkers {

enum class Tool : uint8_t { memcheck, initcheck, racecheck, synccheck, leakcheck, apicheck };
constexpr std::string_view kToolNames[] = {"memcheck",  "initcheck", "racecheck",
                                           "synccheck", "leakcheck", "apicheck"};

struct Part {
  std::string role;  // "was freed here"
  SharedSite site;
};

struct Finding {
  Tool tool;
  std::string_view kind;  // "use-after-free"
  std::string headline;
  std::vector<Part> parts;  // the first is where the problem was found
  std::string suggestion;
  std::string_view rule = {};  // that a call broke
};

void choose_report();

// Reports a finding: as a line of JSON in the file that SOFTNPU_CHECK_REPORT names, or kept for
// take_findings(), or as text on stderr. The same finding at the same place is reported once.
void report(const Finding& finding);

// The same for the last finding before the process ends: it is not kept, but also written to the
// descriptor that keep_findings() got.
void report_last(const Finding& finding);

size_t finding_count();

// Keeps findings, as lines of JSON, until they are taken. One that ends the process is written to
// the descriptor as text.
SOFTNPU_EXPORT void keep_findings(int last_words);
SOFTNPU_EXPORT std::vector<std::string> take_findings();

}  // namespace softnpu::checkers
