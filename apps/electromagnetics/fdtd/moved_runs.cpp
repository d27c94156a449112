// SPDX-License-Identifier: Apache-2.0
#include "electromagnetics/fdtd/moved_runs.h"

#include "electromagnetics/fdtd/per_watt.h"
#include "electromagnetics/fdtd/port_monitor.h"
#include "tessera/autodiff/ops.h"
#include "tessera/electromagnetics/response.h"

#include <algorithm>
#include <cmath>
#include <complex>

namespace tessera::apps::fdtd {
namespace {

namespace em = electromagnetics;

/// The number that the names change, complex and 0-dimensional.
Tensor moved_by(const Tensor& change, const std::vector<std::complex<double>>& slopes) {
  const std::vector<c128> by(slopes.begin(), slopes.end());
  return sum(cast(change, Dtype::c128) * tensor(by));
}

bool any(const std::vector<std::complex<double>>& slopes) {
  return std::any_of(slopes.begin(), slopes.end(), [](const auto& x) { return x != 0.0; });
}

bool has_figures(const Monitor& m) {
  return m.options().kind != MonitorKind::resonances && !m.options().derivatives.empty();
}

}  // namespace

MovedRuns::MovedRuns(const MonitoredCase& made, const std::vector<std::int64_t>& steps,
                     std::function<void()> before_block)
    : made_(made), before_block_(std::move(before_block)) {
  for (std::size_t k = 0; k < steps.size(); ++k) runs_.push_back(make(k, steps[k]));
}

bool MovedRuns::with_scattering() const {
  return !made_.c.options.scattering.derivatives.empty() && !made_.c.excitations.empty();
}

MovedRuns::Run MovedRuns::make(std::size_t number, std::int64_t steps) const {
  Case exact = made_.c;
  exact.options.run.precision = Precision::f64;
  const Monitors& all = made_.of_excitation(number);
  std::vector<bool> wanted(all.size(), false);
  for (std::size_t m = 0; m < all.size(); ++m) {
    if (m + ports() >= all.size()) wanted[m] = true;
    if (!has_figures(*all[m])) continue;
    wanted[m] = true;
    for (std::size_t b = 0; b < all.size(); ++b)
      if (all[m]->options().relative_to == all[b]->options().name) wanted[b] = true;
  }
  std::vector<std::size_t> monitors, moved;
  std::vector<em::Observation> observations;
  for (std::size_t m = 0; m < all.size(); ++m) {
    if (!wanted[m]) continue;
    const auto t = all[m]->transform();
    monitors.push_back(m);
    observations.push_back({.edges = all[m]->edges(),
                            .frequencies_hz = t->frequencies_hz,
                            .every = t->every,
                            .start = t->start});
  }
  std::vector<em::Injection> sources = make_injections(exact, number);
  const std::size_t own = sources.size();
  const auto& slopes = made_.c.derivatives->sources;
  for (std::size_t n = 0; n < slopes.size(); ++n)
    if (number < slopes[n].size() && !slopes[n][number].edges.empty()) {
      sources.push_back(slopes[n][number]);
      moved.push_back(n);
    }
  em::YeeModel model = make_model(exact);
  model.mixed = made_.c.derivatives->media.edges;
  return {em::ObservedRun(std::move(model), sources, std::move(observations), steps,
                          {.before_block = before_block_}),
          std::move(monitors), std::move(moved), own};
}

Tensor MovedRuns::waves(std::size_t run, std::size_t port, const Tensor& values,
                        const Tensor& change) const {
  const PortMonitor& m = port_monitor(made_.of_excitation(run), port, ports());
  const Tensor own = m.waves(values);
  std::vector<std::complex<double>> slopes;
  for (const auto& r : made_.c.derivatives->references) slopes.push_back(r.of_ports[port]);
  if (m.about().kind != PortKind::lumped || !any(slopes)) return own;
  const PortWaves at =
      at_impedance({select(own, 0, 0), select(own, 0, 1)},
                   {m.about().impedance.value(), m.about().reactance}, moved_by(change, slopes));
  return stack(std::vector<Tensor>{at.in, at.out});
}

PortConstants MovedRuns::constants(const Tensor& change) const {
  const Case& c = made_.c;
  PortConstants constants = constants_of(made_);
  std::vector<Tensor> own, of_s;  // [channel]
  for (const PortChannel& x : c.channels) {
    std::vector<std::complex<double>> of_port, reference;
    for (const auto& r : c.derivatives->references) {
      of_port.push_back(r.of_ports[x.port]);
      reference.push_back(c.options.scattering.reference ? r.of_s : r.of_ports[x.port]);
    }
    own.push_back(moved_by(change, of_port)), of_s.push_back(moved_by(change, reference));
  }
  constants.impedance = constants.impedance + stack(own);
  constants.reference = constants.reference + stack(of_s);
  return constants;
}

Tensor MovedRuns::scattering(const std::vector<Tensor>& waves, const Tensor& change) const {
  std::vector<Tensor> in, out;
  for (const Tensor& w : waves) in.push_back(select(w, 0, 0)), out.push_back(select(w, 0, 1));
  return scattering_matrix(made_.c, {stack(in, 2), stack(out, 2)}, constants(change));
}

void MovedRuns::add_figures(std::size_t run, const std::vector<Tensor>& kept, const Tensor& waves,
                            const Tensor& change, std::vector<Tensor>& out) {
  const Case& c = made_.c;
  const Monitors& all = made_.of_excitation(run);
  Tensor watt;
  if (c.options.scattering.per_watt != PerWatt::no && !c.excitations.empty()) {
    const PortWaves own{expand_dims(select(waves, 0, 0), -1), expand_dims(select(waves, 0, 1), -1)},
        whole = with_images(c, own), seen = seen_waves(c, own, constants(change));
    const auto driven = [&](const Tensor& x) {
      return select(select(x, 2, 0), 1, static_cast<Index>(c.excitations[run].channel));
    };
    watt = of_a_watt(c.options.scattering.per_watt, driven(seen.in), driven(whole.in),
                     driven(whole.out));
  }
  for (std::size_t m = 0; m + ports() < all.size(); ++m) {
    if (!has_figures(*all[m])) continue;
    Tensor base;
    for (std::size_t b = 0; b < all.size(); ++b)
      if (all[m]->options().relative_to == all[b]->options().name) base = all[b]->power(kept[b]);
    for (const Monitor::Figure& f : all[m]->figures(kept[m], base)) {
      Tensor value = f.value;
      if (watt.defined() && f.order > 0) {
        std::vector<std::int64_t> at;  // among the frequencies of S
        const std::vector<double> known = c.options.scattering.all_frequencies();
        const std::vector<double> own = all[m]->transform()->frequencies_hz;
        for (const double x : own)
          at.push_back(std::find_if(known.begin(), known.end(),
                                    [&](double y) { return std::abs(x - y) <= 1e-9 * x; }) -
                       known.begin());
        Tensor by = take(watt, tensor(at));
        if (f.order == 2) by = square(abs(by));
        while (by.ndim() < value.ndim()) by = expand_dims(by, -1);
        value = value * by;
      }
      figures_.push_back({run, m, f.name});
      out.push_back(value);
    }
  }
}

std::vector<Tensor> MovedRuns::values(const Tensor& change) {
  const Tensor theta = made_.c.derivatives->media.at(change);
  std::vector<Tensor> figures, waves_of_runs;
  figures_.clear();
  for (std::size_t k = 0; k < runs_.size(); ++k) {
    const Run& run = runs_[k];
    const Monitors& all = made_.of_excitation(k);
    std::vector<Tensor> strengths(run.sources, full({}, 1.0));
    for (const std::size_t n : run.moved)
      strengths.push_back(select(change, 0, static_cast<Index>(n)));
    const std::vector<Tensor> transforms =
        run.run.values(theta, run.moved.empty() ? Tensor() : stack(strengths));
    std::vector<Tensor> kept(all.size()), both;
    for (std::size_t q = 0; q < run.monitors.size(); ++q)
      kept[run.monitors[q]] = em::sample_values(all[run.monitors[q]]->samples(), transforms[q]);
    for (std::size_t p = 0; p < ports(); ++p)
      both.push_back(waves(k, p, kept[all.size() - ports() + p], change));
    waves_of_runs.push_back(both.empty() ? Tensor() : concatenate(both, 2));
    add_figures(k, kept, waves_of_runs.back(), change, figures);
  }
  if (with_scattering()) figures.insert(figures.begin(), scattering(waves_of_runs, change));
  return figures;
}

}  // namespace tessera::apps::fdtd
