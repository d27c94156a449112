// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/data/config.h"
#include "tessera/data/quantity.h"

#include <concepts>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace tessera::data {

/// What is told once about one key. Limits are in `unit`; defaults come from the options struct
/// itself.
struct Field {
  std::string doc;   ///< one sentence; needed
  std::string unit;  ///< makes a real key a quantity, given and shown in this unit: "ohm*m"
  std::optional<double> min;    ///< smallest value allowed
  std::optional<double> above;  ///< the value must lie above this one
  std::optional<double> max;    ///< largest value allowed
  std::vector<std::string>
      choices;                     ///< names of enumerators 0, 1, ..., or the only strings allowed
  bool required = false;           ///< there is no default
  std::size_t min_items = 0;       ///< lists: fewest items
  std::size_t max_items = 100000;  ///< lists: most items
  std::string since = "0.1";
};

enum class OptionType { boolean, integer, real, quantity, string, path, choice };

/// One value in the form in which options are read and written: quantities in SI, paths absolute, a
/// choice by its index.
using OptionScalar = std::variant<bool, std::int64_t, double, std::string>;
/// One item for a plain key, any number for a list, `set == false` for an optional key that was not
/// given.
struct OptionValue {
  bool set = true;
  std::vector<OptionScalar> items;
};

/// One key of an app, type-erased: everything that reading, checking, writing and documenting need.
struct OptionSpec {
  std::string key;  ///< dotted path: "model.layers"
  OptionType type = OptionType::string;
  bool list = false;
  bool optional = false;
  Field field;
  Dimension dimension;
  std::int64_t integer_min =
      std::numeric_limits<std::int64_t>::min();  ///< what the member can hold
  std::int64_t integer_max = std::numeric_limits<std::int64_t>::max();
  OptionValue default_value;
  std::function<void(void*, const OptionValue&)> assign;
  std::function<OptionValue(const void*)> fetch;
};

/// The keys of one app. Built through `Options<T>` below.
class OptionTable {
 public:
  OptionTable(std::string app, std::string doc, std::function<std::shared_ptr<void>()> make)
      : app_(std::move(app)), doc_(std::move(doc)), make_(std::move(make)) {}

  const std::string& app() const { return app_; }
  const std::string& doc() const { return doc_; }
  const std::vector<OptionSpec>& specs() const { return specs_; }
  const OptionSpec* find(std::string_view key) const;

  /// Reads `config` into `*target` and returns every finding: those of the file, unknown keys
  /// (E0213, with the nearest name), wrong types (E0210), quantities (E0211, E0212), ranges
  /// (E0214), choices (E0215), missing keys (E0216), list lengths (E0218). `*target` is complete
  /// only if there are no errors among them. At most 50 are returned.
  std::vector<Diagnostic> read_into(void* target, const Config& config) const;
  /// Only the findings.
  std::vector<Diagnostic> check(const Config& config) const;

  /// Every key with its value, documentation, unit and default, as TOML that reads back to equal
  /// values.
  std::string resolved_toml(const void* values) const;
  /// The same for a configuration that has been checked. Throws InputError if it does not pass.
  std::string resolved_toml(const Config& config) const;

  /// `tessera explain KEY`: type, unit, default, range, choices, documentation. Empty for an
  /// unknown key.
  std::string explain(std::string_view key) const;
  /// The keys nearest to `key` in spelling, best first.
  std::vector<std::string> nearest(std::string_view key) const;
  /// JSON schema, draft-07.
  std::string json_schema() const;
  /// Reference page in Markdown (docs/reference/options-*.md).
  std::string reference_page() const;

 protected:
  void add_spec(OptionSpec spec);
  std::shared_ptr<void> make() const { return make_(); }

 private:
  std::string app_, doc_;
  std::function<std::shared_ptr<void>()> make_;
  std::vector<OptionSpec> specs_;
};

/// Those of `known` that `text` may have been meant to be, nearest first: within a third of their
/// length in insertions, deletions, replacements and swaps of neighbours.
std::vector<std::string> nearest_names(std::string_view text,
                                       const std::vector<std::string>& known);

namespace detail {

template <class T>
struct is_vector : std::false_type {};
template <class T>
struct is_vector<std::vector<T>> : std::true_type {};
template <class T>
struct is_optional : std::false_type {};
template <class T>
struct is_optional<std::optional<T>> : std::true_type {};

template <class T>
concept OptionMember = std::same_as<T, bool> || std::integral<T> || std::floating_point<T> ||
    std::is_enum_v<T> || std::same_as<T, std::string> || std::same_as<T, std::filesystem::path>;

template <OptionMember T>
OptionType option_type(const Field& field) {
  if constexpr (std::same_as<T, bool>)
    return OptionType::boolean;
  else if constexpr (std::is_enum_v<T>)
    return OptionType::choice;
  else if constexpr (std::integral<T>)
    return OptionType::integer;
  else if constexpr (std::floating_point<T>)
    return field.unit.empty() ? OptionType::real : OptionType::quantity;
  else if constexpr (std::same_as<T, std::filesystem::path>)
    return OptionType::path;
  else
    return OptionType::string;
}

template <OptionMember T>
OptionScalar to_scalar(const T& value) {
  if constexpr (std::same_as<T, bool>)
    return value;
  else if constexpr (std::is_enum_v<T> || std::integral<T>)
    return static_cast<std::int64_t>(value);
  else if constexpr (std::floating_point<T>)
    return static_cast<double>(value);
  else if constexpr (std::same_as<T, std::filesystem::path>)
    return value.string();
  else
    return value;
}

template <OptionMember T>
T from_scalar(const OptionScalar& s) {
  if constexpr (std::same_as<T, bool>)
    return std::get<bool>(s);
  else if constexpr (std::is_enum_v<T> || std::integral<T>)
    return static_cast<T>(std::get<std::int64_t>(s));
  else if constexpr (std::floating_point<T>)
    return static_cast<T>(std::get<double>(s));
  else
    return T(std::get<std::string>(s));
}

}  // namespace detail

