// SPDX-License-Identifier: Apache-2.0
#include "tessera/electromagnetics/time_domain.h"

#include "tessera/autodiff/error.h"
#include "tessera/autodiff/forall.h"
#include "tessera/electromagnetics/constants.h"
#include "time_domain/pages.h"

#include <algorithm>
#include <cmath>
#include <variant>

namespace tessera::electromagnetics {
namespace {

/// Steps that are taken at once: a whole number of waves, unless the records would take more than
/// 64 MiB.
std::int64_t block_length(std::int64_t columns) {
  return std::clamp<std::int64_t>((std::int64_t{8} << 20) / std::max<std::int64_t>(columns, 1), 1,
                                  16);
}

}  // namespace

std::vector<double> Injection::currents(std::int64_t first, std::int64_t n_steps,
                                        double dt_s) const {
  std::int64_t n = 0;
  while (n < n_steps && static_cast<double>(first + n) * dt_s < end_s) ++n;
  if (n == 0) return {};
  std::vector<double> out(static_cast<std::size_t>(n_steps) * edges.size(), 0.0);
  fill(first, n, out.data());
  return out;
}

struct TimeDomain::Impl {
  YeeGrid grid;
  double dt;
  std::vector<Injection> sources;
  YeeScheme scheme;
  std::variant<time_domain::PagedVector<float>, time_domain::PagedVector<double>> state;
  std::int64_t step = 0, block = 1;

  Impl(YeeModel& model, std::vector<Injection> list)
      : grid(model.grid), dt(model.dt_s), sources(std::move(list)), scheme(model) {
    block = block_length(std::max(scheme.n_recorded(), scheme.n_injected()));
    const std::size_t size = static_cast<std::size_t>(scheme.state_size());
    if (scheme.dtype() == Dtype::f32)
      state = time_domain::PagedVector<float>(size, 0.0f);
    else
      state = time_domain::PagedVector<double>(size, 0.0);
  }

  /// [parts, n, injected] for the steps from `step` on; empty after the last source has ended.
  std::vector<double> currents(std::int64_t n) const {
    const std::int64_t columns = scheme.n_injected();
    std::vector<double> all(static_cast<std::size_t>(scheme.parts() * n * columns), 0.0);
    bool any = false;
    std::int64_t column = 0;
    for (const Injection& s : sources) {
      const auto m = static_cast<std::int64_t>(s.edges.size());
      const std::vector<double> own = s.currents(step, n, dt);
      if (!own.empty()) {
        any = true;
        for (int part = 0; part < scheme.parts(); ++part)
          for (std::int64_t q = 0; q < n; ++q)
            for (std::int64_t i = 0; i < m; ++i) {
              const double phase = s.phase.empty() ? 0 : s.phase[static_cast<std::size_t>(i)];
              all[static_cast<std::size_t>((part * n + q) * columns + column + i)] =
                  own[static_cast<std::size_t>(q * m + i)] *
                  (part == 0 ? std::cos(phase) : std::sin(phase));
            }
      }
      column += m;
    }
    if (!any) all.clear();
    return all;
  }

