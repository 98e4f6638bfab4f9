// SPDX-License-Identifier: Apache-2.0
// A program uses the device without aclInit.
#include "program.h"

int main() {
#ifdef REPAIRED
  must(aclInit(nullptr));
#endif
  must(aclrtSetDevice(0));
  must(aclrtFree(floats()));
  must(aclrtResetDevice(0));
#ifdef REPAIRED
  must(aclFinalize());
#endif
}
