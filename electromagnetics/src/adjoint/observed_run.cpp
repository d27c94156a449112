// SPDX-License-Identifier: Apache-2.0
#include "tessera/electromagnetics/observed_run.h"

#include "tessera/autodiff/loops.h"
#include "tessera/autodiff/ops.h"
#include "tessera/electromagnetics/response.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tessera::electromagnetics {
namespace {

using Tensors = std::vector<Tensor>;

/// Of records in time, that sums over all steps pick out; more are taken from the steps.
constexpr std::int64_t few_steps = 64;

void require_observation(const Observation& o, std::size_t number, std::int64_t n_steps) {
  const auto refuse = [&](const std::string& what) {
    throw Error(fmt::format("[ObservedRun] observation {} {}", number, what));
  };
  if (o.frequencies_hz.empty()) {
    if (o.kept.empty()) refuse("has neither frequencies nor steps that are kept");
    if (!std::is_sorted(o.kept.begin(), o.kept.end()) || o.kept.front() < 0 ||
        o.kept.back() >= n_steps)
      refuse(fmt::format("should keep rising steps of a run of {}, from 0 on", n_steps));
    return;
  }
  if (o.every < 1) refuse(fmt::format("takes one step of {}", o.every));
  if (const std::size_t sums = 2 * o.frequencies_hz.size() * o.edges.size();
      !o.start.empty() && o.start.size() != sums)
    refuse(fmt::format("begins at {} sums, should be {}", o.start.size(), sums));
}

/// Of the sums that make an observation; 0: it is made of the steps themselves.
std::int64_t rows_of(const Observation& o) {
  if (!o.frequencies_hz.empty()) return 2 * static_cast<std::int64_t>(o.frequencies_hz.size());
  const auto kept = static_cast<std::int64_t>(o.kept.size());
  return kept <= few_steps ? kept : 0;
}

/// What a part of a field has of a current.
double phase_factor(const Injection& source, std::int64_t edge, int part) {
  const double phase = source.phase.empty() ? 0 : source.phase[static_cast<std::size_t>(edge)];
  return part == 0 ? std::cos(phase) : std::sin(phase);
}

}  // namespace

CurrentsTooLarge::CurrentsTooLarge(std::int64_t n_edges, std::int64_t n_steps, double n_bytes)
    : Error(fmt::format("[ObservedRun] the sources drive {} edges over {} steps: {:.3g} GB of "
                        "currents",
                        n_edges, n_steps, n_bytes / 1e9)),
      edges(n_edges),
      steps(n_steps),
      bytes(n_bytes) {}

ObservedRun::ObservedRun(YeeModel model, const std::vector<Injection>& sources,
                         std::vector<Observation> observations, std::int64_t n_steps,
                         const ObservedRunOptions& options)
    : n_steps_(n_steps) {
  if (n_steps < 1)
    throw Error(fmt::format("[ObservedRun] a run takes 1 step at least, got {}", n_steps));
  model.injected.clear(), model.recorded.clear();
  for (const Injection& q : sources)
    model.injected.insert(model.injected.end(), q.edges.begin(), q.edges.end());
  for (std::size_t q = 0; q < observations.size(); ++q) {
    Observation& o = observations[q];
    require_observation(o, q, n_steps);
    const auto first = static_cast<std::int64_t>(model.recorded.size());
    model.recorded.insert(model.recorded.end(), o.edges.begin(), o.edges.end());
    watched_.push_back({std::move(o), first});
    watched_.back().rows = rows_of(watched_.back().what);
  }
  op_ = yee_op(std::move(model), options.cut, options.before_block);
  const std::int64_t columns =
      std::max<std::int64_t>(1, op_->scheme.parts() * (op_->n_injected() + op_->n_recorded()));
  block_ = std::min(n_steps, std::clamp<std::int64_t>((std::int64_t{8} << 20) / columns, 1, 32));
  blocks_ = (n_steps + block_ - 1) / block_;
  inject(sources, options.most_bytes);
  for (const Watched& w : watched_)
    if (w.rows > 0) weights_.push_back(weights_of(w));
}

/// [blocks, rows, block]; steps that fill the last block up count for nothing.
Tensor ObservedRun::weights_of(const Watched& w) const {
  const std::int64_t steps = blocks_ * block_;
  std::vector<double> table(static_cast<std::size_t>(w.rows * steps), 0.0);
  const auto at = [&](std::size_t row, std::int64_t n) -> double& {
    return table[row * static_cast<std::size_t>(steps) + static_cast<std::size_t>(n)];
  };
  const std::vector<double>& f = w.what.frequencies_hz;
  for (std::size_t k = 0; k < f.size(); ++k)
    for (std::int64_t n = w.what.every - 1; n < n_steps_; n += w.what.every) {
      const double phase = -2 * std::numbers::pi * f[k] * static_cast<double>(n + 1) * op_->dt_s;
      at(2 * k, n) = std::cos(phase);
      at(2 * k + 1, n) = std::sin(phase);
    }
  for (std::size_t r = 0; f.empty() && r < w.what.kept.size(); ++r) at(r, w.what.kept[r]) = 1;
  return contiguous(transpose(reshape(tensor(table), {w.rows, blocks_, block_}), {1, 0, 2}));
}