  template <class T>
  void take(time_domain::PagedVector<T>& fields, std::int64_t n,
            const std::function<void(const Records&)>& observe) {
    const std::vector<double> s = currents(n);
    const std::vector<T> in(s.begin(), s.end());
    std::vector<T> out(static_cast<std::size_t>(scheme.parts() * n * scheme.n_recorded()));
    scheme.advance(fields.data(), n, in.empty() ? nullptr : in.data(), out.data(), nullptr,
                   nullptr);
    if (observe) {
      const std::vector<double> values(out.begin(), out.end());
      const std::int64_t columns = scheme.n_recorded();
      observe({step, n, columns, values.data(), columns,
               scheme.parts() == 2 ? values.data() + n * columns : nullptr});
    }
    step += n;
  }
};

TimeDomain::TimeDomain(YeeModel model, std::vector<Injection> sources, std::vector<Edge> recorded) {
  model.injected.clear();
  for (const Injection& s : sources)
    model.injected.insert(model.injected.end(), s.edges.begin(), s.edges.end());
  model.recorded = std::move(recorded);
  impl_ = std::make_unique<Impl>(model, std::move(sources));
}
TimeDomain::~TimeDomain() = default;
TimeDomain::TimeDomain(TimeDomain&&) noexcept = default;

const YeeScheme& TimeDomain::scheme() const { return impl_->scheme; }
std::int64_t TimeDomain::step() const { return impl_->step; }
double TimeDomain::dt_s() const { return impl_->dt; }
double TimeDomain::sources_end_s() const {
  double end = 0;
  for (const Injection& s : impl_->sources) end = std::max(end, s.end_s);
  return end;
}

void TimeDomain::advance(std::int64_t n_steps, const std::function<void(const Records&)>& observe) {
  const std::int64_t end = impl_->step + n_steps;
  while (impl_->step < end) {
    const std::int64_t n = std::min(end - impl_->step, impl_->block - impl_->step % impl_->block);
    std::visit([&](auto& fields) { impl_->take(fields, n, observe); }, impl_->state);
  }
}

std::span<const float> TimeDomain::state_f32() const {
  return std::get<time_domain::PagedVector<float>>(impl_->state);
}
std::span<const double> TimeDomain::state_f64() const {
  return std::get<time_domain::PagedVector<double>>(impl_->state);
}

void TimeDomain::restore(std::int64_t step, std::span<const float> state) {
  auto* own = std::get_if<time_domain::PagedVector<float>>(&impl_->state);
  if (!own || own->size() != state.size())
    throw Error("[TimeDomain] the state to go on from is not that of this model");
  own->assign(state.begin(), state.end());
  impl_->step = step;
}
void TimeDomain::restore(std::int64_t step, std::span<const double> state) {
  auto* own = std::get_if<time_domain::PagedVector<double>>(&impl_->state);
  if (!own || own->size() != state.size())
    throw Error("[TimeDomain] the state to go on from is not that of this model");
  own->assign(state.begin(), state.end());
  impl_->step = step;
}

double TimeDomain::unknown(const Edge& e) const {
  return std::visit(
      [&](const auto& s) { return double(s[static_cast<std::size_t>(impl_->scheme.offset(e))]); },
      impl_->state);
}

namespace {

/// The sum over the planes of what `plane` says of each, in J. With everything in units of l: eps
/// V/ds^2 = (c dt / l) / cb, so eps0 eps E^2 V / 2 = (eps0 l^3 / 2) (c dt / l) e^2 / cb; the same
/// for h, which holds Z0.
template <class Plane>
double sum_of_planes(const YeeGrid& g, double l, const Plane& plane) {
  std::vector<double> planes(static_cast<std::size_t>(g.cells(2)) + 1, 0.0);
  parallel_chunks(g.cells(2) + 1, [&](std::int64_t k) {
    planes[static_cast<std::size_t>(k)] = plane(static_cast<int>(k));
  });
  double sum = 0;
  for (const double p : planes) sum += p;
  return 0.5 * vacuum_permittivity * l * l * l * sum;
}

}  // namespace

double TimeDomain::energy_j() const {
  const YeeScheme& scheme = impl_->scheme;
  return std::visit(
      [&](const auto& s) {
        return sum_of_planes(impl_->grid, scheme.reference_length(),
                             [&](int k) { return scheme.plane_energy(s.data(), k); });
      },
      impl_->state);
}

double TimeDomain::stored_energy_j() const {
  const YeeScheme& scheme = impl_->scheme;
  return std::visit(
      [&](const auto& s) {
        return sum_of_planes(impl_->grid, scheme.reference_length(), [&](int k) {
          return scheme.plane_energy(s.data(), k) + scheme.plane_pole_energy(s.data(), k);
        });
      },
      impl_->state);
}

TimeDomain::Peak TimeDomain::peak() const {
  const YeeGrid& g = impl_->grid;
  Peak best{-1, {}};
  std::visit(
      [&](const auto& s) {
        for (int c = 0; c < 3; ++c)
          for (int k = 0; k <= g.cells(2); ++k)
            for (int j = 0; j <= g.cells(1); ++j)
              for (int i = 0; i <= g.cells(0); ++i) {
                const Edge e{static_cast<std::uint8_t>(c), i, j, k};
                double v = std::abs(double(s[static_cast<std::size_t>(impl_->scheme.offset(e))]));
                if (std::isnan(v)) v = INFINITY;
                if (v > best.value) best = {v, e};
              }
      },
      impl_->state);
  return best;
}

}  // namespace tessera::electromagnetics
