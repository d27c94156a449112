// SPDX-License-Identifier: Apache-2.0
#include "time_domain/wire_run.h"

#include "tessera/electromagnetics/constants.h"

#include <algorithm>
#include <utility>

namespace tessera::electromagnetics::time_domain {

WireRun::WireRun(YeeModel& model, std::vector<Injection>& sources, std::vector<Edge>& recorded)
    : dt_(model.dt_s),
      currents_(std::exchange(model.wires, nullptr), model.dt_s),
      recorded_(recorded) {
  const auto of_grid = std::stable_partition(
      sources.begin(), sources.end(),
      [](const Injection& s) { return s.edges.empty() || !is_of_wire(s.edges[0]); });
  sources_.assign(std::make_move_iterator(of_grid), std::make_move_iterator(sources.end()));
  sources.erase(of_grid, sources.end());
  std::erase_if(recorded, is_of_wire);
}

double WireRun::sources_end_s() const {
  double end = 0;
  for (const Injection& s : sources_) end = std::max(end, s.end_s);
  return end;
}

/// [n, elements]
std::vector<double> WireRun::volts_of_sources(std::int64_t first, std::int64_t n) const {
  const std::size_t elements = currents_.network().elements.size();
  std::vector<double> out(static_cast<std::size_t>(n) * elements, 0.0);
  for (const Injection& s : sources_) {
    const std::vector<double> volts = s.currents(first, n, dt_);
    for (std::size_t q = 0; q < volts.size(); ++q)
      out[q * elements + static_cast<std::size_t>(s.edges[0].i)] += volts[q];
  }
  return out;
}

template <class T>
void WireRun::advance(const YeeScheme& scheme, T* state, std::int64_t first, std::int64_t n,
                      const std::vector<double>& given, double* values) {
  const std::vector<Edge>& edges = currents_.network().edges;
  const std::size_t elements = currents_.network().elements.size(),
                    injected = static_cast<std::size_t>(scheme.n_injected()),
                    own = injected - edges.size();
  const double l = scheme.reference_length();
  std::vector<std::int64_t> at;
  for (const Edge& e : edges) at.push_back(scheme.offset(e));
  const std::vector<double> sources = volts_of_sources(first, n);
  std::vector<double> volts(edges.size()), amperes(edges.size());
  std::vector<T> in(injected), out(static_cast<std::size_t>(scheme.n_recorded()));
  for (std::int64_t q = 0; q < n; ++q) {
    for (std::size_t k = 0; k < at.size(); ++k) volts[k] = l * static_cast<double>(state[at[k]]);
    currents_.step(volts,
                   std::span(sources).subspan(static_cast<std::size_t>(q) * elements, elements));
    currents_.currents(amperes);
    for (std::size_t k = 0; k < own; ++k)
      in[k] =
          given.empty() ? T{} : static_cast<T>(given[static_cast<std::size_t>(q) * injected + k]);
    for (std::size_t k = 0; k < amperes.size(); ++k)
      in[own + k] = static_cast<T>(-vacuum_impedance / l * amperes[k]);
    scheme.advance(state, 1, in.data(), out.data(), nullptr, nullptr);
    auto next = out.begin();
    for (const Edge& e : recorded_)
      *values++ = !is_of_wire(e)                ? static_cast<double>(*next++)
                  : e.component == wire_current ? currents_.current(static_cast<std::size_t>(e.i))
                                                : currents_.voltage(static_cast<std::size_t>(e.i));
  }
}
template void WireRun::advance<float>(const YeeScheme&, float*, std::int64_t, std::int64_t,
                                      const std::vector<double>&, double*);
template void WireRun::advance<double>(const YeeScheme&, double*, std::int64_t, std::int64_t,
                                       const std::vector<double>&, double*);

}  // namespace tessera::electromagnetics::time_domain
