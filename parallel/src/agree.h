// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/parallel/communicator.h"

namespace tessera::parallel {

/// What is wrong on any rank is thrown on all: the words of the first that has some, behind [op].
void agree_that_all_is_well(const char* op, Communicator& c, const std::string& wrong,
                            SourceLine line);

}  // namespace tessera::parallel
