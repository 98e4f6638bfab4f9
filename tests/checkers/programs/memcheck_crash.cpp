// SPDX-License-Identifier: Apache-2.0
// The program crashes by itself: it writes to memory that it has not allocated.
#include "program.h"

int main() {
  begin();
#ifndef REPAIRED
  float* results = nullptr;
#else
  float results[4];
#endif
  for (int i = 0; i < 4; ++i) results[i] = 0.0f;
  std::printf("%f\n", results[3]);
  end();
}
