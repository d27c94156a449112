// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdexcept>
#include <string>

namespace tessera {

/// Base of everything Tessera throws on bad input or a failed outside call.
/// The message names the operation, what was expected and what came.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace tessera
