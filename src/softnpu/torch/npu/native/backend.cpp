// SPDX-License-Identifier: Apache-2.0
// PyTorch's device `npu`. All parts are one translation unit: PyTorch's headers take most of the
// compiler's time, and users wait for it at the first import.
// clang-format off: each part uses those before it
#include "devices.cpp"
#include "autograd.cpp"
#include "streams.cpp"
#include "work.cpp"
#include "blocks.cpp"
#include "memory.cpp"
#include "late.cpp"
#include "pinned.cpp"
#include "generators.cpp"
#include "hooks.cpp"
#include "aliases.cpp"
#include "fallback.cpp"
#include "collectives.cpp"
#include "copies.cpp"
#include "kernels.cpp"
#include "widened.cpp"
#include "autocast.cpp"
#include "functions.cpp"
