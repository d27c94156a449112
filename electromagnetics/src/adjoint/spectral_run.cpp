// SPDX-License-Identifier: Apache-2.0
#include "adjoint/spectral_run.h"

#include "adjoint/rank_columns.h"
#include "tessera/autodiff/forall.h"
#include "tessera/parallel/communicator.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <new>
#include <numbers>

namespace tessera::electromagnetics::adjoint {
namespace {

constexpr std::int64_t kColumns =
    512;  // of a chunk: its sums at one frequency stay in the first-level cache

/// Signals of given spectra: real ones, of fields of two parts too, since what a field has at f
/// depends on what drives it at f alone. Costs 2 K operations a column and step while the pulse
/// lasts, in chunks that are driven at all.
class Drive {
 public:
  /// `spectra` [K, columns].
  Drive(const SpectralPlan& plan, const std::complex<double>* spectra, std::int64_t columns)
      : plan_(plan), columns_(columns) {
    const std::int64_t k = plan.n_frequencies();
    for (std::int64_t begin = 0; begin < columns; begin += kColumns) {
      const std::int64_t n = std::min(kColumns, columns - begin);
      std::vector<double>& a = amplitude_.emplace_back(static_cast<std::size_t>(2 * k * n));
      bool any = false;
      for (std::int64_t f = 0; f < k; ++f)
        for (std::int64_t m = 0; m < n; ++m) {
          const std::complex<double> z = spectra[f * columns + begin + m];
          a[static_cast<std::size_t>(f * n + m)] = z.real();
          a[static_cast<std::size_t>((k + f) * n + m)] = z.imag();
          any = any || z != 0.0;
        }
      if (!any) std::vector<double>().swap(a);
      silent_ = silent_ && !any;
    }
  }
  bool over(std::int64_t first) const { return silent_ || first >= plan_.pulse_steps; }
  /// Steps first ... first + n - 1 into the rows of out [n, columns] or [2, n, columns], the last
  /// step first if `backwards`.
  template <class T>
  void fill(std::int64_t first, std::int64_t n, bool backwards, T* out) const {
    if (plan_.op->scheme.parts() == 2) std::fill_n(out + n * columns_, n * columns_, T{0});
    const std::int64_t signals = 2 * plan_.n_frequencies();
    parallel_chunks(static_cast<std::int64_t>(amplitude_.size()), [&](std::int64_t c) {
      const std::int64_t begin = c * kColumns, many = std::min(kColumns, columns_ - begin);
      const std::vector<double>& amplitude = amplitude_[static_cast<std::size_t>(c)];
      double sum[kColumns];
      for (std::int64_t s = 0; s < n; ++s) {
        T* row = out + (backwards ? n - 1 - s : s) * columns_ + begin;
        std::fill(sum, sum + many, 0.0);
        if (first + s < plan_.pulse_steps && !amplitude.empty())
          for (std::int64_t q = 0; q < signals; ++q) {
            const double p =
                plan_.pulses[static_cast<std::size_t>(q * plan_.pulse_steps + first + s)];
            const double* a = amplitude.data() + q * many;
            for (std::int64_t m = 0; m < many; ++m) sum[m] += p * a[m];
          }
        for (std::int64_t m = 0; m < many; ++m) row[m] = static_cast<T>(sum[m]);
      }
    });
  }

 private:
  const SpectralPlan& plan_;
  std::int64_t columns_;
  /// By chunk [2 K, columns of the chunk]; empty where it is not driven.
  std::vector<std::vector<double>> amplitude_;
  bool silent_ = true;
};

/// Sums in f64 whatever the fields are. Costs 4 K operations a column and step that is taken.
class Sums {
 public:
  /// `out` [K, columns] holds real and imaginary parts apart until `finish`.
  Sums(const SpectralPlan& plan, std::int64_t columns, std::complex<double>* out)
      : plan_(plan), columns_(columns), sums_(reinterpret_cast<double*>(out)) {
    std::fill(sums_, sums_ + 2 * plan.n_frequencies() * columns, 0.0);
  }
  /// `values` [n, columns] of a real field, or its real and then its imaginary part [2, n,
  /// columns], which counts with the sign given.
  template <class T>
  void add(std::int64_t first, std::int64_t n, bool backwards, const T* values, double imaginary) {
    std::vector<std::int64_t> taken;
    for (std::int64_t s = 0; s < n; ++s)
      if ((first + s + 1) % plan_.every == 0) taken.push_back(s);
    const std::int64_t k = plan_.n_frequencies();
    std::vector<std::complex<double>> phase;
    for (std::int64_t f = 0; f < k; ++f)
      for (const std::int64_t s : taken)
        phase.push_back(std::polar(1.0, -2 * std::numbers::pi *
                                            plan_.frequencies_hz[static_cast<std::size_t>(f)] *
                                            static_cast<double>(first + s) * plan_.op->dt_s));
    parallel_chunks((columns_ + kColumns - 1) / kColumns, [&](std::int64_t c) {
      const std::int64_t begin = c * kColumns, end = std::min(columns_, begin + kColumns);
      for (std::int64_t f = 0; f < k; ++f) {
        double *re = sums_ + 2 * f * columns_, *im = re + columns_;
        for (std::size_t t = 0; t < taken.size(); ++t) {
          const std::complex<double> z = phase[static_cast<std::size_t>(f) * taken.size() + t];
          const T* x = values + (backwards ? n - 1 - taken[t] : taken[t]) * columns_;
          for (std::int64_t m = begin; m < end; ++m) {
            re[m] += z.real() * static_cast<double>(x[m]);
            im[m] += z.imag() * static_cast<double>(x[m]);
          }
          if (plan_.op->scheme.parts() == 1) continue;
          const T* y = x + n * columns_;
          for (std::int64_t m = begin; m < end; ++m) {
            re[m] -= imaginary * z.imag() * static_cast<double>(y[m]);
            im[m] += imaginary * z.real() * static_cast<double>(y[m]);
          }
        }
      }
    });
  }
  void finish() {
    std::vector<double> row(static_cast<std::size_t>(2 * columns_));
    const double each = plan_.every;
    for (std::int64_t f = 0; f < plan_.n_frequencies(); ++f) {
      double* out = sums_ + 2 * f * columns_;
      std::copy_n(out, 2 * columns_, row.begin());
      for (std::int64_t m = 0; m < columns_; ++m) {
        out[2 * m] = each * row[static_cast<std::size_t>(m)];
        out[2 * m + 1] = each * row[static_cast<std::size_t>(columns_ + m)];
      }
    }
  }

