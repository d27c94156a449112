// SPDX-License-Identifier: Apache-2.0
#include "tessera/inversion/geology.h"

#include "tessera/autodiff/error.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>
#include <variant>

namespace tessera::inversion {
namespace {

using Kind = Event::Kind;

/// In depths of the region, z down.
struct Point {
  double x, z;
};

/// The numbers of one section, one after the other.
class Chance {
 public:
  explicit Chance(data::RandomKey key) : key_(key) {}
  double one() { return data::uniform(key_, next_++); }
  double between(const Event::Bounds& b) { return b[0] + (b[1] - b[0]) * one(); }
  int between(const std::array<int, 2>& b) {
    return std::min(b[1], b[0] + static_cast<int>(one() * (b[1] - b[0] + 1)));
  }
  double log10_between(const Event::Bounds& b) {
    return between(Event::Bounds{std::log10(b[0]), std::log10(b[1])});
  }
  double normal() { return data::normal(key_, next_++); }

 private:
  data::RandomKey key_;
  std::uint64_t next_ = 0;
};

// What was drawn, in depths of the region. `back`: where a point was before; `holds`: whether it
// lies within.
struct Stack {
  std::vector<double> boundary, value;  ///< [n - 1] rising, [n]
  double at(double z) const {
    const auto above = std::upper_bound(boundary.begin(), boundary.end(), z) - boundary.begin();
    return value[static_cast<std::size_t>(above)];
  }
};
struct Fold {
  double amplitude, wave_number, phase;
  Point back(Point p) const { return {p.x, p.z - amplitude * std::sin(wave_number * p.x + phase)}; }
};
struct Fault {
  double x, along_x, along_z, slip;  ///< the unit vector that goes down along the plane
  Point back(Point p) const {
    const double above = (p.x - x) * along_z - p.z * along_x;
    const bool hangs = along_x < 0 ? above < 0 : above > 0;
    return hangs ? Point{p.x - slip * along_x, p.z - slip * along_z} : p;
  }
};
struct Ellipse {
  Point centre;
  double a, b, cosine, sine, value;
  bool holds(Point p) const {
    const double x = p.x - centre.x, z = p.z - centre.z;
    const double u = (x * cosine + z * sine) / a, v = (z * cosine - x * sine) / b;
    return u * u + v * v <= 1;
  }
};
struct Basin {
  double x, width, depth, value;
  bool holds(Point p) const {
    const double u = (p.x - x) / width;
    if (std::abs(u) >= 0.5) return false;
    const double c = std::cos(std::numbers::pi * u);
    return p.z < depth * c * c;
  }
};
struct Block {
  Point centre;
  double half_width, half_height, value;
  bool holds(Point p) const {
    return std::abs(p.x - centre.x) <= half_width && std::abs(p.z - centre.z) <= half_height;
  }
};
/// A Gaussian field as a sum of waves whose wave vectors are drawn from its spectrum (A. Rahimi and
/// B. Recht, Random features for large-scale kernel machines, 2007).
struct Field {
  static constexpr int waves = 48;
  std::array<double, waves> kx, kz, phase;
  double scale;
  double at(Point p) const {
    double sum = 0;
    for (std::size_t k = 0; k < kx.size(); ++k)
      sum += std::cos(kx[k] * p.x + kz[k] * p.z + phase[k]);
    return scale * sum;
  }
  /// Added at all points (x, z) of a grid, [z, x]: cos(a + b) = cos a cos b - sin a sin b.
  void add(std::span<const double> x, std::span<const double> z, std::span<double> to) const {
    std::vector<double> cosine(x.size()), sine(x.size());
    for (std::size_t k = 0; k < kx.size(); ++k) {
      for (std::size_t j = 0; j < x.size(); ++j) {
        cosine[j] = std::cos(kx[k] * x[j]);
        sine[j] = std::sin(kx[k] * x[j]);
      }
      for (std::size_t i = 0; i < z.size(); ++i) {
        const double a = kz[k] * z[i] + phase[k];
        const double c = scale * std::cos(a), s = scale * std::sin(a);
        double* row = to.data() + i * x.size();
        for (std::size_t j = 0; j < x.size(); ++j) row[j] += c * cosine[j] - s * sine[j];
      }
    }
  }
};
using Happened = std::variant<Stack, Fold, Fault, Ellipse, Basin, Block, Field>;

Happened drawn(const Event& e, double aspect, Chance& chance) {
  switch (e.kind) {
    case Kind::layers: {
      Stack s;
      const int n = chance.between(e.count);
      for (int k = 1; k < n; ++k) s.boundary.push_back(chance.one());
      std::sort(s.boundary.begin(), s.boundary.end());
      for (int k = 0; k < n; ++k) s.value.push_back(chance.log10_between(e.resistivity_ohm_m));
      return s;
    }
    case Kind::fold: {
      const double amplitude = chance.between(e.amplitude);
      const double wave = chance.between(e.wavelength) * aspect;
      return Fold{amplitude, 2 * std::numbers::pi / wave, 2 * std::numbers::pi * chance.one()};
    }
    case Kind::fault: {
      const double x = chance.between(e.x) * aspect, dip = chance.between(e.dip),
                   slip = chance.between(e.throw_);
      return Fault{x, (chance.one() < 0.5 ? -1 : 1) * std::cos(dip), std::sin(dip), slip};
    }
    case Kind::intrusion: {
      const Point at{chance.between(e.x) * aspect, chance.between(e.z)};
      const double a = chance.between(e.width) * aspect / 2, b = chance.between(e.height) / 2,
                   tilt = chance.between(e.tilt);
      return Ellipse{
          at, a, b, std::cos(tilt), std::sin(tilt), chance.log10_between(e.resistivity_ohm_m)};
    }
    case Kind::basin: {
      const double x = chance.between(e.x) * aspect, width = chance.between(e.width) * aspect,
                   depth = chance.between(e.height);
      return Basin{x, width, depth, chance.log10_between(e.resistivity_ohm_m)};
    }
    case Kind::block: {
      const Point at{chance.between(e.x) * aspect, chance.between(e.z)};
      const double w = chance.between(e.width) * aspect / 2, h = chance.between(e.height) / 2;
      return Block{at, w, h, chance.log10_between(e.resistivity_ohm_m)};
    }
    case Kind::random_field:
      break;
  }
  Field f;
  const double width = chance.between(e.width) * aspect, height = chance.between(e.height);
  f.scale = chance.between(e.amplitude) * std::sqrt(2.0 / Field::waves);
  for (std::size_t k = 0; k < f.kx.size(); ++k) {
    f.kx[k] = chance.normal() / width;
    f.kz[k] = chance.normal() / height;
    f.phase[k] = 2 * std::numbers::pi * chance.one();
  }
  return f;
}

/// log10 of the resistivity at a point: back through time to what it was last made of.
double value_at(const std::vector<Happened>& history, Point p) {
  double added = 0;
  for (auto event = history.rbegin(); event != history.rend(); ++event) {
    if (const auto* stack = std::get_if<Stack>(&*event)) return added + stack->at(p.z);
    if (const auto* fold = std::get_if<Fold>(&*event)) p = fold->back(p);
    if (const auto* fault = std::get_if<Fault>(&*event)) p = fault->back(p);
    if (const auto* field = std::get_if<Field>(&*event)) added += field->at(p);
    if (const auto* e = std::get_if<Ellipse>(&*event); e && e->holds(p)) return added + e->value;
    if (const auto* b = std::get_if<Basin>(&*event); b && b->holds(p)) return added + b->value;
    if (const auto* b = std::get_if<Block>(&*event); b && b->holds(p)) return added + b->value;
  }
  return added;
}

struct Drawn {
  std::vector<Happened> history;
  std::vector<int> times;
};
Drawn draw(const Geology& g, data::RandomKey key) {
  if (const auto wrong = faults_of(g); !wrong.empty())
    throw Error("[draw_section] " + wrong.front());
  Chance chance(key);
  Drawn out;
  for (const Event& e : g.events) {
    const bool comes = chance.one() < e.probability;
    const int n = !comes ? 0 : e.kind == Kind::layers ? 1 : chance.between(e.count);
    for (int k = 0; k < n; ++k) out.history.push_back(drawn(e, g.aspect, chance));
    out.times.push_back(n);
  }
  out.times[0] = static_cast<int>(std::get<Stack>(out.history[0]).value.size());
  return out;
}

}  // namespace

const char* name_of(Kind k) {
  constexpr std::array names{"layers", "fold",  "fault",       "intrusion",
                             "basin",  "block", "random_field"};
  return names[static_cast<std::size_t>(k)];
}

std::vector<std::string> faults_of(const Geology& g) {
  std::vector<std::string> out;
  const auto say = [&](const std::string& what) { out.push_back(what); };
  const auto rises = [](const auto& b) { return b[0] <= b[1]; };  // NaN does not
  if (g.rows < 1 || g.columns < 1) say("rows, columns: a section has one cell at least");
  if (!(g.aspect > 0) || !std::isfinite(g.aspect)) say("aspect: above 0");
  if (!rises(g.ohm_m) || !(g.ohm_m[0] > 0) || !std::isfinite(g.ohm_m[1]))
    say("ohm_m: two resistivities above 0, the lower one first");
  if (g.events.empty() || g.events[0].kind != Kind::layers || g.events[0].probability != 1)
    say("events[0].kind: the first event is \"layers\", with probability 1: the others act on what "
        "is there");
  for (std::size_t k = 0; k < g.events.size(); ++k) {
    const Event& e = g.events[k];
    const auto wrong = [&](const char* key, const std::string& why) {
      say("events[" + std::to_string(k) + "]." + key + ": " + why);
    };
    if (k > 0 && e.kind == Kind::layers) wrong("kind", "layers are the first event alone");
    if (!(e.probability >= 0 && e.probability <= 1)) wrong("probability", "from 0 to 1");
    if (!rises(e.count) || e.count[0] < 1 || e.count[1] > 1000)
      wrong("count", "two whole numbers from 1 to 1000, the lower one first");
    if (!rises(e.resistivity_ohm_m) || !(e.resistivity_ohm_m[0] > 0) ||
        !std::isfinite(e.resistivity_ohm_m[1]))
      wrong("resistivity", "two resistivities above 0, the lower one first");
    const auto bounds = [&](const char* key, const Event::Bounds& b, bool positive) {
      if (!rises(b) || !std::isfinite(b[0]) || !std::isfinite(b[1]) || (positive && !(b[0] > 0)))
        wrong(key, positive ? "two lengths above 0, the lower one first"
                            : "two numbers, the lower one first");
    };
    bounds("x", e.x, false);
    bounds("z", e.z, false);
    bounds("width", e.width, true);
    bounds("height", e.height, true);
    bounds("tilt", e.tilt, false);
    bounds("throw", e.throw_, false);
    bounds("amplitude", e.amplitude, false);
    bounds("wavelength", e.wavelength, true);
    if (!rises(e.dip) || !(e.dip[0] > 0) || !(e.dip[1] <= std::numbers::pi / 2 + 1e-12))
      wrong("dip", "two angles above 0 and up to 90 degrees, the lower one first");
  }
  return out;
}

std::vector<int> times_of(const Geology& g, data::RandomKey key) { return draw(g, key).times; }

std::vector<float> draw_section(const Geology& g, data::RandomKey key) {
  std::vector<Happened> history = draw(g, key).history;
  constexpr std::int64_t samples = 2;  // along each side of a cell
  const auto places = [](std::int64_t cells, double length) {
    std::vector<double> at;
    for (std::int64_t k = 0; k < samples * cells; ++k)
      at.push_back((static_cast<double>(k) + 0.5) / static_cast<double>(samples * cells) * length);
    return at;
  };
  const std::vector<double> x = places(g.columns, g.aspect), z = places(g.rows, 1);
  std::vector<double> value(x.size() * z.size());
  // Fields that nothing has moved since.
  for (; std::holds_alternative<Field>(history.back()); history.pop_back())
    std::get<Field>(history.back()).add(x, z, value);
  const double least = std::log10(g.ohm_m[0]), greatest = std::log10(g.ohm_m[1]);
  std::vector<float> out(static_cast<std::size_t>(g.rows * g.columns));
  for (std::size_t i = 0; i < z.size(); ++i)
    for (std::size_t j = 0; j < x.size(); ++j) {
      double& v = value[i * x.size() + j];
      v = std::clamp(v + value_at(history, {x[j], z[i]}), least, greatest);
    }
  for (std::size_t row = 0; row < z.size() / samples; ++row)
    for (std::size_t column = 0; column < x.size() / samples; ++column) {
      double sum = 0;
      for (std::size_t i = 0; i < samples; ++i)
        for (std::size_t j = 0; j < samples; ++j)
          sum += value[(row * samples + i) * x.size() + column * samples + j];
      out[row * x.size() / samples + column] = static_cast<float>(sum / (samples * samples));
    }
  return out;
}

}  // namespace tessera::inversion
