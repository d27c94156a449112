// SPDX-License-Identifier: Apache-2.0
#include "tessera/data/sweep.h"

#include "options/config_readers.h"
#include "options/options_text.h"
#include "tessera/data/nearest_names.h"
#include "tessera/data/parameters.h"
#include "tessera/data/random.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <tuple>

namespace tessera::data {
namespace {

using detail::in_quotes;

constexpr std::size_t kMostPoints = 10000;

enum class SweepKind { grid, together, latin_hypercube };
const std::vector<std::string> kSweepKinds = {"grid", "together", "latin_hypercube"};

/// {from, to} of which values are made: with 15 digits, so that 40 is not 39.999999999999993.
struct Range {
  double from = 0, to = 0;
  bool log = false;
  double at(double share) const {
    if (share <= 0) return from;
    if (share >= 1) return to;
    const double x = log ? from * std::pow(to / from, share) : from + (to - from) * share;
    if (!log && std::abs(x) < 1e-14 * std::max(std::abs(from), std::abs(to))) return 0;
    char text[32];
    std::snprintf(text, sizeof text, "%.14e", x);
    return std::strtod(text, nullptr);
  }
};

bool earlier(const Origin& a, const Origin& b) {
  return std::tie(a.source, a.line, a.column) < std::tie(b.source, b.line, b.column);
}

class SweepReader {
 public:
  explicit SweepReader(const Config& config) : config_(config) {
    std::vector<Diagnostic> told;  // by the app's table
    parameters_ = Parameters(config, told);
  }

  std::optional<Sweep> read() {
    const Member* m = find(config_.table(), "sweep");
    if (!m) return {};
    at_ = m->origin;
    Sweep out;
    if (const Table* table = m->value.get<Table>())
      read_table(*table, out);
    else
      error(210, m->value.origin,
            std::string("expected the table [sweep], got ") + m->value.kind());
    if (!findings_.empty()) throw InputError(ExitCode::config_invalid, std::move(findings_));
    return out;
  }

 private:
  void error(int number, const Origin& at, std::string message, std::string hint = {}) {
    findings_.push_back(config_.error(number, at, std::move(message), std::move(hint)));
  }

  void unknown(const Member& m, const std::string& path, const std::vector<std::string>& known) {
    std::string hint = "there are ";
    for (const std::string& k : known) hint += (&k == &known.front() ? "" : ", ") + k;
    const auto near = nearest_names(m.key, known);
    error(213, m.origin, "unknown key " + in_quotes(m.key) + " in " + path,
          near.empty() ? hint : "did you mean '" + near.front() + "'?");
  }

  void read_table(const Table& table, Sweep& out) {
    const Table* over = nullptr;
    for (const Member& m : table) {
      if (m.key == "kind")
        read_kind(m.value);
      else if (m.key == "count")
        count_ = whole(m.value, "sweep.count", 1);
      else if (m.key == "seed")
        seed_ = whole(m.value, "sweep.seed", 0);
      else if (m.key == "over")
        over = table_of(m);
      else
        unknown(m, "[sweep]", {"kind", "over", "count", "seed"});
    }
    const bool latin = kind_ == SweepKind::latin_hypercube;
    for (const char* key : {"count", "seed"})
      if (const Member* m = find(table, key); m && !latin)
        error(219, m->origin,
              "'sweep." + std::string(key) + "' is no key of kind = \"" +
                  kSweepKinds[static_cast<std::size_t>(kind_)] +
                  "\": it belongs to \"latin_hypercube\"");
    if (latin && !count_ && !find(table, "count"))
      error(216, at_, "the key 'sweep.count' is missing: how many points a Latin hypercube has");
    if (!find(table, "over"))
      error(216, at_, "the table [sweep.over] is missing: the parameters and their values",
            "e.g. length = [\"38 mm\", \"40 mm\"] or {from = \"1 mm\", to = \"3 mm\", count = 5}");
    if (over) read_parameters(*over, out);
    if (findings_.empty()) make_points(out);
  }

  const Table* table_of(const Member& m) {
    const Table* t = m.value.get<Table>();
    if (!t)
      error(210, m.value.origin,
            std::string("expected the table [sweep.over], got ") + m.value.kind());
    return t;
  }