/// What all sources inject, and the source of each column.
void ObservedRun::inject(const std::vector<Injection>& sources, double most_bytes) {
  const int parts = op_->scheme.parts();
  std::int64_t driven = 0;
  std::vector<std::int64_t> source_of;
  for (std::size_t q = 0; q < sources.size(); ++q) {
    driven += static_cast<std::int64_t>(sources[q].edges.size());
    source_of.insert(source_of.end(), sources[q].edges.size(), static_cast<std::int64_t>(q));
  }
  const std::int64_t steps = blocks_ * block_;
  const double bytes = static_cast<double>(steps) * static_cast<double>(driven * parts) * 8;
  if (bytes > most_bytes) throw CurrentsTooLarge(driven, steps, bytes);
  std::vector<double> all(static_cast<std::size_t>(steps * parts * driven), 0.0);
  std::int64_t column = 0;
  for (const Injection& source : sources) {
    const auto m = static_cast<std::int64_t>(source.edges.size());
    for (std::int64_t b = 0; b < blocks_; ++b) {
      const std::vector<double> own = source.currents(b * block_, block_, op_->dt_s);
      if (own.empty()) break;
      for (int part = 0; part < parts; ++part)
        for (std::int64_t n = 0; n < block_; ++n)
          for (std::int64_t i = 0; i < m; ++i)
            all[static_cast<std::size_t>(((b * parts + part) * block_ + n) * driven + column + i)] =
                own[static_cast<std::size_t>(n * m + i)] * phase_factor(source, i, part);
    }
    column += m;
  }
  unit_currents_ = parts == 1 ? tensor(all, {blocks_, block_, driven})
                              : tensor(all, {blocks_, 2, block_, driven});
  source_of_ = tensor(source_of);
}

/// From the sums [parts, rows, edges]: as RunningDft::at.
Tensor ObservedRun::transforms_of(const Watched& w, const Tensor& sums) const {
  const Observation& o = w.what;
  const double dt = op_->dt_s;
  const auto k = static_cast<Index>(o.frequencies_hz.size()),
             m = static_cast<Index>(o.edges.size());
  const Tensor s = reshape(sums, {sums.dim(0), k, 2, m}), x = select(s, 0, 0);
  Tensor re = select(x, 1, 0), im = select(x, 1, 1);
  if (sums.dim(0) == 2) {
    const Tensor y = select(s, 0, 1);
    re = re - select(y, 1, 1);
    im = im + select(y, 1, 0);
  }
  if (!o.start.empty()) {
    const Tensor start = tensor(o.start, {k, 2, m});
    re = re + select(start, 1, 0);
    im = im + select(start, 1, 1);
  }
  std::vector<c128> scale;
  for (const double f : o.frequencies_hz)
    for (const Edge& e : o.edges)
      scale.push_back(
          dt * o.every *
          (is_electric(e.component) ? c128(1) : std::polar(1.0, std::numbers::pi * f * dt)));
  return complex(re, im) * tensor(scale, {k, m});
}

Tensors ObservedRun::values(const Tensor& inverse_eps, const Tensor& strengths) const {
  if (op_->channels > 1 && !inverse_eps.defined())
    throw Error("[ObservedRun] the media of mixed edges are missing: give theta [design, K]");
  const Tensor cb = op_->channels > 1       ? inverse_eps
                    : inverse_eps.defined() ? coefficients(op_, inverse_eps)
                                            : coefficients(op_);
  const Tensor strength = strengths.defined() ? take(strengths, source_of_) : Tensor();
  const int parts = op_->scheme.parts();
  const auto edges = [](const Watched& w) { return static_cast<Index>(w.what.edges.size()); };
  Tensors sums;
  for (const Watched& w : watched_)
    if (w.rows > 0) sums.push_back(zeros({parts, w.rows, edges(w)}));
  const auto [end, kept] = scan(
      [&](std::pair<Tensor, Tensors> carry, std::pair<Tensor, Tensors> x) {
        const YeeResult r =
            advance(op_, carry.first, cb, strength.defined() ? x.first * strength : x.first);
        const Tensor all = reshape(cast(r.records, Dtype::f64), {parts, block_, op_->n_recorded()});
        Tensors now, out;
        std::size_t q = 0;
        for (const Watched& w : watched_) {
          const Tensor mine = slice(all, 2, w.first, w.first + edges(w));
          if (w.rows == 0)
            out.push_back(mine);
          else
            now.push_back(carry.second[q] + matmul(x.second[q], mine)), ++q;
        }
        return std::pair(std::pair(r.state, now), out);
      },
      std::pair(initial_state(op_), sums), std::pair(unit_currents_, weights_),
      {.checkpoint = Checkpoint::revolve(12)});
  Tensors out;
  std::size_t stream = 0, next = 0;
  for (const Watched& w : watched_) {
    if (!w.what.frequencies_hz.empty()) {
      out.push_back(transforms_of(w, end.second[next++]));
      continue;
    }
    const Tensor records = w.rows > 0 ? end.second[next++]
                                      : take(reshape(transpose(kept[stream++], {1, 0, 2, 3}),
                                                     {parts, blocks_ * block_, edges(w)}),
                                             tensor(w.what.kept), 1);
    out.push_back(parts == 1 ? select(records, 0, 0) : records);
  }
  return out;
}

Tensor real_sample_values(const SampleList& samples, const Tensor& records) {
  if (records.ndim() == 2) return sample_values(samples, records);
  return real(sample_values(samples, complex(select(records, 0, 0), select(records, 0, 1))));
}

}  // namespace tessera::electromagnetics
