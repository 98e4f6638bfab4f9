// SPDX-License-Identifier: Apache-2.0
#include "base/environment.h"

#include "base/lines.h"

namespace softnpu {

void report_invalid_setting(const char* variable, const std::string& expected) {
  print_to_stderr(text("softnpu: ", variable, " is \"", setting(variable),
                       "\", an invalid value; expected ", expected, "\n"));
}

}  // namespace softnpu
