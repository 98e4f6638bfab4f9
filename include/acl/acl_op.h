// SPDX-License-Identifier: Apache-2.0
//
// Compiled operators, which softnpu does not support; a program may set their directory. Clean C99
// and C++11.
#ifndef SOFTNPU_INCLUDE_ACL_ACL_OP_H_
#define SOFTNPU_INCLUDE_ACL_ACL_OP_H_

#include "acl_base.h"

#ifdef __cplusplus
extern "C" {
#endif

// Accepted and ignored. The directory need not exist.
ACL_FUNC_VISIBILITY aclError aclopSetModelDir(const char* modelDir);

#ifdef __cplusplus
}
#endif

#endif  // SOFTNPU_INCLUDE_ACL_ACL_OP_H_
