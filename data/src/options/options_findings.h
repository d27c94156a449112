// SPDX-License-Identifier: Apache-2.0
// What is wrong with one configuration: the first 50 findings, the rest counted. Private to data/.
#pragma once
#include "tessera/data/config.h"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace tessera::data::detail {

class Findings {
 public:
  explicit Findings(const Config& config) : config_(config) {
    for (const Diagnostic& d : config.findings)
      if (room()) list_.push_back(d);
  }

  /// Counts one more. False where it need not be built.
  bool room() { return ++count_ <= kMost; }
  std::size_t count() const { return count_; }
  void error(int number, const Origin& at, std::string message, std::string hint = {}) {
    if (room()) list_.push_back(config_.error(number, at, std::move(message), std::move(hint)));
  }
  /// One for which room was asked.
  void keep(Diagnostic d) { list_.push_back(std::move(d)); }
  void add(std::vector<Diagnostic> some) {
    for (Diagnostic& d : some)
      if (room()) keep(std::move(d));
  }

  /// All in the order of the file.
  std::vector<Diagnostic> sorted() && {
    std::stable_sort(list_.begin(), list_.end(), [](const Diagnostic& a, const Diagnostic& b) {
      return std::tie(a.place.file, a.place.line, a.place.column) <
             std::tie(b.place.file, b.place.line, b.place.column);
    });
    if (count_ > kMost)
      list_.push_back(
          Diagnostic{.severity = Severity::note,
                     .place = {config_.path(), 0, 0, {}},
                     .message = std::to_string(count_ - kMost) + " more errors are not shown"});
    return std::move(list_);
  }

 private:
  static constexpr std::size_t kMost = 50;
  const Config& config_;
  std::vector<Diagnostic> list_;
  std::size_t count_ = 0;
};

}  // namespace tessera::data::detail
