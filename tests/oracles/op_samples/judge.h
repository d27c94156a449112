// SPDX-License-Identifier: Apache-2.0
//
// One case: what torch found (samples.py) against what the engine finds, in every mode.
#pragma once
#include "table.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tessera::oracle {

struct Case {
  std::string id, op;
  std::vector<Value> places;
  std::vector<std::pair<std::string, Value>> names;
  std::vector<Tensor> tensors;
  bool narrow = false;  ///< torch computed in f64 what we compute in f32
  bool rough = false;   ///< torch's second derivatives are differences
  std::vector<Tensor> value, tangents, weights;
  std::optional<std::vector<Tensor>> vjp, jvp, second;
  std::vector<double> value_moved, vjp_moved, jvp_moved, second_moved;
  std::vector<int> live;  ///< the floating results that depend on the arguments
  std::uint64_t seed = 0;
};

struct Finding {
  std::string check, what;
  double times = 0;  ///< the difference in units of what is allowed, where that is what is wrong
};
struct Verdict {
  std::map<std::string, double>
      done;  ///< checks, each with its largest difference in units of what is allowed
  std::vector<Finding> failed;
};

Verdict judge(const Case& c, const Op& op);

}  // namespace tessera::oracle
