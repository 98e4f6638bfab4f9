// SPDX-License-Identifier: Apache-2.0
// Whether a text is JSON (RFC 8259). Nothing in a configuration file has a meaning here, but a
// broken one must be reported.
#pragma once

#include <string_view>

#include "base/status.h"

namespace softnpu::runtime {

// A failure says in which line and column the text stops being JSON.
Status check_json(std::string_view text);

}  // namespace softnpu::runtime