/// The options of one app, declared once:
///
///     struct Mt1dOptions { double error_floor = 0.05; std::vector<double> depths_m; Method method
///     = Method::occam; }; const Options<Mt1dOptions>& mt1d_options() {
///       static const auto table = [] {
///         Options<Mt1dOptions> o("inversion.mt1d", "1-D inversion of magnetotelluric soundings");
///         o.add("data.error_floor", &Mt1dOptions::error_floor, {.doc = "...", .unit = "%", .above
///         = 0, .max = 100}); o.add("model.depths", &Mt1dOptions::depths_m, {.doc = "...", .unit =
///         "m", .above = 0}); o.add("method", &Mt1dOptions::method, {.doc = "...", .choices =
///         {"occam", "gauss_newton"}}); return o;
///       }();
///       return table;
///     }
///
/// Members: bool, integers, double, string, path, enum (values 0, 1, ... named by `choices`),
/// std::vector and std::optional of these. `access` is a member pointer or a function `T& -> M&`
/// for a nested member.
template <class T>
class Options : public OptionTable {
 public:
  Options(std::string app, std::string doc)
      : OptionTable(std::move(app), std::move(doc),
                    [] { return std::static_pointer_cast<void>(std::make_shared<T>()); }) {}

  template <class Access>
  Options& add(std::string key, Access access, Field field) {
    using Stored = std::remove_cvref_t<std::invoke_result_t<Access, T&>>;
    OptionSpec spec;
    spec.key = std::move(key);
    if constexpr (detail::is_vector<Stored>::value) {
      using Item = typename Stored::value_type;
      describe<Item>(spec, std::move(field));
      spec.list = true;
      spec.assign = [access](void* t, const OptionValue& v) {
        Stored& out = std::invoke(access, *static_cast<T*>(t));
        out.clear();
        for (const OptionScalar& s : v.items) out.push_back(detail::from_scalar<Item>(s));
      };
      spec.fetch = [access](const void* t) {
        OptionValue v;
        for (const Item item : stored(access, t)) v.items.push_back(detail::to_scalar<Item>(item));
        return v;
      };
    } else if constexpr (detail::is_optional<Stored>::value) {
      using Item = typename Stored::value_type;
      describe<Item>(spec, std::move(field));
      spec.optional = true;
      spec.assign = [access](void* t, const OptionValue& v) {
        Stored& out = std::invoke(access, *static_cast<T*>(t));
        out.reset();
        if (v.set) out = detail::from_scalar<Item>(v.items.at(0));
      };
      spec.fetch = [access](const void* t) {
        const Stored& in = stored(access, t);
        return in ? OptionValue{true, {detail::to_scalar<Item>(*in)}} : OptionValue{false, {}};
      };
    } else {
      describe<Stored>(spec, std::move(field));
      spec.assign = [access](void* t, const OptionValue& v) {
        std::invoke(access, *static_cast<T*>(t)) = detail::from_scalar<Stored>(v.items.at(0));
      };
      spec.fetch = [access](const void* t) {
        return OptionValue{true, {detail::to_scalar<Stored>(stored(access, t))}};
      };
    }
    const T defaults{};
    spec.default_value = spec.fetch(&defaults);
    add_spec(std::move(spec));
    return *this;
  }

  /// The checked options. Throws InputError with every finding (exit 5).
  T read(const Config& config) const {
    T out{};
    throw_if_any(read_into(&out, config));
    return out;
  }

 private:
  template <class Access>
  static decltype(auto) stored(const Access& access, const void* t) {
    // Accessors are written for a mutable struct only; nothing is changed here.
    return std::as_const(std::invoke(access, *static_cast<T*>(const_cast<void*>(t))));
  }

  template <detail::OptionMember M>
  static void describe(OptionSpec& spec, Field field) {
    spec.type = detail::option_type<M>(field);
    spec.field = std::move(field);
    if constexpr (std::integral<M> && !std::same_as<M, bool>) {
      using Wide = std::int64_t;
      if constexpr (std::is_signed_v<M>)
        spec.integer_min = static_cast<Wide>(std::numeric_limits<M>::min());
      else
        spec.integer_min = 0;
      if constexpr (sizeof(M) < sizeof(Wide) || std::is_signed_v<M>)
        spec.integer_max = static_cast<Wide>(std::numeric_limits<M>::max());
    }
  }

  static void throw_if_any(std::vector<Diagnostic> findings) {
    for (const Diagnostic& d : findings)
      if (d.severity == Severity::error)
        throw InputError(ExitCode::config_invalid, std::move(findings));
  }
};

}  // namespace tessera::data
