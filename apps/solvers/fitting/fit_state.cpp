// SPDX-License-Identifier: Apache-2.0
#include "solvers/fitting/fit_state.h"

#include "tessera/autodiff/ops.h"

namespace tessera::apps::fitting {

std::vector<solvers::FitEpoch> curves_in(const data::Checkpoint& c) {
  const std::vector<double>& all = c.array<double>("curves");
  const auto width = static_cast<std::ptrdiff_t>(c.values.at("curves").shape[1]);
  std::vector<solvers::FitEpoch> out;
  for (auto row = all.begin(); row != all.end(); row += width)
    out.push_back({row[0], row[1], row[2], {row + 3, row + width}});
  return out;
}

namespace detail {

void put(data::Checkpoint& c, const std::string& name, const Tensor& t) {
  if (t.dtype() == Dtype::f32)
    c.put(name, t.to_vector<float>());
  else
    c.put(name, t.to_vector<double>());
}
Tensor taken(const data::Checkpoint& c, const std::string& name, const Tensor& like) {
  if (like.dtype() == Dtype::f32) return tensor(c.array<float>(name), like.shape());
  return tensor(c.array<double>(name), like.shape());
}

void put_curves(data::Checkpoint& c, const std::vector<solvers::FitEpoch>& curves) {
  std::vector<double> all;
  for (const solvers::FitEpoch& e : curves) {
    all.insert(all.end(), {e.loss, e.validation, e.rate_factor});
    all.insert(all.end(), e.metrics.begin(), e.metrics.end());
  }
  const std::uint64_t rows = curves.size();
  c.put("curves", all, {rows, rows ? all.size() / rows : 0});
}
}  // namespace detail
}  // namespace tessera::apps::fitting
