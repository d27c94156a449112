// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/autodiff/error.h"

#include <string>

namespace tessera::testing {

/// What the Error that `f` throws says; empty where it throws none.
std::string message_of(auto&& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

}  // namespace tessera::testing
