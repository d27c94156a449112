// SPDX-License-Identifier: Apache-2.0
#include "tessera/electromagnetics/yee_scheme.h"

#include "tessera/autodiff/error.h"
#include "tessera/electromagnetics/constants.h"
#include "time_domain/seams.h"
#include "time_domain/tables.h"

#include <algorithm>
#include <cmath>
#include <variant>

namespace tessera::electromagnetics {

using namespace time_domain;

struct YeeScheme::Impl {
  std::variant<Tables<float>, Tables<double>> tables;
  double dt_s;
};

YeeScheme::YeeScheme(const YeeModel& model, const Slab& slab) {
  if (model.dtype != Dtype::f32 && model.dtype != Dtype::f64)
    throw Error("[YeeScheme] fields are f32 or f64, not " +
                std::string(tessera::name_of(model.dtype)));
  if (!(model.dt_s > 0)) throw Error("[YeeScheme] the time step must be positive");
  if (model.wires)
    throw Error(
        "[YeeScheme] wires between lines of the grid go by a TimeDomain on one process; runs that "
        "are differentiated have none");
  if (model.dtype == Dtype::f32)
    impl_.reset(new Impl{compile<float>(model, slab), model.dt_s});
  else
    impl_.reset(new Impl{compile<double>(model, slab), model.dt_s});
}
YeeScheme::YeeScheme(YeeScheme&&) noexcept = default;
YeeScheme::~YeeScheme() = default;

namespace {
template <class F>
auto visit(const YeeScheme::Impl& impl, F&& f) {
  return std::visit(std::forward<F>(f), impl.tables);
}

/// The factors of the rows in which the coefficients of traced edges are given.
template <class T>
struct Replaced {
  std::vector<std::vector<T>> rows, keeps;
  std::vector<const T*> of_special, keep_of_special;
  std::vector<T> mixed_gain;
};
/// Of mixed edges: (eps + r + S) e' = (eps - r - S) e + g bracket + .., S the sum of weight times
/// response.
template <class T, class RowWith>
void mix(const Tables<T>& t, const T* given, const RowWith& row_with, Replaced<T>& out) {
  out.mixed_gain.resize(static_cast<std::size_t>(t.n_mixed_gains));
  out.keep_of_special.assign(t.specials.size(), nullptr);
  out.keeps.reserve(t.specials.size());
  for (int c = 0; c < 6; ++c) {
    const ComponentTable<T>& f = t.component[c];
    if (f.special.empty()) continue;
    for (int k = 0; k <= t.n[2]; ++k)
      for (int j = 0; j <= t.n[1]; ++j) {
        const std::int64_t index = t.row_index(j, k);
        if (f.special[index] < 0) continue;
        const auto s = static_cast<std::size_t>(f.special[index]);
        const Special<T>& special = t.specials[s];
        if (special.mixed.empty()) continue;
        std::vector<T>& factor = row_with(s, f.factor[index]);
        std::vector<T>& keep =
            out.keeps.emplace_back(f.keep[index], f.keep[index] + std::max(t.run, t.n[0] + 1));
        out.keep_of_special[s] = keep.data();
        for (const Mixed<T>& run : special.mixed)
          for (int q = 0; q < run.length; ++q) {
            const auto i = static_cast<std::size_t>(run.first + q);
            const T* theta = given + run.column + q * t.channels;
            double loss = double(theta[1]);
            for (std::size_t p = 0; p < run.response.size(); ++p)
              loss += double(theta[2 + p]) * double(run.response[p]);
            const double mass = double(theta[0]) + loss,
                         metric = run.metric[static_cast<std::size_t>(q)];
            factor[i] = static_cast<T>(metric / mass);
            keep[i] = static_cast<T>((double(theta[0]) - loss) / mass);
            for (std::size_t p = 0; p < run.polarized.size(); ++p)
              out.mixed_gain[static_cast<std::size_t>(special.polarized[run.polarized[p]].mixed +
                                                      q)] =
                  static_cast<T>(double(theta[2 + p]) / (double(t.scale(c, j, k)) * metric));
          }
      }
  }
}
template <class T>
Replaced<T> replace_coefficients(const Tables<T>& t, const T* given) {
  Replaced<T> out;
  if (!given && !t.mixed_gain.empty())
    throw Error("[YeeScheme] the parameters of mixed edges are missing: give them as coefficients");
  if (!given) return out;
  out.of_special.assign(t.specials.size(), nullptr);
  std::vector<std::int64_t> row_of(t.specials.size(), -1);
  const auto row_with = [&](std::size_t s, const T* factor) -> std::vector<T>& {
    if (row_of[s] < 0) {
      row_of[s] = static_cast<std::int64_t>(out.rows.size());
      out.rows.emplace_back(factor, factor + std::max(t.run, t.n[0] + 1));
    }
    return out.rows[static_cast<std::size_t>(row_of[s])];
  };
  for (std::size_t m = 0; m < t.traced.size(); ++m) {
    const Edge& e = t.traced[m];
    const ComponentTable<T>& f = t.component[e.component];
    const std::int64_t index = t.row_index(e.j, e.k);
    const std::size_t s = static_cast<std::size_t>(f.special[index]);
    row_with(s, f.factor[index])[static_cast<std::size_t>(e.i)] =
        given[m] / t.scale(e.component, e.j, e.k);
  }
  if (!t.mixed_gain.empty()) mix(t, given, row_with, out);
  for (std::size_t s = 0; s < row_of.size(); ++s)
    if (row_of[s] >= 0) out.of_special[s] = out.rows[static_cast<std::size_t>(row_of[s])].data();
  return out;
}
}  // namespace

Dtype YeeScheme::dtype() const { return impl_->tables.index() == 0 ? Dtype::f32 : Dtype::f64; }
bool YeeScheme::nonlinear() const {
  return visit(*impl_, [](const auto& t) { return t.nonlinear; });
}
int YeeScheme::parts() const {
  return visit(*impl_, [](const auto& t) { return t.bloch ? 2 : 1; });
}
std::int64_t YeeScheme::state_size() const {
  return visit(*impl_, [](const auto& t) { return t.state_size * (t.bloch ? 2 : 1); });
}
std::int64_t YeeScheme::n_injected() const {
  return visit(*impl_, [](const auto& t) { return t.n_injected; });
}
std::int64_t YeeScheme::n_recorded() const {
  return visit(*impl_, [](const auto& t) { return t.n_recorded; });
}
std::int64_t YeeScheme::n_traced() const {
  return visit(*impl_, [](const auto& t) { return t.n_traced; });
}
std::vector<double> YeeScheme::mixed_gains() const {
  return visit(*impl_, [](const auto& t) { return t.mixed_gain; });
}
double YeeScheme::reference_length() const {
  return visit(*impl_, [](const auto& t) { return t.unit; });
}

std::int64_t YeeScheme::offset(const Edge& e) const {
  return visit(*impl_, [&](const auto& t) {
    const Edge at = t.here(e);
    return t.offset(at.component, at.i, at.j, at.k);
  });
}
std::vector<std::uint8_t> YeeScheme::unknowns() const {
  return visit(*impl_, [](const auto& t) { return time_domain::unknowns(t); });
}
double YeeScheme::coefficient(const Edge& edge) const {
  return visit(*impl_, [&](const auto& t) {
    const Edge e = t.here(edge);
    return double(t.scale(e.component, e.j, e.k)) *
           double(t.component[e.component].factor[t.row_index(e.j, e.k)][e.i]);
  });
}
double YeeScheme::loss_factor(const Edge& edge) const {
  return visit(*impl_, [&](const auto& t) {
    const Edge e = t.here(edge);
    const auto& f = t.component[e.component];
    const auto* keep = f.keep.empty() ? nullptr : f.keep[t.row_index(e.j, e.k)];
    return keep ? double(keep[e.i]) : 1.0;
  });
}
bool YeeScheme::couples(const Edge& e) const {
  return is_electric(e.component) && visit(*impl_, [&](const auto& t) {
           Edge at = t.here(e);
           if (time_domain::couples(t, at)) return true;
           if (t.cut < 0 || !t.periodic[t.cut]) return false;
           int& i = t.cut == 1 ? at.j : at.k;  // of a slab it may lie beside the other end
           i += i < 0 ? t.grid.cells(t.cut) : -t.grid.cells(t.cut);
           return time_domain::couples(t, at);
         });
}
double YeeScheme::field_scale(const Edge& e) const {
  return visit(*impl_, [&](const auto& t) {
    const int axis = axis_of(e.component), at[3] = {e.i, e.j, e.k};
    const double length = is_electric(e.component)
                              ? t.grid.length(axis, at[axis]) * t.open.length_fraction(e)
                              : t.grid.dual_length(axis, at[axis], t.wraps(axis));
    return length / t.unit;
  });
}

void YeeScheme::advance(void* state, std::int64_t n_steps, const void* currents, void* records,
                        void* traces, const void* coefficients, Blocking blocking) const {
  visit(*impl_, [&]<class T>(const Tables<T>& t) {
    const Replaced<T> replaced = replace_coefficients(t, static_cast<const T*>(coefficients));
    Work<T> work{t,
                 static_cast<T*>(state),
                 n_steps,
                 static_cast<const T*>(currents),
                 nullptr,
                 static_cast<T*>(records),
                 static_cast<T*>(traces),
                 nullptr,
                 replaced.of_special};
    work.special_keep = replaced.keep_of_special, work.mixed_gain = replaced.mixed_gain.data();
    time_domain::advance(work, blocking);
  });
}

void YeeScheme::advance_transposed(void* state, std::int64_t n_steps, const void* records,
                                   const void* traces, void* currents, void* trace_cotangents,
                                   const void* coefficients, Blocking blocking) const {
  if (nonlinear()) throw Error("[advance_transposed] a nonlinear medium's step has no transpose");
  visit(*impl_, [&]<class T>(const Tables<T>& t) {
    const Replaced<T> replaced = replace_coefficients(t, static_cast<const T*>(coefficients));
    std::vector<T> coupled(static_cast<std::size_t>(t.n_coupled * (t.bloch ? 2 : 1)));
    Work<T> work{t,
                 static_cast<T*>(state),
                 n_steps,
                 static_cast<const T*>(records),
                 static_cast<const T*>(traces),
                 static_cast<T*>(currents),
                 static_cast<T*>(trace_cotangents),
                 coupled.data(),
                 replaced.of_special};
    work.special_keep = replaced.keep_of_special, work.mixed_gain = replaced.mixed_gain.data();
    time_domain::advance_transposed(work, blocking);
  });
}

double YeeScheme::row_energy(const void* state, int j, int k) const {
  return visit(*impl_, [&]<class T>(const Tables<T>& t) {
    j -= t.origin[1], k -= t.origin[2];
    double sum = 0;
    for (int c = 0; c < (t.bloch ? 12 : 6); ++c) {
      if (!t.holds(c % 6, j, k)) continue;
      const ComponentTable<T>& f = t.component[c % 6];
      const T* e =
          static_cast<const T*>(state) + (c < 6 ? 0 : t.state_size) + t.offset(c % 6, 0, j, k);
      const T* factor = f.factor[t.row_index(j, k)];
      double row = 0;
      for (int i = f.first[0]; i < f.last[0]; ++i)
        if (factor[i] != 0) row += double(e[i]) * double(e[i]) / double(factor[i]);
      sum += row / double(t.scale(c % 6, j, k));
    }
    return sum * t.cdt;
  });
}

/// With alpha = e^{a dt} and beta = r dt/2 to first order, |a|/|r| is |log alpha|/(2 |beta|). A
/// double pole without damping is a free current: its x' = shear y dt is P', and y' = 2 Im beta E.
double YeeScheme::row_pole_energy(const void* state, int j, int k) const {
  return visit(*impl_, [&]<class T>(const Tables<T>& t) {
    j -= t.origin[1], k -= t.origin[2];
    double sum = 0;
    for (int c = 0; c < 3; ++c) {
      if (t.component[c].special.empty() || !t.holds(c, j, k)) continue;
      const std::int32_t at = t.component[c].special[static_cast<std::size_t>(t.row_index(j, k))];
      if (at < 0) continue;
      for (const Polarized<T>& p : t.specials[static_cast<std::size_t>(at)].polarized)
        for (std::size_t m = 0; m < p.alpha.size() && p.mixed < 0; ++m) {
          const std::complex<double> alpha(double(p.alpha[m]), double(p.im_of_re[m])),
              beta(p.beta[m]);
          const double shear = double(p.re_of_im[m]) + double(p.im_of_re[m]);
          const bool free = shear != 0;
          const double rate =
              free ? 0.5 * shear / std::abs(beta.imag())
                   : double(p.pair[m]) * std::abs(std::log(alpha)) / (2 * std::abs(beta));
          if (!std::isfinite(rate)) continue;
          for (int part = 0; part < (t.bloch ? 2 : 1); ++part) {
            const T *x = static_cast<const T*>(state) + part * t.state_size + p.state +
                         2 * static_cast<std::int64_t>(m) * p.length,
                    *y = x + p.length;
            for (int q = 0; q < p.length; ++q) {
              const double square = (free ? 0 : double(x[q]) * double(x[q])) +
                                    (p.two[m] ? double(y[q]) * double(y[q]) : 0);
              sum += double(p.gain[static_cast<std::size_t>(q)]) * rate * square;
            }
          }
        }
    }
    return sum * t.cdt;
  });
}

std::int64_t YeeScheme::slice_size(int axis, int at) const {
  return visit(*impl_, [&](const auto& t) {
    std::int64_t n = 0;
    for (const Stretch& s : stretches_of_slice(t, axis, at)) n += s.length;
    return n * (t.bloch ? 2 : 1);
  });
}

void YeeScheme::copy_slice(const void* state, int axis, int at, void* to) const {
  visit(*impl_, [&]<class T>(const Tables<T>& t) {
    T* next = static_cast<T*>(to);
    for (int part = 0; part < (t.bloch ? 2 : 1); ++part)
      for (const Stretch& s : stretches_of_slice(t, axis, at))
        next = std::copy_n(static_cast<const T*>(state) + part * t.state_size + s.offset, s.length,
                           next);
  });
}

void YeeScheme::set_slice(void* state, int axis, int at, const void* from) const {
  visit(*impl_, [&]<class T>(const Tables<T>& t) {
    const T* next = static_cast<const T*>(from);
    for (int part = 0; part < (t.bloch ? 2 : 1); ++part)
      for (const Stretch& s : stretches_of_slice(t, axis, at)) {
        std::copy_n(next, s.length, static_cast<T*>(state) + part * t.state_size + s.offset);
        next += s.length;
      }
  });
}

SeamTraffic YeeScheme::seam_traffic(int axis, std::int64_t n_steps) const {
  return visit(*impl_, [&](const auto& t) { return traffic_of_seams(t, axis, n_steps); });
}

YeeScheme::Traffic YeeScheme::traffic() const {
  return visit(*impl_, []<class T>(const Tables<T>& t) {
    double cells = 1;
    for (const int n : t.n) cells *= n;
    const double c = std::min(static_cast<double>(t.pool.size()) / cells, 6.0),
                 more = static_cast<double>(t.state_size -
                                            6 * (t.component[1].field - t.component[0].field)) *
                        2 / cells;
    const double word = sizeof(T);
    return Traffic{(18 + c + more) * word, (12 + c + more) * word, c};
  });
}

std::int64_t YeeScheme::memory_bytes() const {
  return visit(*impl_, []<class T>(const Tables<T>& t) {
    return (t.state_size * (t.bloch ? 2 : 1) + static_cast<std::int64_t>(t.pool.size())) *
               static_cast<std::int64_t>(sizeof(T)) +
           6 * t.rows() * 9;
  });
}

}  // namespace tessera::electromagnetics
