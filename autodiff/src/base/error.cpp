// SPDX-License-Identifier: Apache-2.0
#include "tessera/autodiff/error.h"
