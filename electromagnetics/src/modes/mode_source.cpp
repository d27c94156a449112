// SPDX-License-Identifier: Apache-2.0
#include "tessera/electromagnetics/mode_source.h"

#include "modes/finish.h"
#include "modes/plane_tensors.h"
#include "tessera/autodiff/error.h"
#include "tessera/autodiff/ops.h"
#include "tessera/autodiff/ops/fft.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <functional>
#include <memory>
#include <numbers>

namespace tessera::electromagnetics {
namespace {

using Complex = std::complex<double>;
using std::numbers::pi;

std::vector<double> chebyshev_nodes(double low, double high, int n) {
  std::vector<double> out;
  for (int m = 0; m < n; ++m)
    out.push_back((low + high) / 2 - (high - low) / 2 * std::cos(pi * (m + 0.5) / n));
  return out;
}

/// c_m(f) of all nodes.
std::vector<double> shares(const std::vector<double>& nodes, double f) {
  std::vector<double> out(nodes.size(), 1.0);
  for (std::size_t m = 0; m < nodes.size(); ++m)
    for (std::size_t j = 0; j < nodes.size(); ++j)
      if (j != m) out[m] *= (f - nodes[j]) / (nodes[m] - nodes[j]);
  return out;
}

/// Where c_m is taken. With more than three nodes it bends outside of them, over as much as they
/// span, to half a span off and stays there, as polynomials of a high degree grow fast. The bend
/// has two continuous derivatives, so that what it spreads in time is 1e-5 of the pulse where this
/// begins: an abrupt beginning has all frequencies, and folds in sums over each M-th step
/// (sampled_spectrum.h). A parabola needs no bend, which would ring until the filtered waveform is
/// cut off; what such a cut holds at zero frequency, or at a guide's cut-off, hardly dies away.
double within(const std::vector<double>& nodes, double f) {
  const double low = nodes.front(), high = nodes.back(), span = high - low;
  if (nodes.size() <= 3 || (f >= low && f <= high)) return f;
  const double u = std::min((f < low ? low - f : f - high) / span, 1.0),
               bent = span * (u - u * u * u * u * (u * u - 3 * u + 2.5));
  return f < low ? low - bent : high + bent;
}

/// s = e^{-i beta D/2} - e^{i beta D/2}.
Complex half_step(const Complex& beta, double cell) {
  return Complex(0, -2) * std::sin(beta * cell / 2.0);
}

void turn(GridMode& mode, const Complex& by) {
  for (auto* field : {&mode.e, &mode.h, &mode.e_n, &mode.h_n})
    for (Complex& x : *field) x *= by;
}

/// sum of conj(a) b.
Complex conjugate_product(const std::vector<Complex>& a, const std::vector<Complex>& b) {
  Complex sum = 0;
  for (std::size_t k = 0; k < a.size(); ++k) sum += std::conj(a[k]) * b[k];
  return sum;
}

/// Those of `candidates` that are like the modes of `before`, in their order and phase.
std::vector<GridMode> followed(const GridModes& before, GridModes candidates, double f) {
  std::vector<GridMode> out;
  for (std::size_t k = 0; k < before.modes.size(); ++k) {
    const GridMode& last = before.modes[k];
    std::size_t best = 0;
    double most = -1;
    for (std::size_t c = 0; c < candidates.modes.size(); ++c) {
      const GridMode& next = candidates.modes[c];
      // Of both products: h changes where e does not, and the other way round.
      const Complex product =
          (mode_product(before, last.e, next.h) + mode_product(before, next.e, last.h)) / 2.0;
      const double size =
          std::abs(product) / std::sqrt(std::abs(mode_product(before, last.e, last.h)) *
                                        std::abs(mode_product(before, next.e, next.h)));
      if (size > most) most = size, best = c;
    }
    if (most < 0.5)
      throw Error(
          fmt::format("[mode_band] mode {} has no mode like it at {:.4g} Hz: the most that they "
                      "share is {:.2g}. Take "
                      "a narrower band, more nodes, or another mode",
                      k, f, most));
    GridMode next = candidates.modes[best];
    candidates.modes.erase(candidates.modes.begin() + static_cast<std::ptrdiff_t>(best));
    // By e alone, which stays real through a cut-off, where h does not.
    const Complex along = conjugate_product(last.e, next.e);
    if (along != 0.0) turn(next, std::conj(along) / std::abs(along));
    out.push_back(std::move(next));
    if (candidates.modes.empty() && k + 1 < before.modes.size())
      throw Error(
          fmt::format("[mode_band] {} modes at {:.4g} Hz are fewer than asked for", k + 1, f));
  }
  return out;
}

/// The share of its amplitude that a source leaves at a frequency.
double passed(const ModeSource& s, double f) {
  if (s.edge_hz == 0) return 1;
  return std::erfc((s.from_hz - f) / s.edge_hz) * std::erfc((f - s.to_hz) / s.edge_hz) / 4;
}

/// Waveforms of the nodes at n dt (e) and half a step later (h), as they are and turned by 90
/// degrees.
struct NodeSignals {
  std::int64_t steps = 0;
  std::int64_t end = 0;  ///< from here on they stay below 1e-8 of their peaks, and are left out
  std::vector<double> e, e_turned, h, h_turned;  ///< [nodes, steps]
  const std::vector<double>& of(bool electric, bool turned) const {
    return electric ? (turned ? e_turned : e) : (turned ? h_turned : h);
  }
};
NodeSignals signals(const std::vector<double>& nodes, const ModeSource& source, double dt) {
  const Waveform& w = source.waveform;
  const double delay = mode_source_delay(source);
  const auto samples = static_cast<std::int64_t>(std::ceil((w.end_s + delay) / dt)) + 1;
  std::vector<double> values;
  for (std::int64_t n = 0; n < samples; ++n) {
    const double t = static_cast<double>(n) * dt;
    values.push_back(t <= w.end_s ? w.at(t) : 0.0);
  }
  // What filters spread goes round behind the waveform's end, and is left out there.
  const auto size = static_cast<Index>(std::bit_ceil(static_cast<std::uint64_t>(4 * samples)));
  const std::vector<c128> spectrum = rfft(tensor(values), size).to_vector<c128>();
  NodeSignals out;
  out.steps = 2 * samples;
  out.end = samples;
  const auto filtered = [&](std::size_t m, double shift, bool turned) {
    std::vector<c128> x(spectrum.size());
    for (std::size_t q = 0; q < x.size(); ++q) {
      const double angle = 2 * pi * static_cast<double>(q) / static_cast<double>(size),
                   f = angle / (2 * pi * dt);
      x[q] = spectrum[q] * passed(source, f) * shares(nodes, within(nodes, f))[m] *
             std::polar(1.0, angle * (shift - delay / dt));
      if (turned) x[q] *= c128(0, 1);
    }
    std::vector<double> y = irfft(tensor(x), size).to_vector();
    y.resize(static_cast<std::size_t>(out.steps));
    double peak = 0;
    for (const double v : y) peak = std::max(peak, std::abs(v));
    std::int64_t end = out.steps;
    while (end > out.end && std::abs(y[static_cast<std::size_t>(end - 1)]) <= 1e-8 * peak) --end;
    out.end = end;
    return y;
  };
  for (std::size_t m = 0; m < nodes.size(); ++m)
    for (const bool turned : {false, true}) {
      const auto add = [&](std::vector<double>& to, double shift) {
        const std::vector<double> y = filtered(m, shift, turned);
        to.insert(to.end(), y.begin(), y.end());
      };
      add(turned ? out.e_turned : out.e, 0);
      add(turned ? out.h_turned : out.h, 0.5);
    }
  return out;
}

/// Currents = sum over nodes of Re part times signal + Im part times signal turned.
struct Sheet {
  NodeSignals signals;
  std::size_t nodes = 0;
  std::vector<std::uint8_t> takes_e;  ///< [columns] whether the current is of e
  std::vector<Complex> weight;        ///< [nodes, columns]

