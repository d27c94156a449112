// SPDX-License-Identifier: Apache-2.0
#include "tessera/inversion/nuts.h"

#include "tessera/autodiff/error.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace tessera::inversion {
namespace {

using Numbers = std::vector<double>;
constexpr double infinity = std::numeric_limits<double>::infinity();

double dot(const Numbers& a, const Numbers& b) {
  double s = 0;
  for (std::size_t k = 0; k < a.size(); ++k) s += a[k] * b[k];
  return s;
}
double log_of_sum(double a, double b) {  // ln(e^a + e^b)
  const double top = std::max(a, b);
  return top == -infinity ? top : top + std::log(std::exp(a - top) + std::exp(b - top));
}

/// A point of a trajectory.
struct Point {
  Numbers x, gradient, p, velocity;
  double log_density = 0;
  double energy() const { return -log_density + 0.5 * dot(p, velocity); }
};

/// Part of a trajectory, its ends in the order of time.
struct Piece {
  Point first, last;
  Numbers momentum;               ///< sum over its points
  Numbers x, gradient;            ///< of the state that was drawn from it
  double log_density = 0;         ///< of this state
  double log_weight = -infinity;  ///< ln of the sum of e^(H0 - H)
  bool goes_on = true;            ///< no U-turn, no divergence
};

/// Random numbers of one step of the chain, one behind the other.
struct Draws {
  data::RandomKey key;
  std::uint64_t counter;
  double uniform() { return data::uniform(key, counter++); }
};

class Trajectory {
 public:
  Trajectory(const LogDensity& density, const Metric& metric, double step, double energy,
             double max_error, Draws& draws)
      : density_(density),
        metric_(metric),
        step_(step),
        energy_(energy),
        max_error_(max_error),
        draws_(draws) {}

  /// 2^depth leapfrog steps from `from`, in the direction +-1.
  Piece grow(const Point& from, int depth, int direction) {
    if (depth == 0) return one_step(from, direction);
    Piece a = grow(from, depth - 1, direction);
    if (!a.goes_on) return a;
    Piece b = grow(direction > 0 ? a.last : a.first, depth - 1, direction);
    const double share = b.log_weight - log_of_sum(a.log_weight, b.log_weight);
    return joined(std::move(a), std::move(b), direction, share);
  }

  /// Two neighbouring pieces, `b` the later one in `direction`; its state is taken with e^share.
  Piece joined(Piece a, Piece b, int direction, double share) {
    Piece out;
    out.log_weight = log_of_sum(a.log_weight, b.log_weight);
    const bool take = b.goes_on && std::log(draws_.uniform()) < share;
    const Piece& chosen = take ? b : a;
    out.x = chosen.x, out.gradient = chosen.gradient, out.log_density = chosen.log_density;
    Piece &early = direction > 0 ? a : b, &late = direction > 0 ? b : a;
    out.momentum = early.momentum;
    for (std::size_t k = 0; k < out.momentum.size(); ++k) out.momentum[k] += late.momentum[k];
    // No U-turn of the whole, nor of either piece with the nearest point of the other (Stan's two
    // further checks: without them a periodic trajectory may close unseen).
    const auto open = [](const Numbers& sum, const Point& from, const Point& to) {
      return dot(sum, from.velocity) > 0 && dot(sum, to.velocity) > 0;
    };
    Numbers with_next = early.momentum, with_former = late.momentum;
    for (std::size_t k = 0; k < with_next.size(); ++k) {
      with_next[k] += late.first.p[k];
      with_former[k] += early.last.p[k];
    }
    out.goes_on = a.goes_on && b.goes_on && open(out.momentum, early.first, late.last) &&
                  open(with_next, early.first, late.first) &&
                  open(with_former, early.last, late.last);
    out.first = std::move(early.first), out.last = std::move(late.last);
    return out;
  }

  double acceptance_sum = 0;
  std::uint64_t leaps = 0;
  bool divergent = false;

 private:
  Piece one_step(const Point& from, int direction) {
    Piece out;
    Point at = from;
    const double h = direction * step_;
    for (std::size_t k = 0; k < at.x.size(); ++k) at.p[k] += 0.5 * h * at.gradient[k];
    const Numbers half = metric_.times(at.p);
    for (std::size_t k = 0; k < at.x.size(); ++k) at.x[k] += h * half[k];
    at.log_density = density_.value(at.x, at.gradient);
    for (std::size_t k = 0; k < at.x.size(); ++k) at.p[k] += 0.5 * h * at.gradient[k];
    at.velocity = metric_.times(at.p);
    ++leaps;
    const double excess = at.energy() - energy_;
    const bool finite = std::isfinite(excess);
    out.log_weight = finite ? -excess : -infinity;
    acceptance_sum += finite ? std::min(1.0, std::exp(-excess)) : 0.0;
    if (!finite || excess > max_error_) divergent = true, out.goes_on = false;
    out.momentum = at.p, out.x = at.x, out.gradient = at.gradient;
    out.log_density = at.log_density;
    out.first = at;
    out.last = std::move(at);
    return out;
  }

  const LogDensity& density_;
  const Metric& metric_;
  double step_, energy_, max_error_;
  Draws& draws_;
};

}  // namespace

