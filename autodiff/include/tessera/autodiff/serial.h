// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tessera {

/// While it lives, the kernels of this thread use no other: for threads of one's own, as those that
/// read ahead, beside which set_num_threads is for the rest. Results do not depend on it.
class Serial {
 public:
  Serial();
  ~Serial();
  Serial(const Serial&) = delete;
  Serial& operator=(const Serial&) = delete;

 private:
  bool before_;
};

}  // namespace tessera
