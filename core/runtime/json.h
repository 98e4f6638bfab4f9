// SPDX-License-Identifier: Apache-2.0
// Validates JSON (RFC 8259). The contents of a configuration file are not used, but an invalid file
// must be reported.
#pragma once

#include <string_view>

#include "base/status.h"

namespace softnpu::runtime {

// The message of a failure has the line and the column of the error.
Status check_json(std::string_view text);

}  // namespace softnpu::runtime