  void read_kind(const Value& v) {
    const auto* name = v.get<std::string>();
    const auto at = std::find(kSweepKinds.begin(), kSweepKinds.end(), name ? *name : "");
    if (at != kSweepKinds.end())
      kind_ = static_cast<SweepKind>(at - kSweepKinds.begin());
    else
      error(name ? 215 : 210, v.origin,
            "'sweep.kind' must be one of " + detail::quoted_list(kSweepKinds) + ", got " +
                (name ? in_quotes(*name) : v.kind()));
  }

  std::optional<std::int64_t> whole(const Value& v, const std::string& key, std::int64_t least) {
    const auto* i = v.get<std::int64_t>();
    if (i && *i >= least) return *i;
    error(i ? 214 : 210, v.origin,
          "'" + key + "' must be " +
              (i ? "at least " + std::to_string(least) + ", got " + std::to_string(*i)
                 : std::string("an integer, got ") + v.kind()));
    return {};
  }

  void read_parameters(const Table& over, Sweep& out) {
    if (over.empty()) error(218, at_, "[sweep.over] must name a parameter, got none");
    std::vector<const Member*> members;
    for (const Member& m : over) members.push_back(&m);
    std::stable_sort(members.begin(), members.end(), [](const Member* a, const Member* b) {
      return earlier(a->origin, b->origin);
    });
    for (const Member* m : members)
      if (const Parameter* p = swept(*m)) read_values(*m, *p, out);
  }

  /// The free parameter that is meant; null where there is none, which is told.
  const Parameter* swept(const Member& m) {
    const Parameter* p = parameters_.find(m.key);
    if (!p) {
      std::vector<std::string> names;
      for (const Parameter& known : parameters_.all())
        if (known.free) names.push_back(known.name);
      const auto near = nearest_names(m.key, names);
      error(226, m.origin,
            "a sweep is over parameters, and [parameters] has no " + in_quotes(m.key),
            near.empty() ? "give the number a name there, and use the name where the number stands"
                         : "did you mean '" + near.front() + "'?");
      return nullptr;
    }
    if (p->free) return p;
    std::string of;
    for (const std::uint32_t n : p->expression.names())
      of += (of.empty() ? "" : ", ") + parameters_.all()[n].name;
    error(226, m.origin,
          "parameter '" + p->name + "' = " + in_quotes(p->text) + " follows from others",
          "sweep " + of + ", or give '" + p->name + "' a value of its own");
    return nullptr;
  }

  void read_values(const Member& m, const Parameter& p, Sweep& out) {
    const std::string key = "sweep.over." + m.key;
    SweptParameter swept{p.name, p.value.dimension, {}, {}};
    if (const Array* list = m.value.get<Array>()) {
      if (kind_ == SweepKind::latin_hypercube)
        return error(210, m.value.origin,
                     "'" + key + "' must be {from = ..., to = ...}, got a list",
                     "a Latin hypercube chooses the values in each range itself");
      if (list->empty() || list->size() > kMostPoints)
        return error(218, m.value.origin,
                     "'" + key + "' must have 1 to " + std::to_string(kMostPoints) +
                         " values, got " + std::to_string(list->size()));
      for (std::size_t k = 0; k < list->size(); ++k)
        if (const auto x = number((*list)[k], key + "[" + std::to_string(k) + "]", p)) {
          swept.given.push_back((*list)[k]);
          swept.value.push_back(*x);
        }
    } else if (const Table* range = m.value.get<Table>()) {
      for (const double x : values_of(*range, m.value.origin, key, p)) {
        swept.value.push_back(x);
        swept.given.push_back({p.value.dimension == dimension::number
                                   ? decltype(Value::data)(x)
                                   : print_expression({x, p.value.dimension}),
                               m.value.origin});
      }
    } else {
      return error(210, m.value.origin,
                   "'" + key +
                       "' must be a list of values or {from = ..., to = ..., count = ...}, "
                       "got " +
                       m.value.kind());
    }
    out.over.push_back(std::move(swept));
  }

