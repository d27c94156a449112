// SPDX-License-Identifier: Apache-2.0
//
// The work of sources: each step that of the brackets' s on the mean of the unknown before and
// after, with e l = E ds and h l = Z0 H ds, s l = -Z0 I and -V.
#pragma once
#include "tessera/electromagnetics/constants.h"
#include "tessera/electromagnetics/yee_scheme.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tessera::electromagnetics::time_domain {

/// Of a scheme that records its injected edges behind all others.
class SourceWork {
 public:
  SourceWork() = default;
  SourceWork(const YeeScheme& scheme, const std::vector<Edge>& injected, double dt_s)
      : parts_(static_cast<std::size_t>(scheme.parts())),
        columns_(scheme.n_recorded()),
        joules_(0.5 * vacuum_permittivity * scheme.reference_length() * scheme.reference_length() *
                speed_of_light * dt_s) {
    for (std::size_t part = 0; part < parts_; ++part)
      for (const Edge& e : injected)
        offsets_.push_back(scheme.offset(e) + static_cast<std::int64_t>(part) *
                                                  (scheme.state_size() / scheme.parts()));
  }

  /// Before steps with the currents `in` [parts, n, injected], or none.
  template <class T>
  void begin(const std::vector<T>& in, const T* state) {
    if (in.empty()) return;
    before_.clear();
    for (const std::int64_t at : offsets_) before_.push_back(static_cast<double>(state[at]));
  }
  /// After them: takes the columns of injected edges out of the records.
  template <class T>
  void end(const std::vector<T>& in, std::vector<T>& records, std::int64_t n) {
    if (offsets_.empty()) return;
    const std::size_t m = offsets_.size() / parts_;
    const std::ptrdiff_t kept = columns_ - static_cast<std::ptrdiff_t>(m);
    auto to = records.begin();
    std::size_t row = 0;
    for (auto from = records.begin(); from != records.end(); from += columns_, ++row) {
      if (!in.empty())
        add(in.data() + row * m, &*(from + kept), row / static_cast<std::size_t>(n) * m, m);
      to = std::copy(from, from + kept, to);
    }
    records.erase(to, records.end());
  }
  double joules() const { return sum_ * joules_; }

 private:
  template <class T>
  void add(const T* in, const T* now, std::size_t first, std::size_t m) {
    for (std::size_t k = 0; k < m; ++k) {
      double& was = before_[first + k];
      sum_ += double(in[k]) * (was + double(now[k]));
      was = double(now[k]);
    }
  }
  std::size_t parts_ = 1;
  std::ptrdiff_t columns_ = 0;
  double joules_ = 0, sum_ = 0;
  std::vector<std::int64_t> offsets_;  ///< [parts, injected]
  std::vector<double> before_;
};

}  // namespace tessera::electromagnetics::time_domain