  void fill(std::int64_t first, std::int64_t n_steps, double* currents) const {
    const std::size_t columns = takes_e.size();
    for (std::int64_t n = 0; n < n_steps; ++n, currents += columns) {
      std::fill(currents, currents + columns, 0.0);
      const std::int64_t at = first + n;
      if (at < 0 || at >= signals.end) continue;
      for (std::size_t m = 0; m < nodes; ++m) {
        const auto place =
            m * static_cast<std::size_t>(signals.steps) + static_cast<std::size_t>(at);
        const double s[2][2] = {{signals.h[place], signals.h_turned[place]},
                                {signals.e[place], signals.e_turned[place]}};
        const Complex* const w = weight.data() + m * columns;
        for (std::size_t c = 0; c < columns; ++c)
          currents[c] += w[c].real() * s[takes_e[c]][0] + w[c].imag() * s[takes_e[c]][1];
      }
    }
  }
};

}  // namespace

namespace {

/// At rising frequencies, from that in the middle to both sides.
ModeBand band_at(const YeeModel& model, const ModePlane& plane, std::vector<double> frequency_hz,
                 int count, double index) {
  ModeBand band;
  band.frequency_hz = std::move(frequency_hz);
  band.at.resize(band.frequency_hz.size());
  const auto nodes = static_cast<int>(band.at.size()), middle = nodes / 2;
  const auto at = [&](int m, int more) {
    return grid_modes(model, plane,
                      {.frequency_hz = band.frequency_hz[static_cast<std::size_t>(m)],
                       .count = count + more,
                       .index = index,
                       .whole_groups = m == middle});
  };
  band.at[static_cast<std::size_t>(middle)] = at(middle, 0);
  const int alike = band.at[static_cast<std::size_t>(middle)].alike;
  for (const int step : {-1, 1})
    for (int m = middle + step; m >= 0 && m < nodes; m += step) {
      GridModes found = at(m, 2 + alike);
      found.modes = followed(band.at[static_cast<std::size_t>(m - step)], found,
                             band.frequency_hz[static_cast<std::size_t>(m)]);
      band.at[static_cast<std::size_t>(m)] = std::move(found);
    }
  return band;
}

}  // namespace

GridModes modes_at(const ModeBand& band, double f) {
  if (const auto node = std::find(band.frequency_hz.begin(), band.frequency_hz.end(), f);
      node != band.frequency_hz.end())
    return band.at[static_cast<std::size_t>(node - band.frequency_hz.begin())];
  const std::vector<double> c = shares(band.frequency_hz, f);
  const std::size_t middle = c.size() / 2;
  GridModes out = band.at.front();
  for (std::size_t k = 0; k < out.modes.size(); ++k) {
    GridMode sum = out.modes[k];
    turn(sum, 0.0);
    sum.residual = 0;
    Complex squared = 0;  // s^2
    for (std::size_t m = 0; m < c.size(); ++m) {
      const GridMode& node = band.at[m].modes[k];
      const Complex s = half_step(node.beta, out.cell),
                    by = c[m] / conjugate_product(band.at[middle].modes[k].e, node.e);
      squared += c[m] * s * s;
      sum.residual = std::max(sum.residual, node.residual);
      const auto add = [&](auto field, const Complex& factor) {
        for (std::size_t i = 0; i < (sum.*field).size(); ++i)
          (sum.*field)[i] += factor * (node.*field)[i];
      };
      // What follows from e, and from that, by curls over a frequency.
      const double over = band.frequency_hz[m] / f;
      add(&GridMode::e, by), add(&GridMode::h_n, by * over);
      add(&GridMode::h, by * s * over), add(&GridMode::e_n, by * s * over * over);
    }
    modes::finish(sum, out, squared, f);
    out.modes[k] = std::move(sum);
  }
  return out;
}

std::vector<double> cutoffs(const ModeBand& band, std::size_t mode, double low_hz, double high_hz) {
  const std::vector<double>& node = band.frequency_hz;
  if (node.size() < 2) return {};
  std::vector<double> squares, values;
  for (std::size_t m = 0; m < node.size(); ++m) {
    const Complex s = half_step(band.at[m].modes.at(mode).beta, band.at[m].cell);
    squares.push_back(node[m] * node[m]);
    values.push_back((s * s).real());
  }
  const auto at = [&](double f) {
    const double x = f * f;
    if (const bool below = f < node.front(); below || f > node.back()) {
      // Polynomials of a high degree grow fast there.
      const std::size_t end = below ? 0 : node.size() - 1,
                        inner = node.size() == 2 ? 1 - end : node.size() / 2;
      return values[end] +
             (x - squares[end]) * (values[inner] - values[end]) / (squares[inner] - squares[end]);
    }
    double sum = 0;
    const std::vector<double> c = shares(squares, x);
    for (std::size_t m = 0; m < c.size(); ++m) sum += c[m] * values[m];
    return sum;
  };
  std::vector<double> out;
  constexpr int pieces = 1024;
  const auto place = [&](int q) { return low_hz + (high_hz - low_hz) * q / pieces; };
  for (int q = 0; q < pieces; ++q) {
    double low = place(q), high = place(q + 1);
    const bool travels = at(low) < 0;
    if (travels == (at(high) < 0)) continue;
    for (int halving = 0; halving < 60; ++halving) {
      const double between = (low + high) / 2;
      ((at(between) < 0) == travels ? low : high) = between;
    }
    out.push_back((low + high) / 2);
  }
  return out;
}

ModeBand mode_band(const YeeModel& model, const ModePlane& plane, double low_hz, double high_hz,
                   int count, int nodes, double index) {
  if (!(low_hz > 0) || !(high_hz >= low_hz) || count < 1 || nodes < 1)
    throw Error("[mode_band] needs a band of positive frequencies, a mode and a node");
  return band_at(model, plane, chebyshev_nodes(low_hz, high_hz, nodes), count, index);
}

ModeBand mode_band(const YeeModel& model, const ModePlane& plane, std::vector<double> frequency_hz,
                   int count, double index) {
  if (frequency_hz.empty() || !(frequency_hz.front() > 0) || count < 1 ||
      std::adjacent_find(frequency_hz.begin(), frequency_hz.end(), std::greater_equal<>()) !=
          frequency_hz.end())
    throw Error("[mode_band] needs positive frequencies that rise, and a mode");
  return band_at(model, plane, std::move(frequency_hz), count, index);
}

std::vector<GridModes> modes_at(const YeeModel& model, const ModePlane& plane,
                                const std::vector<double>& frequency_hz, int count, int nodes,
                                double index) {
  if (frequency_hz.empty()) return {};
  std::vector<double> rising = frequency_hz;
  std::sort(rising.begin(), rising.end());
  rising.erase(std::unique(rising.begin(), rising.end()), rising.end());
  const bool each = rising.size() <= static_cast<std::size_t>(nodes);
  const ModeBand band =
      each ? band_at(model, plane, rising, count, index)
           : mode_band(model, plane, rising.front(), rising.back(), count, nodes, index);
  std::vector<GridModes> out;
  for (const double f : frequency_hz) out.push_back(modes_at(band, f));
  return out;
}

double mode_source_delay(const ModeSource& source) {
  // In time an edge is e^{-(pi edge t)^2} / t about the pulse: 1e-8 from here on.
  return source.edge_hz > 0 ? 4.3 / (pi * source.edge_hz) : 0;
}

Injection mode_source(const YeeModel& model, const ModePlane& plane, const ModeBand& band,
                      const ModeSource& source) {
  if (!std::isfinite(source.waveform.end_s))
    throw Error("[mode_source] the waveform has no end: take a pulse");
  const int axis = plane.axis, cells = model.grid.cells(axis);
  const GridModes& any = band.at.at(0);
  for (std::size_t m = 0; m < band.at.size(); ++m) {
    const GridModes& g = band.at[m];
    if (source.mode >= g.modes.size())
      throw Error(fmt::format("[mode_source] mode {} of {}", source.mode, g.modes.size()));
    if (g.e != any.e || g.h != any.h)
      throw Error("[mode_source] the modes of the nodes belong to different planes");
    const Complex& beta = g.modes[source.mode].beta;
    if (std::abs(beta.imag()) > std::abs(beta.real()))
      throw Error(
          fmt::format("[mode_source] mode {} does not travel at {:.4g} Hz: take a band above its "
                      "cut-off",
                      source.mode, band.frequency_hz[m]));
  }

  auto sheet = std::make_shared<Sheet>();
  sheet->nodes = band.at.size();
  sheet->signals = signals(band.frequency_hz, source, model.dt_s);
  Injection out;
  // Total fields are at the line and ahead. Forward: e at the line lacks h half a cell before it,
  // which has e there too much; backward: h half a cell behind the line takes the other's place,
  // and h of a mode that runs so is turned.
  const int before = source.forward ? plane.line - 1 : plane.line;
  const double way = source.forward ? 1 : -1;
  const auto column_of = [&](bool takes_e, const Edge& edge) {
    out.edges.push_back(edge);
    sheet->takes_e.push_back(takes_e);
  };
  for (const Edge& e : any.e) column_of(false, e);
  for (const Edge& h : any.h) {
    Edge there = h;
    (axis == 0 ? there.i : axis == 1 ? there.j : there.k) = (before + cells) % cells;
    column_of(true, there);
  }
  const std::vector<modes::PlaneCoupling> couplings = modes::plane_couplings(
      model, axis, plane.line,
      {any.e.begin(), any.e.begin() + static_cast<std::ptrdiff_t>(any.open)});
  for (const GridModes& g : band.at) {
    const GridMode& mode = g.modes[source.mode];
    // h at the other side: forward h e^{i beta D/2} half a cell before, backward -h e^{i beta D/2}
    // half a cell behind.
    const Complex over = std::exp(Complex(0, 1) * mode.beta * g.cell / 2.0);
    for (std::size_t k = 0; k < g.e.size(); ++k) {
      // e_u takes -(h_v - h_v[-1]), e_v +(h_u - h_u[-1]).
      const bool of_u = axis_of(g.e[k].component) == (axis + 1) % 3;
      sheet->weight.push_back(source.amplitude * (of_u ? 1.0 : -1.0) * mode.h[k] * over);
    }
    // A current acts on its own edge alone, h that is lacking on those that tensors couple, too.
    Complex* const currents = sheet->weight.data() + (sheet->weight.size() - g.e.size());
    const std::vector<Complex> lacking(currents, currents + g.e.size());
    for (const modes::PlaneCoupling& c : couplings)
      currents[c.to] += c.weight / c.own * lacking[c.from];
    for (std::size_t k = 0; k < g.h.size(); ++k) {
      const bool of_u = axis_of(g.e[k].component) == (axis + 1) % 3;
      sheet->weight.push_back(source.amplitude * way * (of_u ? 1.0 : -1.0) * mode.e[k]);
    }
  }
  out.end_s = static_cast<double>(sheet->signals.end) * model.dt_s;
  out.fill = [sheet](std::int64_t first, std::int64_t n_steps, double* currents) {
    sheet->fill(first, n_steps, currents);
  };
  return out;
}

}  // namespace tessera::electromagnetics
