// SPDX-License-Identifier: Apache-2.0
#include "tessera/data/parameters.h"

#include "options/config_readers.h"
#include "tessera/data/nearest_names.h"

#include <algorithm>
#include <cmath>

namespace tessera::data {
namespace {

constexpr std::size_t kMostParameters = 1000;

bool spelt_as_name(std::string_view s) {
  const auto letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  return !s.empty() && s.size() <= 64 && letter(s[0]) &&
         std::all_of(s.begin(), s.end(),
                     [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

bool taken(std::string_view name) {
  const auto holds = [&](const std::vector<std::string>& list) {
    return std::find(list.begin(), list.end(), name) != list.end();
  };
  return holds(expression_constants()) || holds(expression_functions());
}

/// Thrown where a parameter is made of one that is wrong, which has been told.
struct ToldAlready {};

}  // namespace

/// Reads one parameter after another, each when it is first asked for.
class ParameterReader {
 public:
  ParameterReader(const Config& config, const Table& table, Parameters& out,
                  std::vector<Diagnostic>& findings)
      : config_(config), out_(out), findings_(findings) {
    std::vector<const Member*> members;
    for (const Member& m : table)
      if (usable(m)) members.push_back(&m);
    for (const Member* m : members) {
      Parameter p;
      p.name = m->key, p.key = m->origin;
      if (text_of(*m, p)) {
        out_.all_.push_back(std::move(p));
        origins_.push_back(m->value.origin);
      }
    }
    for (const Parameter& p : out_.all_) out_.names_.push_back(p.name);
    state_.resize(out_.all_.size());
    out_.values_.resize(out_.all_.size());
    out_.slopes_.resize(out_.all_.size());
  }

  void read() {
    for (std::uint32_t n = 0; n < out_.all_.size(); ++n) {
      try {
        resolve(n);
      } catch (const ToldAlready&) {
        chain_.clear();
      }
    }
    for (std::uint32_t n = 0; n < out_.all_.size(); ++n)
      if (state_[n] == State::done && out_.all_[n].free) out_.free_.push_back(n);
    for (const std::uint32_t n : out_.order_) {
      const auto at = std::find(out_.free_.begin(), out_.free_.end(), n);
      Slopes& s = out_.slopes_[n];
      if (at == out_.free_.end()) {
        s = out_.all_[n].expression.value(out_.slopes_);
      } else {
        s = {out_.values_[n], std::vector<double>(out_.free_.size())};
        s.by[static_cast<std::size_t>(at - out_.free_.begin())] = 1;
      }
    }
  }

 private:
  enum class State { waiting, begun, done, wrong };

  void error(int number, const Origin& at, std::string message, std::string hint = {}) {
    findings_.push_back(config_.error(number, at, std::move(message), std::move(hint)));
  }

  bool usable(const Member& m) {
    const std::string name = detail::in_quotes(m.key);
    if (!spelt_as_name(m.key))
      error(220, m.origin, "a parameter cannot be called " + name,
            "letters, digits and '_', at most 64, a letter first");
    else if (taken(m.key))
      error(220, m.origin, name + " is a constant or a function of every expression already",
            "give the parameter another name");
    else
      return true;
    return false;
  }

  bool text_of(const Member& m, Parameter& p) {
    if (const auto* s = m.value.get<std::string>()) {
      p.text = *s;
      return true;
    }
    p.bare = true;
    if (const auto* i = m.value.get<std::int64_t>())
      p.text = std::to_string(*i);
    else if (const auto* d = m.value.get<double>(); d && std::isfinite(*d))
      p.text = print_quantity(*d, "");
    else if (!m.value.get<double>())  // what is not finite was told when the file was read
      error(210, m.value.origin,
            "'parameters." + m.key + "' must be a quantity, a number or an expression, got " +
                m.value.kind());
    return !p.text.empty();
  }

  void resolve(std::uint32_t n) {
    if (state_[n] == State::done) return;
    if (state_[n] == State::wrong) throw ToldAlready();
    Parameter& p = out_.all_[n];
    if (state_[n] == State::begun) circle(n);
    state_[n] = State::begun;
    chain_.push_back(n);
    const auto wrong = [&](int number, const Origin& at, std::string message, std::string hint) {
      state_[n] = State::wrong;
      if (number) error(number, at, std::move(message), std::move(hint));
      throw ToldAlready();
    };
    try {
      p.expression = parse_expression(
          p.text,
          [&](std::string_view name) -> std::optional<NameMeaning> {
            const Parameter* of = out_.find(name);
            if (!of) return {};
            const auto number = static_cast<std::uint32_t>(of - out_.all_.data());
            resolve(number);
            return NameMeaning{number, of->value.dimension};
          },
          out_.names_);
    } catch (const QuantityError& e) {
      wrong(e.number(), detail::place_in_string(config_, origins_[n], p.text, e.offset()),
            "'parameters." + p.name + "' = " + detail::in_quotes(p.text) + ": " + e.what(),
            e.hint());
    } catch (const ToldAlready&) {
      state_[n] = State::wrong;
      throw;
    }
    out_.values_[n] = p.expression.value(out_.values_);
    if (!std::isfinite(out_.values_[n]))
      wrong(223, origins_[n],
            "'parameters." + p.name + "' = " + detail::in_quotes(p.text) + " has no finite value",
            "look for a division by zero, or a root or logarithm of what is negative");
    p.value = {out_.values_[n], p.expression.dimension()};
    p.free = p.expression.names().empty();
    state_[n] = State::done;
    out_.order_.push_back(n);
    chain_.pop_back();
  }

  [[noreturn]] void circle(std::uint32_t n) {
    std::string text;
    const auto first = std::find(chain_.begin(), chain_.end(), n);
    for (auto at = first; at != chain_.end(); ++at) text += out_.all_[*at].name + " -> ";
    error(224, origins_[n], "parameters are made of each other: " + text + out_.all_[n].name,
          "give one of them a value of its own");
    for (auto at = first; at != chain_.end(); ++at) state_[*at] = State::wrong;
    throw ToldAlready();
  }

  const Config& config_;
  Parameters& out_;
  std::vector<Diagnostic>& findings_;
  std::vector<Origin> origins_;
  std::vector<State> state_;
  std::vector<std::uint32_t> chain_;
};

Parameters::Parameters(const Config& config, std::vector<Diagnostic>& findings) {
  const Member* m = data::find(config.table(), "parameters");
  if (!m) return;
  const Table* table = m->value.get<Table>();
  if (!table) {
    findings.push_back(
        config.error(210, m->value.origin,
                     std::string("expected the table [parameters], got ") + m->value.kind()));
    return;
  }
  if (table->size() > kMostParameters) {
    findings.push_back(config.error(218, m->origin,
                                    "[parameters] must have at most " +
                                        std::to_string(kMostParameters) + " names, got " +
                                        std::to_string(table->size())));
    return;
  }
  ParameterReader(config, *table, *this, findings).read();
}

const Parameter* Parameters::find(std::string_view name) const {
  const auto at =
      std::lower_bound(all_.begin(), all_.end(), name,
                       [](const Parameter& p, std::string_view n) { return p.name < n; });
  return at != all_.end() && at->name == name ? &*at : nullptr;
}

Expression Parameters::parse(std::string_view text) const {
  return parse_expression(
      text,
      [&](std::string_view name) -> std::optional<NameMeaning> {
        const Parameter* p = find(name);
        if (!p) return {};
        return NameMeaning{static_cast<std::uint32_t>(p - all_.data()), p->value.dimension};
      },
      names_);
}

double Parameters::value(const Expression& e) const { return e.value(values_); }
Slopes Parameters::slopes(const Expression& e) const { return e.value(slopes_); }

Tensor Parameters::value(const Expression& e, const std::vector<Tensor>& free) const {
  std::vector<Tensor> values(all_.size());
  for (std::size_t k = 0; k < free_.size(); ++k) values[free_[k]] = free.at(k);
  for (const std::uint32_t n : order_)
    if (!all_[n].free) values[n] = all_[n].expression.value(values);
  return e.value(values);
}

Tensor DependentValue::at(const Parameters& parameters, const std::vector<Tensor>& free) const {
  const Tensor x = parameters.value(expression, free);
  return then ? then->value(std::vector<Tensor>{x}) : x;
}

Config with_parameter(Config config, const Parameter& parameter, double value) {
  auto& root = std::get<Table>(config.root.data);
  for (Member& m : root) {
    if (m.key != "parameters") continue;
    for (Member& p : std::get<Table>(m.value.data))
      if (p.key == parameter.name)
        p.value.data = print_expression({value, parameter.value.dimension});
  }
  return config;
}

namespace detail {

Origin place_in_string(const Config& config, const Origin& at, std::string_view text,
                       std::size_t offset) {
  if (!at.line) return at;
  const std::string_view line = config.sources.at(at.source).line(at.line);
  const std::size_t quote = at.column - 1;  // columns count from 1
  if (quote >= line.size() || (line[quote] != '"' && line[quote] != '\'') ||
      line.substr(quote + 1, text.size()) != text)
    return at;
  Origin out = at;
  out.column += static_cast<std::uint32_t>(1 + offset);
  return out;
}

}  // namespace detail

}  // namespace tessera::data
