// SPDX-License-Identifier: Apache-2.0
#include "tessera/solvers/stopping.h"

#include "tessera/autodiff/source_line.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace tessera::solvers {
namespace {

/// What any first value is better than, NaN apart.
double worst(Better better) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  return better == Better::lower ? inf : -inf;
}

}  // namespace

bool Plateau::see(double metric, const PlateauOptions& o) {
  if (!(o.factor > 0 && o.factor < 1))
    fail("plateau", "the factor is " + std::to_string(o.factor) + ", not in (0, 1)");
  if (std::isnan(best)) best = worst(o.better);
  const double sign = o.better == Better::lower ? -1 : 1;
  const double bar = o.relative ? best * (1 + sign * o.threshold) : best + sign * o.threshold;
  if (o.better == Better::lower ? metric < bar : metric > bar)
    best = metric, bad_epochs = 0;
  else
    ++bad_epochs;
  if (cooldown > 0) --cooldown, bad_epochs = 0;
  if (bad_epochs <= o.patience) return false;
  const double before = factor;
  factor = std::max(factor * o.factor, o.least);
  cooldown = o.cooldown, bad_epochs = 0;
  return factor < before;
}

bool EarlyStopping::see(double metric, const EarlyStoppingOptions& o) {
  const std::int64_t now = epoch++;
  if (now < o.first_epoch) return false;
  if (std::isnan(best)) best = worst(o.better);
  ++waited;
  if (o.better == Better::lower ? metric + o.least_progress < best
                                : metric - o.least_progress > best) {
    best = metric, best_epoch = now, waited = 0;
  }
  return over(o);
}

bool EarlyStopping::over(const EarlyStoppingOptions& o) const {
  return waited > 0 && waited >= o.patience && epoch > std::max<std::int64_t>(o.first_epoch, 1);
}

}  // namespace tessera::solvers
