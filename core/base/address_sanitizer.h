// SPDX-License-Identifier: Apache-2.0
// AddressSanitizer must be told which bytes of our own allocators are in use.
#pragma once

#if defined(__SANITIZE_ADDRESS__)
#define SOFTNPU_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SOFTNPU_ADDRESS_SANITIZER 1
#endif
#endif
#ifdef SOFTNPU_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(begin, size) ((void)(begin), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(begin, size) ((void)(begin), (void)(size))
#endif
