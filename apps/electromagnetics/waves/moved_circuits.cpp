// SPDX-License-Identifier: Apache-2.0
#include "electromagnetics/waves/moved_circuits.h"

#include "electromagnetics/waves/loads.h"
#include "electromagnetics/waves/named_numbers.h"

#include <algorithm>

namespace tessera::apps::waves {
namespace {

namespace em = electromagnetics;

/// Of steps that differences of second order take: these are wanted to rounding over its square.
constexpr double kWiderForCurves = 10;

/// What drives the first run, where a port does.
std::optional<em::Injection> driven(const Case& c) {
  if (c.excitations.empty()) return {};
  const Excitation& first = c.excitations.front();
  const PortChannel& channel = c.channels[first.channel];
  if (c.options.ports[channel.port].kind != PortKind::lumped) return {};
  return lumped_port_source(c, channel, c.sources[first.source].waveform);
}

}  // namespace

std::vector<std::string> circuit_parameters(const Case& c) {
  std::vector<std::string> out;
  for (const std::uint32_t n : c.options.use.parameters.free()) {
    const std::string& name = c.options.use.parameters.all()[n].name;
    if (const CircuitsMoved moved = circuits_moved(c.options, name); moved.any && moved.alone)
      out.push_back(name);
  }
  return out;
}

Case with_circuits_at(const Case& c, const data::Parameter& parameter, double value,
                      const data::Config& config) {
  Case out = c;
  out.options = c.options.read_again(data::with_parameter(config, parameter, value));
  out.options.run = c.options.run;
  change_circuits(out);
  for (const Excitation& e : out.excitations)
    if (const PortChannel& channel = out.channels[e.channel];
        out.options.ports[channel.port].kind == PortKind::lumped)
      out.sources[e.source].wave = lumped_port_source(out, channel, out.sources[e.source].waveform);
  return out;
}

em::Injection sum_of(std::vector<em::Injection> terms, std::vector<double> factors) {
  em::Injection out = terms.front();
  for (const em::Injection& t : terms) out.end_s = std::max(out.end_s, t.end_s);
  out.fill = [terms = std::move(terms), factors = std::move(factors)](
                 std::int64_t first, std::int64_t n_steps, double* currents) {
    const std::size_t n = static_cast<std::size_t>(n_steps) * terms.front().edges.size();
    std::vector<double> one(n);
    std::fill(currents, currents + n, 0.0);
    for (std::size_t t = 0; t < terms.size(); ++t) {
      terms[t].fill(first, n_steps, one.data());
      for (std::size_t i = 0; i < n; ++i) currents[i] += factors[t] * one[i];
    }
  };
  return out;
}

CircuitMoves circuit_moves(const Case& c, const data::Parameter& parameter,
                           const data::Config& config) {
  const std::vector<std::string> names{parameter.name};
  const double at = parameter.value.value,
               step = kWiderForCurves * NamedNumbers(c, names, config).steps[0];
  CircuitMoves out;
  out.media = em::medium_derivatives(
      [&](const std::vector<double>& values) {
        return make_model(with_circuits_at(c, parameter, values[0], config));
      },
      {at}, {step}, em::MediumOrder::second);
  const auto own = driven(c), more = driven(with_circuits_at(c, parameter, at + step, config)),
             less = driven(with_circuits_at(c, parameter, at - step, config));
  if (own)
    out.gained = {
        sum_of({*more, *less}, {1 / (2 * step), -1 / (2 * step)}),
        sum_of({*more, *own, *less}, {1 / (step * step), -2 / (step * step), 1 / (step * step)})};
  return out;
}

}  // namespace tessera::apps::waves
