// SPDX-License-Identifier: Apache-2.0
// One step of each method; false where none leads further down.
#include "minimize/minimizer.h"
#include "tessera/autodiff/lbfgs.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace tessera::molecular {
namespace {

constexpr double least_move_nm = 1e-14;

Positions scaled(const Positions& a, double factor) {
  Positions out(a.size(), Vec3{});
  add(out, factor, a);
  return out;
}

/// `to` takes over what a trial found.
void accept(Descent& to, Descent&& trial) {
  to.frame.x_nm = std::move(trial.frame.x_nm);
  to.forces = std::move(trial.forces);
  to.projected = std::move(trial.projected);
  to.largest_force = trial.largest_force;
  to.largest_at = trial.largest_at;
  to.evaluations = trial.evaluations;
}

}  // namespace

bool Minimizer::Impl::steepest_descent(Descent& d) const {
  if (d.move_nm <= 0) d.move_nm = o.first_move_nm;
  while (d.move_nm > least_move_nm) {
    Descent trial = moved(d, scaled(d.projected, d.move_nm / d.largest_force));
    d.evaluations = trial.evaluations;
    if (energy(trial) < energy(d)) {
      accept(d, std::move(trial));
      d.move_nm = std::min(1.2 * d.move_nm, o.most_move_nm);
      return true;
    }
    d.move_nm *= 0.5;
  }
  return false;
}

/// memory: pairs (s, y) of moves and changes of the gradient, the oldest first.
bool Minimizer::Impl::lbfgs(Descent& d) const {
  const std::size_t n = system.n_atoms(), width = 6 * n;
  const auto pair = [&](std::size_t k, std::size_t half) {
    Positions out(n);
    for (std::size_t i = 0; i < 3 * n; ++i)
      out[i / 3][i % 3] = d.memory[k * width + half * 3 * n + i];
    return out;
  };
  for (int attempt = 0; attempt < 2; ++attempt) {
    const std::size_t kept = d.memory.size() / width;
    struct Pair {
      Positions s, y;
      double rho;
    };
    std::vector<Pair> pairs;
    pairs.reserve(kept);
    for (std::size_t k = 0; k < kept; ++k) {
      pairs.push_back({pair(k, 0), pair(k, 1), 0});
      pairs.back().rho = 1 / dot(pairs.back().s, pairs.back().y);
    }
    Positions direction = d.projected;  // H f
    lbfgs_product<double>(
        direction, kept, [&](std::size_t k) -> const Pair& { return pairs[k]; },
        [](const Positions& a, const Positions& b) { return dot(a, b); },
        [](Positions& to, double factor, const Positions& a) { add(to, factor, a); },
        [&](Positions& v) {
          if (kept == 0) return;
          const Pair& last = pairs.back();
          v = scaled(v, dot(last.s, last.y) / dot(last.y, last.y));
        });
    project(d, direction);
    const double most = longest(direction), limit = kept > 0 ? o.most_move_nm : o.first_move_nm;
    if (kept == 0 || most > limit) direction = scaled(direction, limit / most);

    const double derivative = -dot(d.projected, direction), rounding = noise(d);
    double length = 1;
    while (derivative < 0 && length * longest(direction) > least_move_nm) {
      Descent trial = moved(d, scaled(direction, length));
      d.evaluations = trial.evaluations;
      const double change = energy(trial) - energy(d);
      // Armijo's rule, or where energies are no more than rounding that of derivatives (Hager &
      // Zhang, SIAM J. Optim. 16 (2005) 170).
      const bool down = change <= 1e-4 * length * derivative ||
                        (std::abs(change) <= rounding &&
                         -dot(trial.projected, direction) <= -(1 - 2e-4) * derivative &&
                         trial.largest_force < 2 * d.largest_force);
      if (down) {
        Positions s = trial.frame.x_nm, y = d.projected;
        add(s, -1, d.frame.x_nm);
        add(y, -1, trial.projected);
        if (dot(s, y) > 1e-10 * std::sqrt(dot(s, s) * dot(y, y))) {
          if (kept == static_cast<std::size_t>(o.memory))
            d.memory.erase(d.memory.begin(), d.memory.begin() + static_cast<std::ptrdiff_t>(width));
          for (const Positions* v : {&s, &y})
            for (const Vec3& w : *v) d.memory.insert(d.memory.end(), w.begin(), w.end());
        }
        accept(d, std::move(trial));
        return true;
      }
      // The parabola through both energies and the derivative, kept within a tenth and a half.
      const double best = -0.5 * derivative * length * length / (change - derivative * length);
      length = std::isfinite(best) ? std::clamp(best, 0.1 * length, 0.5 * length) : 0.1 * length;
    }
    if (kept == 0) return false;
    d.memory.clear();
  }
  return false;
}

