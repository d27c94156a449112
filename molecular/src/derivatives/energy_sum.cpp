// SPDX-License-Identifier: Apache-2.0
#include "derivatives/energy_sum.h"

#include "tessera/autodiff/ops.h"

#include <algorithm>
#include <cstring>
#include <mutex>

namespace tessera::molecular {
namespace {

class EnergySum final : public EnergyFunction {
 public:
  EnergySum(std::vector<tessera::Shape> shapes, std::vector<EnergyPart> parts)
      : shapes_(std::move(shapes)), parts_(std::move(parts)) {}
  const char* name() const override { return "energy_sum"; }
  std::vector<tessera::Shape> shapes() const override { return shapes_; }

  double value(Arrays p) const override {
    const std::lock_guard hold(in_use_);
    if (!used_) wanted_.assign(shapes_.size(), false);
    used_ = false;
    if (std::ranges::none_of(wanted_, [](bool w) { return w; })) {
      double sum = 0;
      for (const EnergyPart& part : parts_) sum += part.energy->value(own(part, p));
      return sum;
    }
    at_.resize(shapes_.size());
    gradient_.resize(shapes_.size());
    kept_ = false;
    std::vector<double*> g(shapes_.size(), nullptr);
    for (std::size_t k = 0; k < shapes_.size(); ++k) {
      at_[k].assign(p[k], p[k] + shapes_[k].count());
      gradient_[k].assign(wanted_[k] ? at_[k].size() : 0, 0.0);
      if (wanted_[k]) g[k] = gradient_[k].data();
    }
    const double sum = value_and_gradient(p, g);
    kept_ = true;
    return sum;
  }
  void gradient(Arrays p, Results g) const override {
    const std::lock_guard hold(in_use_);
    used_ = true;
    const bool known = kept_ && holds(p, g);
    wanted_.resize(shapes_.size());
    for (std::size_t k = 0; k < shapes_.size(); ++k) wanted_[k] = g[k] != nullptr;
    if (!known) {
      for (const EnergyPart& part : parts_) part.energy->gradient(own(part, p), own(part, g));
      return;
    }
    for (std::size_t k = 0; k < shapes_.size(); ++k)
      for (std::size_t e = 0; g[k] && e < gradient_[k].size(); ++e) g[k][e] += gradient_[k][e];
  }
  double value_and_gradient(Arrays p, Results g) const override {
    double sum = 0;
    for (const EnergyPart& part : parts_)
      sum += part.energy->value_and_gradient(own(part, p), own(part, g));
    return sum;
  }
  void hessian_product(Arrays p, Arrays v, Results w) const override {
    for (const EnergyPart& part : parts_)
      part.energy->hessian_product(own(part, p), own(part, v), own(part, w));
  }
  Tensor generic(std::span<const Tensor> p) const override {
    Tensor sum;
    for (const EnergyPart& part : parts_) {
      std::vector<Tensor> q;
      for (const std::size_t k : part.operands) q.push_back(p[k]);
      const Tensor u = part.energy->generic(q);
      sum = sum.defined() ? sum + u : u;
    }
    return sum;
  }

 private:
  template <class T>
  static std::vector<T> own(const EnergyPart& part, std::span<T const> all) {
    std::vector<T> out;
    for (const std::size_t k : part.operands) out.push_back(all[k]);
    return out;
  }
  static std::vector<const double*> own(const EnergyPart& part, Arrays all) {
    return own<const double*>(part, all);
  }
  static std::vector<double*> own(const EnergyPart& part, Results all) {
    return own<double*>(part, all);
  }
  /// Whether the gradients that are kept are those wanted, at p.
  bool holds(Arrays p, Results g) const {
    for (std::size_t k = 0; k < shapes_.size(); ++k)
      if ((g[k] && gradient_[k].size() != at_[k].size()) ||
          std::memcmp(at_[k].data(), p[k], at_[k].size() * sizeof(double)) != 0)
        return false;
    return true;
  }

  std::vector<tessera::Shape> shapes_;
  std::vector<EnergyPart> parts_;
  mutable std::mutex in_use_;
  mutable std::vector<bool> wanted_;  ///< by the last gradient
  mutable bool used_ = false;         ///< a gradient was asked for since the last value
  mutable bool kept_ = false;
  mutable std::vector<std::vector<double>> at_, gradient_;
};

}  // namespace

EnergyPtr energy_sum(std::vector<tessera::Shape> shapes, std::vector<EnergyPart> parts) {
  return std::make_shared<EnergySum>(std::move(shapes), std::move(parts));
}

}  // namespace tessera::molecular