  /// One value of a parameter in SI units.
  std::optional<double> number(const Value& v, const std::string& key, const Parameter& p) {
    double x = 0;
    Dimension of = dimension::number;
    if (const auto* text = v.get<std::string>()) {
      try {
        const Expression e = parse_expression(*text, {}, parameters_.names());
        x = e.value(std::vector<double>{}), of = e.dimension();
      } catch (const QuantityError& e) {
        error(e.number(), detail::place_in_string(config_, v.origin, *text, e.offset()),
              "'" + key + "' = " + in_quotes(*text) + ": " + e.what(),
              e.number() == 221 ? "values of a sweep are made of numbers alone" : e.hint());
        return {};
      }
    } else if (const auto* i = v.get<std::int64_t>()) {
      x = static_cast<double>(*i);
    } else if (const auto* d = v.get<double>()) {
      x = *d;
    } else {
      error(210, v.origin,
            "'" + key + "' must be a quantity or a number, got " + std::string(v.kind()));
      return {};
    }
    if (!(of == p.value.dimension)) {
      error(212, v.origin,
            "'" + key + "': expected " + dimension_name(p.value.dimension) + " as '" + p.name +
                "' = " + in_quotes(p.text) + " is, got " + dimension_name(of));
      return {};
    }
    if (!std::isfinite(x)) {
      error(223, v.origin, "'" + key + "' has no finite value");
      return {};
    }
    return x;
  }

  std::vector<double> values_of(const Table& table, const Origin& at, const std::string& key,
                                const Parameter& p) {
    const std::size_t before = findings_.size();
    const bool latin = kind_ == SweepKind::latin_hypercube;
    for (const Member& m : table)
      if (m.key != "from" && m.key != "to" && m.key != "spacing" &&
          (latin || (m.key != "count" && m.key != "step")))
        unknown(m, "'" + key + "'",
                latin ? std::vector<std::string>{"from", "to", "spacing"}
                      : std::vector<std::string>{"from", "to", "count", "step", "spacing"});
    Range range;
    for (const auto& [name, to] : {std::pair{"from", &range.from}, std::pair{"to", &range.to}}) {
      const Member* m = find(table, name);
      if (!m)
        error(216, at, "'" + key + "' has no '" + name + "'");
      else if (const auto x = number(m->value, key + "." + name, p))
        *to = *x;
    }
    if (const Member* m = find(table, "spacing")) {
      const auto* name = m->value.get<std::string>();
      range.log = name && *name == "log";
      if (!name || (*name != "log" && *name != "linear"))
        error(name ? 215 : 210, m->value.origin,
              "'" + key + ".spacing' must be \"linear\" or \"log\"");
    }
    if (findings_.size() > before) return {};
    if (range.log && !(range.from * range.to > 0))
      error(214, at,
            "'" + key + "': logarithmic spacing needs two ends of one sign, none of them 0");
    const auto shares = latin ? drawn_shares() : even_shares(table, at, key, p, range);
    if (findings_.size() > before) return {};
    std::vector<double> out;
    for (const double share : shares) out.push_back(range.at(share));
    return out;
  }

  /// By count or step.
  std::vector<double> even_shares(const Table& table, const Origin& at, const std::string& key,
                                  const Parameter& p, const Range& range) {
    const Member *count = find(table, "count"), *step = find(table, "step");
    if (!count == !step) {
      error(216, at, "'" + key + "' needs either 'count' or 'step'");
      return {};
    }
    double n = 0, last = 1;
    if (count) {
      const auto given = whole(count->value, key + ".count", 1);
      if (!given) return {};
      n = static_cast<double>(*given);
      if (n == 1 && range.from != range.to)
        error(214, count->value.origin, "'" + key + ".count' = 1 has no room for two ends");
    } else {
      const auto given = number(step->value, key + ".step", p);
      if (!given) return {};
      const double steps = (range.to - range.from) / *given;
      if (range.log || !(steps >= 0) || *given == 0) {
        error(214, step->value.origin,
              "'" + key + ".step' " +
                  (range.log ? "goes with linear spacing alone: give 'count'"
                             : "must lead from 'from' to 'to'"));
        return {};
      }
      const double whole_steps = std::floor(steps * (1 + 1e-12) + 1e-9);
      n = whole_steps + 1;
      if (steps > 0) last = std::min(whole_steps / steps, 1.0);
    }
    if (n > static_cast<double>(kMostPoints)) {
      error(218, at,
            "'" + key + "' has " + print_quantity(n, "") + " values, more than " +
                std::to_string(kMostPoints));
      return {};
    }
    std::vector<double> shares;
    for (double k = 0; k < n; ++k) shares.push_back(n > 1 ? last * (k / (n - 1)) : 0);
    return shares;
  }