/// memory: velocities of unit masses, then the mixing and the steps since the last turn; move_nm:
/// the time step.
bool Minimizer::Impl::fire(Descent& d) const {
  constexpr double mixing_at_first = 0.25;
  const std::size_t n = system.n_atoms();
  Positions v(n, Vec3{});
  double mixing = mixing_at_first, downhill = 0;
  if (d.memory.size() == 3 * n + 2) {
    for (std::size_t i = 0; i < 3 * n; ++i) v[i / 3][i % 3] = d.memory[i];
    mixing = d.memory[3 * n];
    downhill = d.memory[3 * n + 1];
  } else {
    d.move_nm = std::sqrt(o.first_move_nm / d.largest_force);
  }
  Positions move(n, Vec3{});
  if (dot(d.projected, v) > 0) {
    if (++downhill > 20) {
      d.move_nm *= 1.1;
      mixing *= 0.99;
    }
  } else {
    add(move, -0.5 * d.move_nm, v);  // back by half of the step that went uphill
    if (downhill > 0 || dot(v, v) > 0) d.move_nm *= 0.5;
    mixing = mixing_at_first;
    downhill = 0;
    v.assign(n, Vec3{});
  }
  for (;;) {
    Positions next = v;
    add(next, d.move_nm, d.projected);
    const double turn = mixing * std::sqrt(dot(next, next) / dot(d.projected, d.projected));
    next = scaled(next, 1 - mixing);
    add(next, turn, d.projected);
    Positions trial_move = move;
    add(trial_move, d.move_nm, next);
    if (const double most = longest(trial_move); most > o.most_move_nm) {
      trial_move = scaled(trial_move, o.most_move_nm / most);
      next = scaled(next, o.most_move_nm / most);
    }
    Descent trial = moved(d, trial_move);
    d.evaluations = trial.evaluations;
    if (std::isfinite(energy(trial))) {
      accept(d, std::move(trial));
      project(d, next);
      d.memory.assign(3 * n + 2, 0.0);
      for (std::size_t i = 0; i < 3 * n; ++i) d.memory[i] = next[i / 3][i % 3];
      d.memory[3 * n] = mixing;
      d.memory[3 * n + 1] = downhill;
      return true;
    }
    d.move_nm *= 0.5;
    v.assign(n, Vec3{});
    move.assign(n, Vec3{});
    if (d.move_nm * d.move_nm * d.largest_force < least_move_nm) return false;
  }
}

/// move_nm: radius of trust, of the vector of all moves.
bool Minimizer::Impl::newton_cg(Descent& d) const {
  const std::size_t n = system.n_atoms();
  if (d.move_nm <= 0) d.move_nm = o.first_move_nm * std::sqrt(static_cast<double>(n));
  while (d.move_nm > least_move_nm) {
    // H p = f by conjugate gradients, as far as the region of trust reaches or the curvature is
    // positive.
    const double size = std::sqrt(dot(d.projected, d.projected)),
                 enough = size * std::min(0.5, std::sqrt(size));
    Positions p(n, Vec3{}), hp(n, Vec3{}), r = d.projected, q = r, hq;
    double rr = dot(r, r);
    bool at_border = false;
    const auto to_border = [&] {
      const double a = dot(q, q), b = 2 * dot(p, q), c = dot(p, p) - d.move_nm * d.move_nm;
      const double t = (-b + std::sqrt(b * b - 4 * a * c)) / (2 * a);
      add(p, t, q);
      add(hp, t, hq);
      at_border = true;
    };
    for (std::size_t k = 0; k < 3 * n && std::sqrt(rr) > enough; ++k) {
      hessian(d.frame.x_nm, d.frame.box, q, hq);
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t c = 0; c < 3; ++c)
          if (held[i][c]) hq[i][c] = 0;
      const double curvature = dot(q, hq);
      if (!(curvature > 0)) {
        to_border();
        break;
      }
      const double a = rr / curvature;
      Positions next = p;
      add(next, a, q);
      if (dot(next, next) >= d.move_nm * d.move_nm) {
        to_border();
        break;
      }
      p = std::move(next);
      add(hp, a, hq);
      add(r, -a, hq);
      const double now = dot(r, r);
      q = scaled(q, now / rr);
      add(q, 1, r);
      rr = now;
    }
    if (const double most = longest(p); most > o.most_move_nm) {
      p = scaled(p, o.most_move_nm / most);
      hp = scaled(hp, o.most_move_nm / most);
    }
    const double promised = dot(d.projected, p) - 0.5 * dot(p, hp), rounding = noise(d);
    Descent trial = moved(d, p);
    d.evaluations = trial.evaluations;
    const double gained = energy(d) - energy(trial);
    const bool in_rounding = promised < rounding && std::abs(gained) <= rounding;
    if (in_rounding ? trial.largest_force < d.largest_force : gained > 0.1 * promised) {
      if (!in_rounding && gained < 0.25 * promised)
        d.move_nm *= 0.25;
      else if (at_border && gained > 0.75 * promised)
        d.move_nm *= 2;
      accept(d, std::move(trial));
      return true;
    }
    d.move_nm = 0.25 * std::min(d.move_nm, std::sqrt(dot(p, p)));
  }
  return false;
}

}  // namespace tessera::molecular