Metric unit_metric() {
  const auto same = [](const Numbers& v) { return v; };
  return {same, same};
}
Metric diagonal_metric(Numbers variance) {
  Metric m;
  m.times = [variance](const Numbers& p) {
    Numbers v = p;
    for (std::size_t k = 0; k < v.size(); ++k) v[k] *= variance[k];
    return v;
  };
  m.draw = [variance](const Numbers& xi) {
    Numbers p = xi;
    for (std::size_t k = 0; k < p.size(); ++k) p[k] /= std::sqrt(variance[k]);
    return p;
  };
  return m;
}

Nuts::Nuts(LogDensity density, Metric metric, NutsOptions options)
    : density_(std::move(density)), metric_(std::move(metric)), options_(options) {
  if (density_.size == 0 || !(options.target_acceptance > 0 && options.target_acceptance < 1) ||
      options.max_doublings < 1 || options.keep_every < 1)
    throw Error(
        "[Nuts] needs a density of one number or more, an acceptance between 0 and 1, one "
        "doubling at least, and to keep each state or one of several");
}

NutsChain Nuts::start(Numbers x) const {
  if (x.size() != density_.size) throw Error("[Nuts] the start has another size than the density");
  NutsChain chain{.x = std::move(x)};
  chain.gradient.resize(density_.size);
  chain.log_density = density_.value(chain.x, chain.gradient);
  chain.gradients = 1;
  if (!std::isfinite(chain.log_density))
    throw Error("[Nuts] the density at the start is 0 or not finite");
  // Halve or double until the acceptance of a step crosses one half.
  Draws draws{{options_.key.seed, ~options_.key.stream}, 0};
  Numbers xi(density_.size);
  for (std::size_t k = 0; k < xi.size(); ++k) xi[k] = data::normal(draws.key, k);
  Point at{.x = chain.x, .gradient = chain.gradient, .p = metric_.draw(xi)};
  at.log_density = chain.log_density;
  at.velocity = metric_.times(at.p);
  const auto log_acceptance = [&](double log_step) {
    Trajectory t(density_, metric_, std::exp(log_step), at.energy(), infinity, draws);
    ++chain.gradients;
    return t.grow(at, 0, 1).log_weight;
  };
  double log_step = 0;
  const bool larger = log_acceptance(log_step) > std::log(0.5);
  for (int k = 0; k < 60; ++k) {
    const double next = log_step + (larger ? std::log(2.0) : -std::log(2.0));
    const bool good = log_acceptance(next) > std::log(0.5);
    if (larger && !good) break;
    log_step = next;
    if (!larger && good) break;
  }
  chain.log_step = chain.log_step_first = log_step;
  return chain;
}

bool Nuts::advance(NutsChain& chain, std::uint64_t until) const {
  const std::size_t n = density_.size;
  if (chain.x.size() != n || chain.gradient.size() != n)
    throw Error("[Nuts] the chain belongs to another density");
  until = std::min(until, total());
  const auto counters = 2 * n + (std::uint64_t{4} << options_.max_doublings);
  for (; chain.step < until; ++chain.step) {
    const bool warm_up = chain.step < options_.warm_up;
    Draws draws{options_.key, chain.step * counters};
    Numbers xi(n);
    for (double& v : xi) v = data::normal(draws.key, draws.counter++);
    Point at{.x = chain.x, .gradient = chain.gradient, .p = metric_.draw(xi)};
    at.log_density = chain.log_density;
    at.velocity = metric_.times(at.p);
    Trajectory t(density_, metric_, std::exp(chain.log_step), at.energy(),
                 options_.max_energy_error, draws);
    Piece all{.first = at, .last = at, .momentum = at.p, .x = at.x, .gradient = at.gradient};
    all.log_density = at.log_density;
    all.log_weight = 0;
    int depth = 0;
    for (; depth < options_.max_doublings && all.goes_on; ++depth) {
      const int direction = draws.uniform() < 0.5 ? -1 : 1;
      Piece more = t.grow(direction > 0 ? all.last : all.first, depth, direction);
      if (!more.goes_on) break;  // its states are no fair draw: none is taken
      const double share = more.log_weight - all.log_weight;  // towards the new half
      all = t.joined(std::move(all), std::move(more), direction, share);
    }
    const bool cut = depth == options_.max_doublings && all.goes_on;
    chain.x = std::move(all.x);
    chain.gradient = std::move(all.gradient);
    chain.log_density = all.log_density;
    chain.gradients += t.leaps;
    const double acceptance = t.acceptance_sum / static_cast<double>(t.leaps);
    if (warm_up) {  // dual averaging, Hoffman and Gelman's algorithm 6 with their constants
      constexpr double gamma = 0.05, t0 = 10, kappa = 0.75;
      const double m = static_cast<double>(chain.step) + 1, part = 1 / (m + t0);
      chain.acceptance_lack =
          (1 - part) * chain.acceptance_lack + part * (options_.target_acceptance - acceptance);
      chain.log_step =
          chain.log_step_first + std::log(10.0) - std::sqrt(m) / gamma * chain.acceptance_lack;
      const double weight = std::pow(m, -kappa);
      chain.log_step_mean = weight * chain.log_step + (1 - weight) * chain.log_step_mean;
      if (chain.step + 1 == options_.warm_up) chain.log_step = chain.log_step_mean;
    } else {
      chain.acceptance += acceptance;
      chain.divergent += t.divergent;
      chain.cut += cut;
      if ((chain.step + 1 - options_.warm_up) % options_.keep_every == 0) {
        chain.kept.insert(chain.kept.end(), chain.x.begin(), chain.x.end());
        chain.kept_density.push_back(chain.log_density);
      }
    }
  }
  return chain.step >= total();
}

}  // namespace tessera::inversion
