// SPDX-License-Identifier: Apache-2.0
#include "gil.h"

#include <unistd.h>

namespace softnpu::python {

void stay() noexcept {
  for (;;) pause();
}

}  // namespace softnpu::python
