// SPDX-License-Identifier: Apache-2.0
// An error without a message says nothing to anybody.
// expect: use of deleted function .tessera::Error::Error|no matching constructor.*tessera::Error
#include "tessera/autodiff/error.h"

void with_message() { throw tessera::Error("[op] expected 2, got 3"); }
#ifdef MUST_NOT_COMPILE
void without_message() { throw tessera::Error(); }
#endif
