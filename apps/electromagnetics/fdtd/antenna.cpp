// SPDX-License-Identifier: Apache-2.0
#include "electromagnetics/fdtd/antenna.h"

#include "electromagnetics/fdtd/port_monitor.h"
#include "electromagnetics/fdtd/results.h"
#include "electromagnetics/fdtd/scattering.h"
#include "electromagnetics/waves/exterior.h"
#include "tessera/autodiff/ops.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <iterator>

namespace tessera::apps::fdtd {
namespace {

using Numbers = std::vector<double>;

/// The values of `of`, over `known`, at `frequencies`; nothing where one is not known.
std::optional<Numbers> at_frequencies(const Numbers& of, const Numbers& known,
                                      const Numbers& frequencies) {
  Numbers out;
  for (const double f : frequencies) {
    const auto at = std::find_if(known.begin(), known.end(),
                                 [&](double x) { return std::abs(x - f) <= 1e-9 * f; });
    if (at == known.end()) return std::nullopt;
    out.push_back(of[static_cast<std::size_t>(at - known.begin())]);
  }
  return out;
}

Numbers over(const Numbers& a, const Numbers& b) {
  Numbers out;
  for (std::size_t k = 0; k < a.size(); ++k) out.push_back(b[k] > 0 ? a[k] / b[k] : NAN);
  return out;
}

/// A quantity times a number for each frequency.
Quantity scaled_quantity(const Quantity& q, const Numbers& by, std::string name,
                         std::string about) {
  Quantity out{std::move(name), q.units, std::move(about), q.shape, q.values};
  auto& v = std::get<Numbers>(out.values);
  const std::size_t each = v.size() / by.size();
  for (std::size_t i = 0; i < v.size(); ++i) v[i] *= by[i / each];
  return out;
}

const Numbers& numbers_of(const MonitorResult& r, const char* quantity) {
  return std::get<Numbers>(r.find(quantity)->values);
}

}  // namespace

PortPower port_power(const Case& c, const PortWaves& all, const Tensor& in,
                     std::optional<std::size_t> driven) {
  const Numbers entering = real_values(square(abs(all.in))),
                leaving = real_values(square(abs(all.out))), seen = real_values(square(abs(in)));
  const std::size_t n = c.channels.size();
  PortPower power{Numbers(entering.size() / n), Numbers(entering.size() / n)};
  for (std::size_t k = 0; k < n; ++k)
    for (std::size_t f = 0; f < power.accepted.size(); ++f) {
      power.accepted[f] += entering[f * n + k] - leaving[f * n + k];
      if (!driven || *driven == k) power.incident[f] += seen[f * n + k];
    }
  return power;
}

PortPower port_power(const MonitoredCase& made, std::size_t run) {
  const PortWaves own = waves_of(made), all = with_images(made.c, own),
                  seen = seen_waves(made.c, own, constants_of(made));
  const auto of_run = [&](const Tensor& x) { return select(x, 2, static_cast<Index>(run)); };
  return port_power(made.c, {of_run(all.in), of_run(all.out)}, of_run(seen.in),
                    made.c.excitations[run].channel);
}

void add_antenna_figures(const Case& c, const PortPower& power, Results& results) {
  const Numbers known = c.options.scattering.all_frequencies();
  for (MonitorResult& r : results) {
    if (r.kind != "far_field") continue;
    const auto incident = at_frequencies(power.incident, known, r.axis.values),
               accepted = at_frequencies(power.accepted, known, r.axis.values);
    if (!incident || !accepted) continue;  // there is a warning (doubts_cuts.cpp)
    const std::string unit = r.find("power")->units;
    const Numbers radiated = numbers_of(r, "power"), efficiency = over(radiated, *accepted),
                  total = over(radiated, *incident);
    const std::vector<std::uint64_t> shape{r.axis.values.size()};
    std::vector<Quantity> added;
    const auto add = [&](const char* of, const Numbers& by, const char* name, const char* about) {
      if (const Quantity* q = r.find(of)) added.push_back(scaled_quantity(*q, by, name, about));
    };
    add("directivity", efficiency, "gain", "4 pi (2-D: 2 pi) intensity over accepted power");
    add("directivity", total, "realised_gain",
        "the same over the power of the wave that drives, of what S refers to");
    add("beam_directivity", efficiency, "beam_gain", "gain of the main beam");
    add("beam_directivity", total, "beam_realised_gain", "realised gain of the main beam");
    added.push_back(
        {"radiation_efficiency", "1", "radiated over accepted power", shape, efficiency});
    added.push_back({"total_efficiency", "1",
                     "radiated power over that of the wave that drives, of what S refers to", shape,
                     total});
    added.push_back({"accepted_power", unit, "into the ports, less what leaves through them", shape,
                     *accepted});
    added.push_back({"incident_power", unit,
                     "of the wave that comes in at the driven port, of what S refers to", shape,
                     *incident});
    const auto sums = std::find_if(r.quantities.begin(), r.quantities.end(),
                                   [](const Quantity& q) { return q.name == "sums"; });
    r.quantities.insert(sums, std::make_move_iterator(added.begin()),
                        std::make_move_iterator(added.end()));
  }
}

void say_antenna_figures(const Results& results, data::Log& log) {
  const auto db = [](double x) { return 10 * std::log10(x); };
  for (const MonitorResult& r : results) {
    if (r.kind != "far_field" || !r.find("total_efficiency")) continue;
    const Numbers &total = numbers_of(r, "total_efficiency"),
                  &efficiency = numbers_of(r, "radiation_efficiency");
    const std::size_t f = largest_of(total);
    const char* of = r.find("beam_directivity") ? "beam_directivity" : "directivity";
    const Numbers& all = numbers_of(r, of);
    const std::size_t each = all.size() / total.size();
    const double most =
        *std::max_element(all.begin() + static_cast<std::ptrdiff_t>(f * each),
                          all.begin() + static_cast<std::ptrdiff_t>((f + 1) * each));
    log.info(fmt::format(
        "{}: at {:.6g} Hz directivity {:.2f} dBi, gain {:.2f} dBi, realised gain {:.2f} dBi; "
        "radiation efficiency {:.4f}, total efficiency {:.4f}",
        r.name, r.axis.values[f], db(most), db(most * efficiency[f]), db(most * total[f]),
        efficiency[f], total[f]));
  }
}

void add_arrays(const MonitoredCase& made, data::Log& log, Results& results) {
  const Case& c = made.c;
  if (c.options.scattering.arrays.empty()) return;
  const PortWaves own = told_alone(c, waves_of(made), driven_channels(c)),
                  whole = with_images(c, own), waves = seen_waves(c, own, constants_of(made));
  const Numbers known = c.options.scattering.all_frequencies();
  const auto frequencies = static_cast<Index>(known.size()),
             channels = static_cast<Index>(c.channels.size());
  for (const ArrayOptions& array : c.options.scattering.arrays) {
    std::vector<c128> wanted(c.channels.size());
    std::vector<Index> ports;  // channels
    for (std::size_t p = 0; p < array.ports.size(); ++p) {
      const auto at = std::find_if(c.channels.begin(), c.channels.end(),
                                   [&](const PortChannel& x) { return x.name == array.ports[p]; });
      ports.push_back(at - c.channels.begin());
      // At a port and, alike, at each of its images.
      const double copies = copies_of(c, c.channels[static_cast<std::size_t>(ports.back())].port);
      wanted[static_cast<std::size_t>(ports.back())] =
          std::polar(std::sqrt(copies) * (array.amplitudes.empty() ? 1.0 : array.amplitudes[p]),
                     array.phases.empty() ? 0.0 : array.phases[p]);
    }
    const std::vector<double> told = told_channels(c);
    Numbers there(known.size(), 1.0);  // 0 where waves of one of its ports are not told
    for (std::size_t f = 0; f < known.size(); ++f)
      for (const Index k : ports)
        there[f] *= told[f * c.channels.size() + static_cast<std::size_t>(k)];
    const Tensor in = where(tensor(there, {frequencies, 1}) > 0.5, tensor(wanted, {channels}),
                            c128(NAN, NAN)),
                 weights = squeeze(solve(waves.in, expand_dims(in, -1)), -1);
    const auto together = [&](const Tensor& x) {
      return squeeze(matmul(x, expand_dims(weights, -1)), -1);
    };
    const Tensor out = together(waves.out);
    const PortPower power =
        port_power(c, {together(whole.in), together(whole.out)}, in, std::nullopt);
    MonitorResult at_ports{array.name, "array", {"frequency", "Hz", known}, {}, {}};
    for (std::size_t p = 0; p < ports.size(); ++p)
      at_ports.quantities.push_back(
          {"active_reflection_" + array.ports[p],
           "1",
           "what leaves over what comes in there, of what S refers to",
           {known.size()},
           complex_values(select(out, 1, ports[p]) / select(in, 1, ports[p]))});
    const char* unit = c.grid.dimensions() == 3 ? "W*s^2" : "W*s^2/m";
    at_ports.quantities.push_back({"accepted_power",
                                   unit,
                                   "into all ports, less what leaves",
                                   {known.size()},
                                   power.accepted});
    at_ports.quantities.push_back({"incident_power",
                                   unit,
                                   "of the waves that come in, of what S refers to",
                                   {known.size()},
                                   power.incident});
    results.push_back(std::move(at_ports));
    Results far;
    for (std::size_t m = 0; m < c.options.monitors.size(); ++m) {
      std::vector<const Monitor*> runs;
      for (std::size_t k = 0; k < run_count(c); ++k) runs.push_back(made.of_excitation(k)[m].get());
      std::vector<Tensor> rows;
      for (const double f : c.options.monitors[m].all_frequencies()) {
        const auto at = std::find_if(known.begin(), known.end(),
                                     [&](double x) { return std::abs(x - f) <= 1e-9 * f; });
        if (at != known.end() && there[static_cast<std::size_t>(at - known.begin())] > 0)
          rows.push_back(select(weights, 0, at - known.begin()));
      }
      if (rows.size() != c.options.monitors[m].all_frequencies().size() || rows.empty()) continue;
      if (auto r = runs.front()->combined(runs, stack(rows, 0))) {
        r->name += "." + array.name;
        far.push_back(std::move(*r));
      }
    }
    add_antenna_figures(c, power, far);
    say_antenna_figures(far, log);
    std::move(far.begin(), far.end(), std::back_inserter(results));
  }
}

void add_input_figures(const Case& c, std::size_t port, const Tensor& s,
                       const std::vector<std::size_t>& columns, const Tensor& impedance,
                       MonitorResult& result) {
  using Complex = std::complex<double>;
  std::vector<std::vector<Complex>> reflected, reference;  // [mode][frequency]
  for (std::size_t k = 0; k < c.channels.size(); ++k) {
    if (c.channels[k].port != port) continue;
    const auto column = std::find(columns.begin(), columns.end(), k);
    if (column == columns.end()) return;
    reflected.push_back(complex_values(select(
        select(s, 2, static_cast<Index>(column - columns.begin())), 1, static_cast<Index>(k))));
    reference.push_back(complex_values(select(impedance, 1, static_cast<Index>(k))));
  }
  std::vector<bool> power;
  const std::vector<electromagnetics::Waves> kinds = waves_of_s(c);
  for (std::size_t k = 0; k < c.channels.size(); ++k)
    if (c.channels[k].port == port) power.push_back(kinds[k] == electromagnetics::Waves::power);
  const std::size_t frequencies = reflected.front().size();
  std::vector<Complex> z, all;
  Numbers ratio;
  bool known = true;
  for (std::size_t f = 0; f < frequencies; ++f)
    for (std::size_t m = 0; m < reflected.size(); ++m) {
      const Complex to = reference[m][f], gamma = reflected[m][f];
      known = known && to != 0.0;
      all.push_back(to);
      z.push_back(((power[m] ? std::conj(to) : to) + to * gamma) / (1.0 - gamma));
      const double size = std::abs(gamma);
      ratio.push_back(size >= 1 ? INFINITY : (1 + size) / (1 - size));  // nan of nan
    }
  std::vector<std::uint64_t> shape{frequencies};
  if (reflected.size() > 1) shape.push_back(reflected.size());
  if (known) {
    result.quantities.push_back({"reference", "ohm", "what S refers to", shape, std::move(all)});
    result.quantities.push_back({"input_impedance", "ohm",
                                 "into the device, the other ports closed by what S refers to",
                                 shape, std::move(z)});
  }
  result.quantities.push_back({"vswr", "1", "ratio of standing waves on a line of what S refers to",
                               shape, std::move(ratio)});
}

}  // namespace tessera::apps::fdtd
