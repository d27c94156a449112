// SPDX-License-Identifier: Apache-2.0
//
// ONNX's own tests of single operators (Debian's package libonnx-testdata): a model, its inputs and
// what it makes of them, in files of their own.
#pragma once
#include "tessera/autodiff/ops.h"
#include "tessera/data/diagnostic.h"
#include "tessera/data/onnx.h"

#include <filesystem>
#include <string>
#include <vector>

namespace tessera::testing {

/// As ONNX's own runner compares: |ours - theirs| <= 1e-7 + 1e-3 |theirs|.
inline bool close_as_onnx_has_it(const Tensor& ours, const Tensor& theirs) {
  if (!(ours.type() == theirs.type())) return false;
  if (ours.size() == 0) return true;
  const Tensor a = cast(ours, Dtype::f64), b = cast(theirs, Dtype::f64);
  const Tensor same = logical_or(equal(a, b), logical_and(not_equal(a, a), not_equal(b, b)));
  return all(logical_or(same, abs(a - b) <= 1e-7 + 1e-3 * abs(b))).item<bool>();
}

/// "passed"; "refused: ..." by operator or type (E0441); "failed: ..." anything else.
inline std::string outcome_of_onnx_test(const std::filesystem::path& test) {
  namespace fs = std::filesystem;
  try {
    const data::OnnxNetwork net = data::read_onnx(test / "model.onnx");
    for (int set = 0; fs::exists(test / ("test_data_set_" + std::to_string(set))); ++set) {
      const auto file = [&](const char* kind, std::size_t k) {
        return test / ("test_data_set_" + std::to_string(set)) / (kind + std::to_string(k) + ".pb");
      };
      std::vector<Tensor> x;
      for (std::size_t k = 0; fs::exists(file("input_", k)); ++k)
        x.push_back(data::read_onnx_tensor(file("input_", k)).values);
      const std::vector<Tensor> y = net(x);
      for (std::size_t k = 0; k < y.size(); ++k)
        if (!close_as_onnx_has_it(y[k], data::read_onnx_tensor(file("output_", k)).values))
          return "failed: result " + std::to_string(k) + " is " + to_string(y[k].type());
    }
    return "passed";
  } catch (const data::InputError& e) {
    const data::Diagnostic& d = e.findings().front();
    return (d.number == 441 ? "refused: " : "failed: ") + d.message;
  } catch (const std::exception& e) {
    return std::string("failed: ") + e.what();
  }
}

}  // namespace tessera::testing