 private:
  const SpectralPlan& plan_;
  std::int64_t columns_;
  double* sums_;  ///< [K, 2, columns]
};

/// Zeros that begin at a cache line.
template <class T>
class Zeros {
 public:
  explicit Zeros(std::int64_t n)
      : data_(static_cast<T*>(
            ::operator new(static_cast<std::size_t>(n) * sizeof(T), std::align_val_t(64)))) {
    forall(n, [p = data_](std::int64_t i) { p[i] = 0; });
  }
  ~Zeros() { ::operator delete(data_, std::align_val_t(64)); }
  Zeros(const Zeros&) = delete;
  Zeros& operator=(const Zeros&) = delete;
  T* data() { return data_; }

 private:
  T* data_;
};

/// Steps taken at once, the more the fewer changes of unknowns: 48 MiB for what goes in and out,
/// `columns` numbers a step.
template <class T>
std::int64_t block_of(std::int64_t columns) {
  return std::clamp<std::int64_t>((std::int64_t{48} << 20) / (std::max<std::int64_t>(columns, 1) *
                                                              static_cast<std::int64_t>(sizeof(T))),
                                  1, 64);
}

/// Room for [steps, edges] of fields of one or two parts.
template <class T>
std::vector<T> room(const YeeScheme& s, std::int64_t steps, std::int64_t edges) {
  return std::vector<T>(static_cast<std::size_t>(s.parts() * steps * edges));
}

template <class T>
void see(Swing& swing, const std::vector<T>& values, std::int64_t count, bool at_end) {
  double largest = 0;
  for (std::int64_t m = 0; m < count; ++m)
    largest = std::max(largest, std::abs(static_cast<double>(values[static_cast<std::size_t>(m)])));
  swing.ever = std::max(swing.ever, largest);
  if (at_end) swing.at_end = std::max(swing.at_end, largest);
}

/// A list of spectra [K, edges] as this rank's scheme has them: the list itself where the grid is
/// whole.
class OwnSpectra {
 public:
  OwnSpectra(const SpectralPlan& plan, const RankColumns& columns, std::int64_t width)
      : plan_(plan), columns_(columns), width_(width) {}
  const std::complex<double>* of(const std::complex<double>* all) {
    if (!plan_.op->cut.ranks || !all) return all;
    own_ = own_columns(*plan_.op, all, columns_, width_, plan_.n_frequencies());
    return own_.data();
  }
  std::complex<double>* room_for(std::complex<double>* all, std::int64_t own) {
    if (!plan_.op->cut.ranks) return all;
    own_.resize(static_cast<std::size_t>(plan_.n_frequencies() * own));
    return own_.data();
  }
  void finish(std::complex<double>* all) {
    if (plan_.op->cut.ranks)
      whole_columns(*plan_.op, own_, columns_, width_, plan_.n_frequencies(), all);
  }

