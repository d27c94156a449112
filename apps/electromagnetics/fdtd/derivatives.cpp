// SPDX-License-Identifier: Apache-2.0
// A case as a differentiable function: its run, step by step as `tessera run` takes it but in
// float64, with the permittivities of edges and the strengths of the sources as parameters, and
// what its monitors tell as results.
#include "electromagnetics/fdtd/monitors.h"
#include "electromagnetics/fdtd/run.h"
#include "tessera/autodiff/loops.h"
#include "tessera/autodiff/ops.h"
#include "tessera/electromagnetics/free_edges.h"
#include "tessera/electromagnetics/response.h"
#include "tessera/electromagnetics/yee_primitive.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tessera::apps::fdtd {
namespace {

namespace em = electromagnetics;
using Tensors = std::vector<Tensor>;

constexpr double kReach = 0.05;  ///< of a permittivity, relative: stays stable at 0.97 of the limit
/// A monitor in time that keeps no more picks them from the sum over steps.
constexpr std::int64_t kFewSteps = 64;
constexpr double kMostBytes = 2e9;  ///< of what all sources inject

// ---- what the monitors see

/// How the samples of a monitor come about: as weighted sums over the steps, or, of many steps, as
/// these themselves.
struct Watched {
  std::int64_t first = 0, edges = 0;  ///< columns among the recorded edges
  std::optional<Monitor::Transform> transform;
  std::vector<std::int64_t> kept;  ///< steps counted from 0, of a monitor in time
  std::vector<double> weights;     ///< [rows, steps]; empty: the steps themselves
  std::int64_t rows = 0;
};

Watched watch(const Monitor& m, std::int64_t first, std::int64_t steps, double dt) {
  Watched w{.first = first,
            .edges = static_cast<std::int64_t>(m.edges().size()),
            .transform = m.transform()};
  if (w.transform) {
    w.rows = 2 * static_cast<std::int64_t>(w.transform->frequencies_hz.size());
    w.weights.assign(static_cast<std::size_t>(w.rows * steps), 0.0);
    for (std::size_t k = 0; k < w.transform->frequencies_hz.size(); ++k)
      for (std::int64_t n = w.transform->every - 1; n < steps; n += w.transform->every) {
        const double phase = -2 * std::numbers::pi * w.transform->frequencies_hz[k] *
                             static_cast<double>(n + 1) * dt;
        w.weights[2 * k * static_cast<std::size_t>(steps) + static_cast<std::size_t>(n)] =
            std::cos(phase);
        w.weights[(2 * k + 1) * static_cast<std::size_t>(steps) + static_cast<std::size_t>(n)] =
            std::sin(phase);
      }
    return w;
  }
  for (std::int64_t n = 0; n < steps; ++n)
    if (m.keeps(n + 1)) w.kept.push_back(n);
  if (static_cast<std::int64_t>(w.kept.size()) > kFewSteps) return w;
  w.rows = static_cast<std::int64_t>(w.kept.size());
  w.weights.assign(static_cast<std::size_t>(w.rows * steps), 0.0);
  for (std::size_t r = 0; r < w.kept.size(); ++r)
    w.weights[r * static_cast<std::size_t>(steps) + static_cast<std::size_t>(w.kept[r])] = 1;
  return w;
}

/// [rows, steps] as [block, rows, steps of a block].
Tensor in_blocks(const std::vector<double>& table, std::int64_t rows, std::int64_t blocks,
                 std::int64_t block) {
  return contiguous(transpose(reshape(tensor(table), {rows, blocks, block}), {1, 0, 2}));
}

/// The spectra at the edges from the sums over the steps [parts, rows, edges]: as RunningDft::at.
Tensor spectra_at_edges(const Tensor& sums, const Monitor::Transform& t,
                        const std::vector<em::Edge>& edges, double dt) {
  const auto k = static_cast<Index>(t.frequencies_hz.size()), m = static_cast<Index>(edges.size());
  const Tensor s = reshape(sums, {sums.dim(0), k, 2, m}), x = select(s, 0, 0);
  Tensor re = select(x, 1, 0), im = select(x, 1, 1);
  if (sums.dim(0) == 2) {
    const Tensor y = select(s, 0, 1);
    re = re - select(y, 1, 1);
    im = im + select(y, 1, 0);
  }
  if (!t.start.empty()) {
    const Tensor start = tensor(t.start, {k, 2, m});
    re = re + select(start, 1, 0);
    im = im + select(start, 1, 1);
  }
  std::vector<c128> scale;
  for (const double f : t.frequencies_hz)
    for (const em::Edge& e : edges)
      scale.push_back(
          dt * t.every *
          (em::is_electric(e.component) ? c128(1) : std::polar(1.0, std::numbers::pi * f * dt)));
  return complex(re, im) * tensor(scale, {k, m});
}

/// The real part of samples from records [parts, steps, edges].
Tensor real_values_of(const em::SampleList& samples, const Tensor& records) {
  if (records.dim(0) == 1) return em::sample_values(samples, select(records, 0, 0));
  return real(em::sample_values(samples, complex(select(records, 0, 0), select(records, 0, 1))));
}

// ---- the run

struct Simulation {
  std::shared_ptr<MonitoredCase> made;
  const Case& c;
  std::vector<std::unique_ptr<Monitor>>& monitors;
  std::vector<Watched> watched;
  em::YeeOpPtr op;
  std::int64_t steps = 0, block = 0, blocks = 0;
  bool has_eps = false, has_sources = false;
  Tensor unit_currents;  ///< [blocks, (part,) block, driven] of sources of strength 1
  Tensor source_of;      ///< [driven] i64
  Tensors weights;       ///< [blocks, rows, block] of each monitor that has any

