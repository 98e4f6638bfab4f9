// SPDX-License-Identifier: Apache-2.0
// Runs when the library is loaded.
#include "checkers/tools.h"
#include "observers/install.h"

namespace softnpu {
namespace {

// Linked last, so that it runs after all `lasting` objects were created (base/lasting.h).
[[gnu::constructor]] void start() {
  checkers::start_as_asked();
  observers::start_as_asked();
}

}  // namespace
}  // namespace softnpu
