// SPDX-License-Identifier: Apache-2.0
// Marks what other libraries of softnpu may use; everything else is hidden.
#pragma once

#define SOFTNPU_EXPORT __attribute__((visibility("default")))
