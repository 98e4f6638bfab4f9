// SPDX-License-Identifier: Apache-2.0
// What happens when the library is loaded.
#include "checkers/tools.h"
#include "observers/install.h"

namespace softnpu {
namespace {

// Linked last, so that it runs when everything that lasts has been made (base/lasting.h).
[[gnu::constructor]] void start() {
  checkers::start_as_asked();
  observers::start_as_asked();
}

}  // namespace
}  // namespace softnpu