 private:
  const SpectralPlan& plan_;
  const RankColumns& columns_;
  std::int64_t width_;
  std::vector<std::complex<double>> own_;
};

template <class T>
std::vector<T> own_coefficients(const YeeOp& op, const double* coefficients) {
  const std::vector<double> own =
      own_columns(op, coefficients, op.columns.traced, op.n_traced(), 1);
  return {own.begin(), own.end()};
}

/// The largest of all ranks.
void agree(const YeeOp& op, Swing& swing) {
  if (!op.cut.ranks) return;
  for (const parallel::Bytes& b :
       op.cut.ranks->all_gather(parallel::to_bytes(std::vector<Swing>{swing}))) {
    const Swing other = parallel::from_bytes<Swing>(b).at(0);
    swing = {std::max(swing.ever, other.ever), std::max(swing.at_end, other.at_end)};
  }
}

/// Blocks of steps are the same on all ranks.
template <class T>
void forward(const SpectralPlan& plan, const double* coefficients,
             const std::complex<double>* currents, std::complex<double>* records,
             std::complex<double>* traces, Swing* swing) {
  const YeeOp& op = *plan.op;
  const YeeScheme& s = op.scheme;
  const std::vector<T> cb = own_coefficients<T>(op, coefficients);
  OwnSpectra own_w(plan, op.columns.injected, op.n_injected()),
      own_x(plan, op.columns.recorded, op.n_recorded()),
      own_u(plan, op.columns.traced, op.n_traced());
  const Drive drive(plan, own_w.of(currents), s.n_injected());
  Sums x(plan, s.n_recorded(), own_x.room_for(records, s.n_recorded())),
      u(plan, s.n_traced(), own_u.room_for(traces, s.n_traced()));
  Zeros<T> state(s.state_size());
  const std::int64_t block =
      block_of<T>(s.parts() * (op.n_injected() + op.n_recorded() + op.n_traced()));
  std::vector<T> in = room<T>(s, block, s.n_injected()), out = room<T>(s, block, s.n_recorded()),
                 brackets = room<T>(s, block, s.n_traced());
  for (std::int64_t first = 0; first < plan.n_steps; first += block) {
    const std::int64_t n = std::min(block, plan.n_steps - first);
    const bool over = drive.over(first);
    if (!over) drive.fill(first, n, false, in.data());
    s.advance(state.data(), n, over ? nullptr : in.data(), out.data(), brackets.data(),
              cb.empty() ? nullptr : cb.data());
    x.add(first, n, false, out.data(), 1);
    u.add(first, n, false, brackets.data(), 1);
    if (!swing) continue;
    const bool at_end = first + n > plan.n_steps - plan.n_steps / 20;
    see(*swing, out, s.parts() * n * s.n_recorded(), at_end);
    see(*swing, brackets, s.parts() * n * s.n_traced(), at_end);
  }
  x.finish();
  u.finish();
  own_x.finish(records);
  own_u.finish(traces);
  if (swing) agree(op, *swing);
}

/// With two parts the transposed run is the conjugate of H^T: real signals go in, the conjugate is
/// taken of what comes out.
template <class T>
void transposed(const SpectralPlan& plan, const double* coefficients,
                const std::complex<double>* records, const std::complex<double>* traces,
                std::complex<double>* currents) {
  const YeeOp& op = *plan.op;
  const YeeScheme& s = op.scheme;
  const std::vector<T> cb = own_coefficients<T>(op, coefficients);
  OwnSpectra own_x(plan, op.columns.recorded, op.n_recorded()),
      own_u(plan, op.columns.traced, op.n_traced()),
      own_w(plan, op.columns.injected, op.n_injected());
  const Drive x(plan, own_x.of(records), s.n_recorded()),
      u(plan, own_u.of(traces), traces ? s.n_traced() : 0);
  Sums w(plan, s.n_injected(), own_w.room_for(currents, s.n_injected()));
  Zeros<T> state(s.state_size());
  const std::int64_t block =
      block_of<T>(s.parts() * (op.n_injected() + op.n_recorded() + (traces ? op.n_traced() : 0)));
  std::vector<T> in_x = room<T>(s, block, s.n_recorded()),
                 in_u = room<T>(s, block, traces ? s.n_traced() : 0),
                 out = room<T>(s, block, s.n_injected());
  for (std::int64_t first = 0; first < plan.n_steps; first += block) {
    const std::int64_t n = std::min(block, plan.n_steps - first);
    if (!x.over(first)) x.fill(first, n, true, in_x.data());
    if (!u.over(first)) u.fill(first, n, true, in_u.data());
    s.advance_transposed(state.data(), n, x.over(first) ? nullptr : in_x.data(),
                         u.over(first) ? nullptr : in_u.data(), out.data(), nullptr,
                         cb.empty() ? nullptr : cb.data());
    w.add(first, n, true, out.data(), -1);
  }
  w.finish();
  own_w.finish(currents);
}

}  // namespace

void run_forward(const SpectralPlan& plan, const double* coefficients,
                 const std::complex<double>* currents, std::complex<double>* records,
                 std::complex<double>* traces, Swing* swing) {
  if (plan.op->scheme.dtype() == Dtype::f32)
    forward<float>(plan, coefficients, currents, records, traces, swing);
  else
    forward<double>(plan, coefficients, currents, records, traces, swing);
}
void run_transposed(const SpectralPlan& plan, const double* coefficients,
                    const std::complex<double>* records, const std::complex<double>* traces,
                    std::complex<double>* currents) {
  if (plan.op->scheme.dtype() == Dtype::f32)
    transposed<float>(plan, coefficients, records, traces, currents);
  else
    transposed<double>(plan, coefficients, records, traces, currents);
}

}  // namespace tessera::electromagnetics::adjoint
