// SPDX-License-Identifier: Apache-2.0
// Which checkers run.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/export.h"
#include "checkers/findings.h"

namespace softnpu::checkers {

class Tools {
 public:
  constexpr void add(Tool tool) { bits_ |= 1u << static_cast<unsigned>(tool); }
  constexpr bool have(Tool tool) const { return bits_ >> static_cast<unsigned>(tool) & 1u; }

 private:
  unsigned bits_ = 0;
};

constexpr char kToolLists[] =
    "all, or some of memcheck,initcheck,racecheck,synccheck,leakcheck,apicheck";

// Parses "all", "1", or a comma-separated list; nothing if a name is unknown.
SOFTNPU_EXPORT std::optional<Tools> parse_tools(std::string_view list);

void start_as_asked();

// Installs the checkers, once. Memory that was allocated before stays accessible to the program.
SOFTNPU_EXPORT void start(Tools tools);

// moment() returns the ledger's current time; look_for_leaks() reports objects created after it.
SOFTNPU_EXPORT uint64_t moment();
SOFTNPU_EXPORT void look_for_leaks(uint64_t since);

}  // namespace softnpu::checkers
