// SPDX-License-Identifier: Apache-2.0
// Derivatives of columns of S that are those of other ports.
#include "electromagnetics/waves/case_parts.h"
#include "electromagnetics/waves/likeness.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string>

namespace tessera::apps::waves {
namespace {

namespace em = electromagnetics;

constexpr double kSymmetric = 0.01;  ///< so much of what moves may do so otherwise than its image

using Place = std::array<int, 4>;
Place place_of(const em::Edge& e) { return {e.component, e.i, e.j, e.k}; }

/// What numbers move, beside the circuits of ports: those are compared by themselves.
class Moves {
 public:
  explicit Moves(const Case& c) : c_(c), d_(c.derivatives->media) {
    for (std::size_t k = 0; k < d_.edges.edges.size(); ++k)
      number_[place_of(d_.edges.edges[k])] = k;
    for (const CasePort& p : c.ports)
      if (p.mode.band.at.empty() && !p.lumped.on_wire)
        for (const em::Edge& e : c.elements[p.lumped.element].edges) ports_.insert(place_of(e));
    for (std::size_t k = 0; k < c.options.loads.size() && k < c.elements.size(); ++k)
      for (const em::Edge& e : c.elements[k].edges) loads_.insert(place_of(e));
  }

  bool any(std::size_t name) const {
    const std::size_t n = channels();
    for (std::size_t k = 0; k < d_.edges.edges.size(); ++k)
      if (counts(k) && std::any_of(&d_.moves[name][k * n], &d_.moves[name][k * n] + n,
                                   [](double x) { return x != 0; }))
        return true;
    return false;
  }

  /// By how much of itself it differs from where a turn takes it, of bodies and of loads.
  double apart(std::size_t name, const GridTurn& turn) const {
    const std::vector<double>& moves = d_.moves[name];
    const std::size_t n = channels();
    std::vector<double> size(2 * n), other(2 * n);
    for (std::size_t k = 0; k < d_.edges.edges.size(); ++k) {
      if (!counts(k)) continue;
      const std::optional<em::Edge> to = turn.of(c_.grid, d_.edges.edges[k]);
      if (!to) continue;
      const auto there = number_.find(place_of(*to));
      const std::size_t group = loads_.count(place_of(d_.edges.edges[k])) * n;
      for (std::size_t j = 0; j < n; ++j) {
        const double own = moves[k * n + j],
                     image = there == number_.end() ? 0 : moves[there->second * n + j];
        size[group + j] += std::abs(own), other[group + j] += std::abs(own - image);
      }
    }
    double out = 0;
    for (std::size_t j = 0; j < size.size(); ++j)
      if (size[j] > 0) out = std::max(out, other[j] / size[j]);
    return out;
  }

 private:
  std::size_t channels() const { return static_cast<std::size_t>(d_.edges.channels()); }
  bool counts(std::size_t k) const { return ports_.count(place_of(d_.edges.edges[k])) == 0; }

  const Case& c_;
  const em::MediumDerivatives& d_;
  std::map<Place, std::size_t> number_;
  std::set<Place> ports_, loads_;
};

}  // namespace

void check_moved_likenesses(Case& c, const data::Config& config) {
  const std::vector<std::string>&all = c.derivatives->names,
        &asked = c.options.scattering.derivatives;
  if (c.likenesses.empty() || asked.empty()) return;
  const std::string key = "s_parameters.derivatives";
  const Moves moves(c);
  for (Likeness& x : c.likenesses) {
    const std::string& port = c.options.ports[x.port].name;
    const bool unknown = x.turns.empty();
    for (std::size_t n = 0; n < all.size(); ++n) {
      if (std::find(asked.begin(), asked.end(), all[n]) == asked.end() || !moves.any(n)) continue;
      if (unknown) {
        c.warnings.push_back(warning(
            config, 669, key,
            fmt::format("'{}' moves media or loads, and no turn of the grid takes the ports "
                        "of the same_as of '{}' to each other: whether it moves them as "
                        "the device is alike is not checked",
                        all[n], port),
            "let it be so, or leave same_as out"));
        continue;
      }
      // One turn has to keep all of them: signs are its own.
      std::erase_if(x.turns,
                    [&](const Likeness::Turn& t) { return moves.apart(n, t.turn) > kSymmetric; });
      if (x.turns.empty())
        throw data::InputError(
            data::ExitCode::config_invalid,
            {config.error(642, key,
                          fmt::format("'{}' moves media otherwise than what the same_as of "
                                      "'{}' takes them to",
                                      all[n], port),
                          "let it move both alike, or leave same_as out")});
    }
    if (!unknown && c.channels.size() > 2) x.factor = x.turns.front().factor;
  }
}

}  // namespace tessera::apps::waves
