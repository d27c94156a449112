// SPDX-License-Identifier: Apache-2.0
#include "electromagnetics/fdtd/scattering.h"

#include "electromagnetics/fdtd/port_monitor.h"
#include "tessera/autodiff/ops.h"
#include "tessera/electromagnetics/network_joins.h"
#include "tessera/electromagnetics/networks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>

namespace tessera::apps::fdtd {
namespace {

namespace em = electromagnetics;

/// Beyond this an incoming wave at a port that is not driven spoils columns that stand alone.
constexpr double kEcho = 1e-3;

std::size_t channel_of(const Case& c, const std::string& name) {
  return static_cast<std::size_t>(
      std::find_if(c.channels.begin(), c.channels.end(),
                   [&](const PortChannel& x) { return x.name == name; }) -
      c.channels.begin());
}

/// A channel that has no run of its own but that of another one: channel k of the file stands
/// where `place[k]` does.
struct Alike {
  std::size_t channel, run;
  std::vector<std::size_t> place;
};
std::vector<Alike> likenesses(const Case& c) {
  std::vector<Alike> out;
  for (std::size_t k = 0; k < c.channels.size(); ++k) {
    const PortOptions& o = c.options.ports[c.channels[k].port];
    if (!o.same_as) continue;
    const std::size_t like = channel_of(c, *o.same_as);
    for (std::size_t r = 0; r < c.excitations.size(); ++r) {
      if (c.excitations[r].channel == k) break;  // has its own
      if (c.excitations[r].channel != like) continue;
      Alike a{k, r, {}};
      for (std::size_t q = 0; q < c.channels.size(); ++q) a.place.push_back(q);
      if (o.order.empty()) {
        std::swap(a.place[k], a.place[like]);
      } else {
        // order[p] takes the place of port p; ports may have several modes, which keep their order.
        std::vector<std::size_t> begin;
        for (const PortChannel& x : c.channels)
          if (x.mode == 0) begin.push_back(static_cast<std::size_t>(&x - c.channels.data()));
        for (std::size_t q = 0; q < c.channels.size(); ++q) {
          const auto& ports = c.options.ports;
          const auto to =
              static_cast<std::size_t>(std::find_if(ports.begin(), ports.end(),
                                                    [&](const PortOptions& p) {
                                                      return p.name == o.order[c.channels[q].port];
                                                    }) -
                                       ports.begin());
          a.place[q] = begin[to] + c.channels[q].mode;
        }
      }
      out.push_back(std::move(a));
    }
  }
  return out;
}

/// Waves with a column for each channel of columns_of.
PortWaves with_alike(const Case& c, const PortWaves& waves) {
  const std::vector<Alike> alike = likenesses(c);
  const auto columns = [&](const Tensor& x) {
    std::vector<std::pair<std::size_t, Tensor>> all;
    for (std::size_t r = 0; r < c.excitations.size(); ++r)
      all.emplace_back(c.excitations[r].channel, select(x, 2, static_cast<Index>(r)));
    for (const Alike& a : alike) {
      const Tensor own = select(x, 2, static_cast<Index>(a.run));
      std::vector<Tensor> rows(c.channels.size());
      for (std::size_t k = 0; k < rows.size(); ++k)
        rows[a.place[k]] = select(own, 1, static_cast<Index>(k));
      all.emplace_back(a.channel, stack(rows, 1));
    }
    std::sort(all.begin(), all.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<Tensor> out;
    for (const auto& [channel, column] : all) out.push_back(column);
    return stack(out, 2);
  };
  return {columns(waves.in), columns(waves.out)};
}

std::complex<double> impedance_of(const PortOptions& o) {
  return {o.impedance.value_or(0), o.reactance};
}

/// What each channel's waves refer to, which may be complex: the kind of wave is the port's.
em::Terminals terminals_of(const Case& c, const Tensor& s) {
  std::vector<c128> u, w, z;
  for (const PortChannel& x : c.channels) {
    const std::complex<double> own = impedance_of(c.options.ports[x.port]);
    const bool travelling = c.options.ports[x.port].kind == PortKind::mode;
    z.push_back(own);
    w.push_back(travelling ? own : std::conj(own));
    u.push_back(travelling ? 1.0 / (2.0 * std::sqrt(own)) : 1.0 / (2 * std::sqrt(own.real())));
  }
  const auto n = static_cast<Index>(z.size());
  const Tensor zt = tensor(z), wt = tensor(w), scale = 1.0 / (tensor(u) * (zt + wt));
  const Tensor one = eye(n, Dtype::c128);
  const auto rows = [&](const Tensor& factor, const Tensor& m) {
    return expand_dims(factor, -1) * m;
  };
  return {rows(scale * wt, one) + rows(scale * zt, s), rows(scale, one - s)};
}

/// What S refers to, [channel]; 0 of modes that are said to have no impedance.
std::vector<std::complex<double>> references(const Case& c) {
  std::vector<std::complex<double>> out;
  for (const PortChannel& x : c.channels)
    out.push_back(c.options.scattering.reference ? *c.options.scattering.reference
                                                 : impedance_of(c.options.ports[x.port]));
  return out;
}

/// Whether S is to have other references, or other waves, than those of the ports.
bool needs_others(const Case& c) {
  return c.options.scattering.reference ||
         std::any_of(c.options.ports.begin(), c.options.ports.end(),
                     [](const PortOptions& o) { return o.reactance != 0; });
}

const PortMonitor& port_monitor(const Monitors& all, std::size_t port, std::size_t count) {
  return dynamic_cast<const PortMonitor&>(*all[all.size() - count + port]);
}

PortWaves waves_of(const MonitoredCase& made) {
  const std::size_t ports = made.c.ports.size();
  std::vector<Tensor> in, out;
  for (std::size_t k = 0; k < made.c.excitations.size(); ++k) {
    std::vector<Tensor> both;
    for (std::size_t p = 0; p < ports; ++p)
      both.push_back(port_monitor(made.of_run(k), p, ports).waves());
    const Tensor all = concatenate(both, 2);
    in.push_back(select(all, 0, 0)), out.push_back(select(all, 0, 1));
  }
  return {stack(in, 2), stack(out, 2)};
}

/// [frequency, channel]
Tensor propagation_of(const MonitoredCase& made) {
  const std::size_t ports = made.c.ports.size();
  const auto frequencies = static_cast<Index>(made.c.options.scattering.all_frequencies().size());
  std::vector<Tensor> all;
  for (std::size_t p = 0; p < ports; ++p) {
    const PortMonitor& m = port_monitor(made.monitors, p, ports);
    const auto n = static_cast<Index>(m.channels().size());
    const std::vector<std::complex<double>> own = m.propagation();
    all.push_back(own.empty()
                      ? zeros({frequencies, n}, Dtype::c128)
                      : tensor(std::vector<c128>(own.begin(), own.end()), {frequencies, n}));
  }
  return concatenate(all, 1);
}

std::vector<std::uint64_t> shape_of(const Tensor& t) {
  std::vector<std::uint64_t> out;
  for (const Index n : t.shape()) out.push_back(static_cast<std::uint64_t>(n));
  return out;
}

Quantity complex_quantity(std::string name, std::string units, std::string about, const Tensor& t) {
  return {std::move(name), std::move(units), std::move(about), shape_of(t), complex_values(t)};
}

MonitorResult scattering_result(const MonitoredCase& made, data::Log& log) {
  const Case& c = made.c;
  const PortWaves waves = waves_of(made);
  const Tensor s = scattering_matrix(c, waves, propagation_of(made));
  const std::vector<std::size_t> columns = columns_of(c);
  const std::size_t n = c.channels.size();
  MonitorResult out{scattering_name,
                    scattering_name,
                    {"frequency", "Hz", c.options.scattering.all_frequencies()},
                    {},
                    {}};
  std::vector<double> from, to, runs;
  for (std::size_t k = 1; k <= n; ++k) to.push_back(static_cast<double>(k));
  for (const std::size_t k : columns) from.push_back(static_cast<double>(k + 1));
  for (const Excitation& e : c.excitations) runs.push_back(static_cast<double>(e.channel + 1));
  out.coordinates = {{"port", "1", to}, {"from", "1", from}, {"driven", "1", runs}};
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < columns.size(); ++j)
      out.quantities.push_back(
          complex_quantity(element_name(c, i, columns[j]), "1",
                           c.channels[i].name + " from " + c.channels[columns[j]].name,
                           select(select(s, 2, static_cast<Index>(j)), 1, static_cast<Index>(i))));
  const Tensor echo = echoes(c, waves);
  out.quantities.push_back({"echo", "1",
                            "largest wave that comes in at a port that is not driven, over that "
                            "of the one that is",
                            shape_of(echo), real_values(echo)});
  out.quantities.push_back(complex_quantity("S", "1", "scattering matrix [port, from]", s));
  if (out.axis.values.size() > 1) {
    const Tensor delay = em::group_delay(s, tensor(out.axis.values));
    out.quantities.push_back(
        {"group_delay", "s", "group delay [port, from]", shape_of(delay), real_values(delay)});
  }
  const char* unit = c.grid.dimensions() == 3 ? "sqrt(W)*s" : "sqrt(W/m)*s";
  out.quantities.push_back(
      complex_quantity("in", unit, "waves into the device [port, driven]", waves.in));
  out.quantities.push_back(
      complex_quantity("out", unit, "waves out of the device [port, driven]", waves.out));
  std::vector<std::complex<double>> z = references(c);
  out.quantities.push_back(
      {"reference", "ohm", "impedance that S refers to [port]; 0: the mode's own", {n}, z});

  const std::vector<double> most = real_values(echo);
  const double largest = *std::max_element(most.begin(), most.end());
  if (columns.size() < n) {
    if (largest > kEcho)
      log.warning(fmt::format(
          "what is not driven sends back up to {:.2g} of the wave that drives: these columns of S "
          "are off by as much; drive all ports (run.excite), or let layers be thicker",
          largest));
  } else {
    const double gain = max(em::largest_gain(s)).item(), odd = max(em::nonreciprocity(s)).item();
    log.info(fmt::format(
        "S of {} ports: largest gain {:.6f}, reciprocal to {:.1e}; echoes of {:.1e} are taken out",
        n, gain, odd, largest));
  }
  return out;
}

}  // namespace

std::string element_name(const Case& c, std::size_t to, std::size_t from) {
  return "S_" + c.channels[to].name + "_" + c.channels[from].name;
}

std::vector<std::size_t> columns_of(const Case& c) {
  std::vector<std::size_t> out;
  for (const Excitation& e : c.excitations) out.push_back(e.channel);
  for (const Alike& a : likenesses(c)) out.push_back(a.channel);
  std::sort(out.begin(), out.end());
  return out;
}

Tensor scattering_matrix(const Case& c, const PortWaves& waves, const Tensor& propagation) {
  const PortWaves all = with_alike(c, waves);
  const std::vector<std::size_t> columns = columns_of(c);
  Tensor s;
  if (columns.size() == c.channels.size()) {
    s = transpose(solve(transpose(all.in), transpose(all.out)));  // S A = B
  } else {
    std::vector<Tensor> of;
    for (std::size_t j = 0; j < columns.size(); ++j) {
      const auto column = static_cast<Index>(j);
      const Tensor by = select(select(all.in, 2, column), 1, static_cast<Index>(columns[j]));
      of.push_back(select(all.out, 2, column) / expand_dims(by, -1));
    }
    s = stack(of, 2);
  }
  std::vector<double> shift;
  for (const PortChannel& x : c.channels) shift.push_back(c.options.ports[x.port].shift);
  if (std::any_of(shift.begin(), shift.end(), [](double x) { return x != 0; })) {
    // b' = b e^{i beta l}, a' = a e^{-i beta l} at a plane that lies l further along the direction.
    const Tensor turn = exp(propagation * tensor(shift) * c128(0, 1));  // [frequency, channel]
    std::vector<Tensor> driven;
    for (const std::size_t k : columns) driven.push_back(select(turn, 1, static_cast<Index>(k)));
    s = expand_dims(turn, -1) * s * expand_dims(stack(driven, 1), 1);
  }
  if (needs_others(c)) {
    std::vector<c128> to;
    for (const std::complex<double>& z : references(c)) to.push_back(z);
    s = em::s_of(
        terminals_of(c, s), tensor(to),
        c.options.scattering.waves == WaveKind::pseudo ? em::Waves::pseudo : em::Waves::power);
  }
  return s;
}

Tensor echoes(const Case& c, const PortWaves& waves) {
  std::vector<Tensor> of;
  for (std::size_t r = 0; r < c.excitations.size(); ++r) {
    const Tensor in = select(waves.in, 2, static_cast<Index>(r));
    const Tensor by = abs(select(in, 1, static_cast<Index>(c.excitations[r].channel)));
    Tensor most = zeros({in.shape()[0]});
    for (std::size_t k = 0; k < c.channels.size(); ++k)
      if (k != c.excitations[r].channel)
        most = maximum(most, abs(select(in, 1, static_cast<Index>(k))) / by);
    of.push_back(most);
  }
  return max(stack(of, 1), {1});
}

void add_port_results(const MonitoredCase& made, data::Log& log, Results& results) {
  const Case& c = made.c;
  if (c.ports.empty()) return;
  if (!c.excitations.empty()) results.push_back(scattering_result(made, log));
  for (std::size_t p = 0; p < c.ports.size(); ++p) {
    const PortMonitor& m = port_monitor(made.monitors, p, c.ports.size());
    MonitorResult r = m.result();
    if (c.excitations.empty()) {
      const Tensor waves = m.waves();
      const char* unit = c.grid.dimensions() == 3 ? "sqrt(W)*s" : "sqrt(W/m)*s";
      r.quantities.insert(
          r.quantities.begin(),
          {complex_quantity("in", unit, "waves into the device", select(waves, 0, 0)),
           complex_quantity("out", unit, "waves out of the device", select(waves, 0, 1))});
    }
    results.push_back(std::move(r));
  }
}

std::optional<data::Touchstone> touchstone_of(const Case& c, const MonitorResult& s) {
  const std::size_t n = c.channels.size();
  if (columns_of(c).size() < n) return {};
  data::Touchstone out;
  out.ports = n;
  out.frequency_hz = s.axis.values;
  out.values = std::get<std::vector<std::complex<double>>>(s.find("S")->values);
  std::string own;
  for (std::size_t k = 0; k < n; ++k) {
    const std::complex<double> z = references(c)[k];
    if (z == 0.0) own += (own.empty() ? "" : ", ") + c.channels[k].name;
    out.reference_ohm.push_back(z == 0.0 ? 50 : z.real());
    out.comments.push_back(fmt::format(" Port[{}] = {}", k + 1, c.channels[k].name));
  }
  if (!own.empty())
    out.comments.push_back(" Waves of the modes themselves at " + own +
                           ", which have no impedance: the reference there is a mere number.");
  return out;
}

void write_touchstone_of(const std::filesystem::path& run, const Case& c, const Results& results) {
  const ScatteringOptions& o = c.options.scattering;
  if (o.touchstone == TouchstoneChoice::none) return;
  for (const MonitorResult& r : results) {
    if (r.kind != scattering_name) continue;
    const auto network = touchstone_of(c, r);
    if (!network) return;
    const std::vector<double>& z = network->reference_ohm;
    const bool one = std::all_of(z.begin(), z.end(), [&](double x) { return x == z.front(); });
    const data::TouchstoneStyle style{
        .version = o.touchstone == TouchstoneChoice::v2 ||
                           (o.touchstone == TouchstoneChoice::automatic && !one)
                       ? 2
                       : 1,
        .numbers = static_cast<data::TouchstoneStyle::Numbers>(o.numbers)};
    data::write_touchstone(run / fmt::format("{}.s{}p", scattering_name, network->ports), *network,
                           style);
  }
}

}  // namespace tessera::apps::fdtd
