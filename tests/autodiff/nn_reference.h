// SPDX-License-Identifier: Apache-2.0
//
// PyTorch's values and gradients, references/nn_reference.csv, and functions beside them.
#pragma once
#include "csv_cells.h"
#include "tessera/autodiff/check.h"
#include "tessera/autodiff/ops.h"
#include "test_paths.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <sstream>

namespace tessera::testing {

using Tensors = std::vector<Tensor>;
using TensorFunction = std::function<Tensor(const Tensors&)>;

struct PyTorchCase {
  Tensors x, gradients;  ///< of operands that are not real: undefined
  Tensor y, c;
};

inline std::map<std::string, PyTorchCase> pytorch_cases() {
  std::map<std::string, PyTorchCase> all;
  for (const auto& cells :
       csv_cells(std::string(TESSERA_SOURCE_DIR) + "/tests/autodiff/references/nn_reference.csv")) {
    const std::string& what = cells[1];
    Shape shape;
    std::istringstream sizes(cells[2]);
    for (std::string n; std::getline(sizes, n, 'x');) shape.push_back(std::stol(n));
    std::vector<double> v;
    for (std::size_t k = 3; k < cells.size(); ++k) v.push_back(std::stod(cells[k]));
    const Tensor t = tensor(v, shape);
    PyTorchCase& r = all[cells[0]];
    if (what == "y") r.y = t;
    if (what == "c") r.c = t;
    if (what[0] == 'x') r.x.push_back(t);
    if (what[0] == 'g') {
      const auto k = static_cast<std::size_t>(std::stoul(what.substr(1)));
      r.gradients.resize(r.x.size());
      r.gradients[k] = t;
    }
  }
  return all;
}

/// Largest difference over the largest modulus.
inline double deviation(const Tensor& a, const Tensor& b) {
  if (a.size() != b.size()) return std::numeric_limits<double>::infinity();
  const std::vector<double> x = a.to_vector(), y = b.to_vector();
  double most = 0, scale = 1e-300;
  for (std::size_t i = 0; i < x.size(); ++i) {
    most = std::max(most, std::abs(x[i] - y[i]));
    scale = std::max(scale, std::abs(y[i]));
  }
  return most / scale;
}

/// The function of its real operands; the others stay.
inline FlatFunction of_real_operands(const TensorFunction& f, const PyTorchCase& r) {
  return [f, r](const Tensors& real) {
    Tensors all = r.x;
    std::size_t next = 0;
    for (std::size_t k = 0; k < all.size(); ++k)
      if (r.gradients[k].defined()) all[k] = real[next++];
    return Tensors{f(all)};
  };
}
inline Tensors real_operands(const PyTorchCase& r) {
  Tensors real;
  for (std::size_t k = 0; k < r.x.size(); ++k)
    if (r.gradients[k].defined()) real.push_back(r.x[k]);
  return real;
}

/// Values to `of_values` and gradients to 1e-12 of the largest entry, for every function.
inline void expect_pytorchs(const std::map<std::string, TensorFunction>& functions,
                            double of_values) {
  const auto reference = pytorch_cases();
  for (const auto& [name, given] : functions) {
    ASSERT_TRUE(reference.contains(name)) << name;
    const PyTorchCase& r = reference.at(name);
    const FlatFunction f = of_real_operands(given, r);
    const auto weighted = [&](const Tensors& x) {
      return sum(reshape(f(x)[0], r.c.shape()) * r.c);
    };
    const auto [value, g] = value_and_grad(weighted)(real_operands(r));
    EXPECT_LE(deviation(f(real_operands(r))[0], r.y), of_values) << name;
    std::size_t next = 0;
    // The statistics that run along have no derivative; PyTorch's case gives 0, too.
    for (std::size_t k = 0; k < r.gradients.size(); ++k) {
      if (!r.gradients[k].defined()) continue;
      EXPECT_LE(deviation(g[next++], r.gradients[k]), 1e-12) << name << ", operand " << k;
    }
  }
}

/// Second derivatives against differences, but for those `without`; batches for all.
inline void expect_orders_and_batches(const std::map<std::string, TensorFunction>& functions,
                                      const std::set<std::string>& without = {}) {
  const auto reference = pytorch_cases();
  for (const auto& [name, given] : functions) {
    const PyTorchCase& r = reference.at(name);
    const FlatFunction f = of_real_operands(given, r);
    const Tensors x = real_operands(r);
    if (!without.contains(name)) {
      const CheckReport report = detail::gradcheck_flat(f, x, {.order = 2});
      EXPECT_TRUE(report) << name << ": " << to_string(report);
    }
    const CheckReport report = detail::vmap_check_flat(f, detail::samples_near(x, 1), {});
    EXPECT_TRUE(report) << name << ": " << to_string(report);
  }
}

}  // namespace tessera::testing
