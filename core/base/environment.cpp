// SPDX-License-Identifier: Apache-2.0
#include "base/environment.h"

#include <cstdio>

namespace softnpu {

void say_not_followed(const char* variable, const std::string& expected) {
  std::fprintf(stderr, "softnpu: %s is \"%s\", which cannot be followed; expected %s\n", variable,
               setting(variable), expected.c_str());
}

}  // namespace softnpu