  explicit Simulation(std::shared_ptr<MonitoredCase> case_)
      : made(std::move(case_)), c(made->c), monitors(made->monitors) {}

  /// One real tensor for each monitor that measures anything.
  Tensors values(const Tensors& parameters) const {
    const Tensor cb = has_eps ? em::coefficients(op, 1.0 / parameters[0]) : em::coefficients(op);
    const Tensor strength = has_sources ? take(parameters.back(), source_of) : Tensor();
    const int parts = op->scheme.parts();
    Tensors sums, streams;
    std::size_t next = 0;
    for (const Watched& w : watched)
      if (!w.weights.empty()) sums.push_back(zeros({parts, w.rows, w.edges}));
    const auto [end, kept] = scan(
        [&](std::pair<Tensor, Tensors> carry, std::pair<Tensor, Tensors> x) {
          const em::YeeResult r =
              em::advance(op, carry.first, cb, has_sources ? x.first * strength : x.first);
          const Tensor all = reshape(r.records, {parts, block, op->scheme.n_recorded()});
          Tensors now, out;
          std::size_t q = 0;
          for (const Watched& w : watched) {
            const Tensor mine = slice(all, 2, w.first, w.first + w.edges);
            if (w.weights.empty())
              out.push_back(mine);
            else
              now.push_back(carry.second[q] + matmul(x.second[q], mine)), ++q;
          }
          return std::pair(std::pair(r.state, now), out);
        },
        std::pair(em::initial_state(op), sums), std::pair(unit_currents, weights),
        {.checkpoint = Checkpoint::revolve(12)});
    Tensors out;
    std::size_t stream = 0;
    next = 0;
    for (std::size_t m = 0; m < watched.size(); ++m) {
      const Watched& w = watched[m];
      const em::SampleList& samples = monitors[m]->samples();
      Tensor seen;
      if (w.transform)
        seen = em::sample_values(samples, spectra_at_edges(end.second[next++], *w.transform,
                                                           monitors[m]->edges(), c.dt_s));
      else if (!w.weights.empty())
        seen = real_values_of(samples, end.second[next++]);
      else
        seen = real_values_of(samples, take(reshape(transpose(kept[stream++], {1, 0, 2, 3}),
                                                    {parts, blocks * block, w.edges}),
                                            tensor(w.kept), 1));
      const Tensor figure = monitors[m]->figure(seen);
      out.push_back(is_complex(figure.dtype()) ? stack({real(figure), imag(figure)}) : figure);
    }
    return out;
  }
};

/// What all sources inject, [blocks, (part,) block, driven], and the source of each column.
void inject(Simulation& s, const std::vector<em::Injection>& sources, int parts) {
  std::int64_t driven = 0;
  std::vector<std::int64_t> source_of;
  for (std::size_t q = 0; q < sources.size(); ++q) {
    driven += static_cast<std::int64_t>(sources[q].edges.size());
    source_of.insert(source_of.end(), sources[q].edges.size(), static_cast<std::int64_t>(q));
  }
  const std::int64_t steps = s.blocks * s.block;
  if (static_cast<double>(steps) * static_cast<double>(driven * parts) * 8 > kMostBytes)
    throw data::InputError(
        {.number = 0,
         .place = {"tessera", 0, 0, {}},
         .message = fmt::format(
             "the sources drive {} edges over {} steps: a check would hold {:.3g} GB of currents",
             driven, steps, static_cast<double>(steps * driven * parts) * 8e-9),
         .hint = "check fewer steps: --set run.stop.steps=..."},
        data::ExitCode::would_not_fit);
  std::vector<double> all(static_cast<std::size_t>(steps * parts * driven), 0.0);
  std::int64_t column = 0;
  for (const em::Injection& source : sources) {
    const auto m = static_cast<std::int64_t>(source.edges.size());
    for (std::int64_t b = 0; b < s.blocks; ++b) {
      const std::vector<double> own = source.currents(b * s.block, s.block, s.c.dt_s);
      if (own.empty()) break;
      for (int part = 0; part < parts; ++part)
        for (std::int64_t n = 0; n < s.block; ++n)
          for (std::int64_t i = 0; i < m; ++i) {
            const double phase =
                source.phase.empty() ? 0 : source.phase[static_cast<std::size_t>(i)];
            all[static_cast<std::size_t>(((b * parts + part) * s.block + n) * driven + column +
                                         i)] = own[static_cast<std::size_t>(n * m + i)] *
                                               (part == 0 ? std::cos(phase) : std::sin(phase));
          }
    }
    column += m;
  }
  s.unit_currents = parts == 1 ? tensor(all, {s.blocks, s.block, driven})
                               : tensor(all, {s.blocks, 2, s.block, driven});
  s.source_of = tensor(source_of);
}

/// Steps of the run; where only the fields end it, until the sources have ended and waves have
/// passed the domain twice.
std::int64_t steps_of(const Case& c, const std::vector<em::Injection>& sources,
                      std::vector<std::string>& lines) {
  double sources_end = 0;
  for (const em::Injection& s : sources) sources_end = std::max(sources_end, s.end_s);
  if (const std::int64_t n = fixed_end(c, sources_end)) return n;
  const std::int64_t n = em::steps_of_passages(c.grid, c.media, sources_end, c.dt_s);
  lines.push_back(
      fmt::format("the run ends by its decay; checked are {} steps: the sources, and two passages "
                  "of the domain (other numbers: --set run.stop.steps=...)",
                  n));
  return n;
}

}  // namespace