  /// One in each of `count` equal parts, in an order of chance.
  std::vector<double> drawn_shares() {
    const auto n = static_cast<std::size_t>(
        std::min<std::int64_t>(count_.value_or(0), static_cast<std::int64_t>(kMostPoints) + 1));
    const RandomKey key{static_cast<std::uint64_t>(seed_.value_or(1)), drawn_++};
    std::vector<std::size_t> part(n);
    std::iota(part.begin(), part.end(), std::size_t{0});
    for (std::size_t k = n; k > 1; --k)  // Fisher and Yates
      std::swap(part[k - 1],
                part[static_cast<std::size_t>(uniform(key, k) * static_cast<double>(k))]);
    std::vector<double> shares;
    for (std::size_t k = 0; k < n; ++k)
      shares.push_back((static_cast<double>(part[k]) + uniform(key, n + 1 + k)) /
                       static_cast<double>(n));
    return shares;
  }

  void make_points(Sweep& out) {
    double n = 1;
    for (const SweptParameter& p : out.over) {
      const auto own = static_cast<double>(p.value.size());
      if (kind_ == SweepKind::grid)
        n *= own;
      else if (&p == &out.over.front())
        n = own;
      else if (own != n)
        return error(218, at_,
                     "values that go together are as many: '" + out.over.front().name + "' has " +
                         print_quantity(n, "") + ", '" + p.name + "' " + print_quantity(own, ""));
    }
    if (n > static_cast<double>(kMostPoints))
      return error(218, at_,
                   "the sweep has " + print_quantity(n, "") + " points, more than " +
                       std::to_string(kMostPoints));
    out.points.assign(static_cast<std::size_t>(n), std::vector<std::uint32_t>(out.over.size()));
    for (std::size_t i = 0; i < out.points.size(); ++i) {
      std::size_t rest = i;
      for (std::size_t k = out.over.size(); k-- > 0;) {
        const std::size_t own = out.over[k].value.size();
        out.points[i][k] = static_cast<std::uint32_t>(kind_ == SweepKind::grid ? rest % own : i);
        if (kind_ == SweepKind::grid) rest /= own;
      }
    }
  }

  const Config& config_;
  Parameters parameters_;
  std::vector<Diagnostic> findings_;
  SweepKind kind_ = SweepKind::grid;
  std::optional<std::int64_t> count_, seed_;
  std::uint64_t drawn_ = 0;
  Origin at_;
};

std::string toml_of(const Value& v) {
  if (const auto* text = v.get<std::string>()) return detail::toml_string(*text);
  if (const auto* i = v.get<std::int64_t>()) return std::to_string(*i);
  return print_quantity(*v.get<double>(), "");
}

}  // namespace

std::optional<Sweep> read_sweep(const Config& config) { return SweepReader(config).read(); }

Config at_point(const Config& config, const Sweep& sweep, std::size_t point) {
  Config out = config;
  auto& root = std::get<Table>(out.root.data);
  std::erase_if(root, [](const Member& m) { return m.key == "sweep"; });
  for (Member& m : root) {
    if (m.key != "parameters") continue;
    for (Member& p : std::get<Table>(m.value.data))
      for (std::size_t k = 0; k < sweep.over.size(); ++k)
        if (p.key == sweep.over[k].name) p.value = sweep.over[k].given[sweep.points.at(point)[k]];
  }
  return out;
}

std::string label_of_point(const Sweep& sweep, std::size_t point) {
  std::string out;
  for (std::size_t k = 0; k < sweep.over.size(); ++k) {
    const SweptParameter& p = sweep.over[k];
    out += (k ? ", " : "") + p.name + " = " +
           print_readably({p.value[sweep.points.at(point)[k]], p.dimension});
  }
  return out;
}

std::string to_toml(const Sweep& sweep) {
  std::size_t product = 1;
  for (const SweptParameter& p : sweep.over) product *= p.value.size();
  std::string out = "\n# The values of a sweep's points.\n[sweep]\nkind = \"";
  out += product == sweep.points.size() ? "grid" : "together";
  out += "\"\n\n[sweep.over]\n";
  for (const SweptParameter& p : sweep.over) {
    out += p.name + " = [";
    for (std::size_t k = 0; k < p.given.size(); ++k) out += (k ? ", " : "") + toml_of(p.given[k]);
    out += "]\n";
  }
  return out;
}

}  // namespace tessera::data
