// SPDX-License-Identifier: Apache-2.0
#include "base/environment.h"

#include "base/lines.h"

namespace softnpu {

void say_not_followed(const char* variable, const std::string& expected) {
  say(text("softnpu: ", variable, " is \"", setting(variable),
           "\", which cannot be followed; expected ", expected, "\n"));
}

}  // namespace softnpu