void check_differentiable(const Case& c, const data::Config& config) {
  for (const em::Medium& m : c.media)
    if (m.chi2 != 0 || m.chi3 != 0)
      throw data::InputError(
          config.error(
              642, "material",
              fmt::format(
                  "medium '{}' is nonlinear: its steps have no transpose, hence no derivatives",
                  m.name),
              "set chi2 and chi3 to zero"),
          data::ExitCode::config_invalid);
}

Derivatives derivatives(std::shared_ptr<MonitoredCase> made) {
  auto s = std::make_shared<Simulation>(std::move(made));
  const Case& c = s->c;
  Derivatives out;
  const std::vector<em::Injection> sources = make_injections(c);
  s->steps = steps_of(c, sources, out.lines);

  em::YeeModel model = make_model(c);
  const em::FreeEdges design = em::free_edges(model, c.stepped.front());
  for (const em::Injection& q : sources)
    model.injected.insert(model.injected.end(), q.edges.begin(), q.edges.end());
  // Monitors that have nothing to tell by now are left out.
  std::erase_if(s->monitors, [&](const std::unique_ptr<Monitor>& m) {
    Watched w = watch(*m, static_cast<std::int64_t>(model.recorded.size()), s->steps, c.dt_s);
    if (!w.transform && w.kept.empty()) {
      out.left_out.push_back("monitor " + m->options().name + ", which keeps none of these steps");
      return true;
    }
    model.recorded.insert(model.recorded.end(), m->edges().begin(), m->edges().end());
    s->watched.push_back(std::move(w));
    out.results.push_back(m->options().name + " " + m->figure_name());
    if (m->options().kind == MonitorKind::resonances)
      out.left_out.push_back("the resonances of " + m->options().name +
                             ": harmonic inversion is not differentiated, its record is");
    return false;
  });
  model.traced = design.edges;
  const bool tensors = !model.tensors.empty();
  s->op = em::yee_op(std::move(model));
  const int parts = s->op->scheme.parts();
  const std::int64_t columns =
      std::max<std::int64_t>(1, parts * (s->op->scheme.n_injected() + s->op->scheme.n_recorded()));
  s->block = std::min(s->steps, std::clamp<std::int64_t>((std::int64_t{8} << 20) / columns, 1, 32));
  s->blocks = (s->steps + s->block - 1) / s->block;
  inject(*s, sources, parts);
  // Steps that fill the last block up count for nothing.
  for (Watched& w : s->watched) {
    if (w.weights.empty()) continue;
    std::vector<double> padded(static_cast<std::size_t>(w.rows * s->blocks * s->block), 0.0);
    for (std::int64_t r = 0; r < w.rows; ++r)
      std::copy_n(w.weights.begin() + r * s->steps, s->steps,
                  padded.begin() + r * s->blocks * s->block);
    s->weights.push_back(in_blocks(padded, w.rows, s->blocks, s->block));
  }

  s->has_eps = !design.edges.empty();
  s->has_sources = !sources.empty();
  if (s->has_eps) {
    const Tensor eps = tensor(design.eps);
    out.parameters.push_back({"permittivity", eps, kReach * eps});
    out.lines.push_back(
        fmt::format("permittivity: {} edges {}, one parameter each, moved by up to {:.0f} %",
                    design.edges.size(),
                    design.of_background ? "of the background in the middle of the domain (no "
                                           "structure is a lossless dielectric)"
                                         : "of structures",
                    100 * kReach));
  }
  if (s->has_sources) {
    const Tensor ones = full({static_cast<Index>(sources.size())}, 1.0);
    out.parameters.push_back({"sources", ones, 0.5 * ones});
    out.lines.push_back(fmt::format("sources: the strength of each of {}", sources.size()));
  }
  out.lines.push_back(fmt::format("{} steps of {} x {} x {} cells in float64", s->steps,
                                  c.grid.cells(0), c.grid.cells(1), c.grid.cells(2)));
  if (design.lossy)
    out.left_out.push_back(
        fmt::format("{} edges with conductivity, whose coefficient does not tell all of the medium",
                    design.lossy));
  if (design.dispersive)
    out.left_out.push_back(fmt::format("{} edges of dispersive media", design.dispersive));
  if (design.conducting)
    out.left_out.push_back(fmt::format("{} edges of perfect conductors", design.conducting));
  if (tensors)
    out.left_out.push_back(
        "the tensors at slanted faces, which stay as they are while the permittivities move");
  out.left_out.push_back(
      "conductivities, poles, permeabilities, shapes and positions: they are not parameters");
  out.left_out.push_back(
      "results that are made of others (`relative_to`), and float32, whose rounding differences "
      "would show");
  out.values = [s](const Tensors& p) { return s->values(p); };
  return out;
}

}  // namespace tessera::apps::fdtd
