// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/data/config.h"
#include "tessera/data/nearest_names.h"  // IWYU pragma: export
#include "tessera/data/option_value.h"
#include "tessera/data/quantity.h"

#include <concepts>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace tessera::data {

/// A quantity of another dimension that says the same: a vacuum wavelength for a frequency.
struct Alternative {
  std::string unit;  ///< whose dimension is taken: "um"
  std::string made;  ///< what the key is of it, an expression of x (expression.h): "c0/x"
};

/// What is told once about one key. Limits are in `unit`; defaults come from the options struct
/// itself.
struct Field {
  std::string doc;   ///< one sentence; needed
  std::string unit;  ///< makes a real key a quantity, given and shown in this unit: "ohm*m"
  std::vector<Alternative> alternatives;  ///< quantities: what may be given instead
  bool infinite = false;                  ///< quantities: "inf" and "-inf" are values
  std::optional<double> min;              ///< smallest value allowed
  std::optional<double> above;            ///< the value must lie above this one
  std::optional<double> max;              ///< largest value allowed
  std::vector<std::string>
      choices;            ///< names of enumerators 0, 1, ..., or the only strings allowed
  bool required = false;  ///< there is no default
  std::vector<std::string> only_for;      ///< kinds of its table that take this key; empty: all
  std::vector<std::string> required_for;  ///< kinds for which there is no default
  /// A value without brackets stands for every item of a std::array, or for a std::vector of one.
  bool one_for_all = false;
  std::size_t min_items = 0;       ///< lists: fewest items
  std::size_t max_items = 100000;  ///< lists: most items
  /// The version that had it first; that of the table or app around it where that is later.
  /// tests/apps/reference_pages_test.cpp holds a new key to the version in preparation.
  std::string since = "0.1";
};

enum class OptionType { boolean, integer, real, quantity, string, path, choice, table };

class OptionTable;
struct ParameterUse;

namespace detail {

/// What the type of a member says of its key.
struct MemberShape {
  OptionType type = OptionType::string;  ///< `real` for a quantity, too
  bool list = false, optional = false;
  std::size_t row = 0;    ///< as in OptionSpec
  std::size_t items = 0;  ///< of a list of fixed length; 0: any number
  std::int64_t integer_min = std::numeric_limits<std::int64_t>::min();
  std::int64_t integer_max = std::numeric_limits<std::int64_t>::max();
};

/// A member of an options struct, type-erased; functions as in OptionSpec.
struct Member {
  MemberShape shape;
  std::function<void(void*, const OptionValue&)> assign;
  std::function<OptionValue(const void*)> fetch;
};
struct TableMember {
  bool list = false, optional = false;
  std::function<std::size_t(const void*)> count;
  std::function<void(void*, std::size_t)> resize;
  std::function<void*(void*, std::size_t)> item;
};

template <OptionMember M>
constexpr MemberShape scalar_shape() {
  MemberShape shape;
  if constexpr (std::same_as<M, bool>)
    shape.type = OptionType::boolean;
  else if constexpr (std::is_enum_v<M>)
    shape.type = OptionType::choice;
  else if constexpr (std::floating_point<M>)
    shape.type = OptionType::real;
  else if constexpr (std::same_as<M, std::filesystem::path>)
    shape.type = OptionType::path;
  if constexpr (std::integral<M> && !std::same_as<M, bool>) {
    using Wide = std::int64_t;
    shape.type = OptionType::integer;
    shape.integer_min = std::is_signed_v<M> ? static_cast<Wide>(std::numeric_limits<M>::min()) : 0;
    if constexpr (sizeof(M) < sizeof(Wide) || std::is_signed_v<M>)
      shape.integer_max = static_cast<Wide>(std::numeric_limits<M>::max());
  }
  return shape;
}

template <class M>
constexpr MemberShape member_shape() {
  if constexpr (is_optional<M>) {
    MemberShape shape = member_shape<typename M::value_type>();
    shape.optional = true;
    return shape;
  } else if constexpr (is_list<M>) {
    using Item = typename M::value_type;
    static_assert(!is_vector<Item>, "rows are std::array");
    MemberShape shape;
    if constexpr (is_list<Item>)
      shape = scalar_shape<typename Item::value_type>();
    else
      shape = scalar_shape<Item>();
    shape.list = true;
    shape.row = array_size<Item>;
    shape.items = array_size<M>;
    return shape;
  } else {
    return scalar_shape<M>();
  }
}

}  // namespace detail

/// One key of an app, type-erased: everything that reading, checking, writing and documenting need.
struct OptionSpec {
  std::string key;  ///< dotted path within its table: "model.layers"
  OptionType type = OptionType::string;
  bool list = false;
  std::size_t row = 0;  ///< lists of rows, [[0, 0], [1, 0]]: values in each; 0: no rows
  bool optional = false;
  Field field;
  Dimension dimension;
  std::int64_t integer_min =
      std::numeric_limits<std::int64_t>::min();  ///< what the member can hold
  std::int64_t integer_max = std::numeric_limits<std::int64_t>::max();
  OptionValue default_value;
  std::function<void(void*, const OptionValue&)> assign;
  std::function<OptionValue(const void*)> fetch;

  // Of a table (type == table; with `list` a list of tables) instead of the last three:
  std::shared_ptr<const OptionTable> table;        ///< its keys
  std::function<std::size_t(const void*)> count;   ///< how many the struct holds
  std::function<void(void*, std::size_t)> resize;  ///< so many, all defaults
  std::function<void*(void*, std::size_t)> item;   ///< their structs
};

/// A key with its full name, that of its tables in front: "structure.radius".
struct NamedOption {
  std::string key;
  const OptionSpec* spec = nullptr;
  bool in_list = false;  ///< it stands in a list of tables: `--set structure[0].radius=...`
};

/// A key that every configuration may hold besides those of its app.
struct CommonKey {
  std::string key;  ///< "units", "sweep.over"
  std::string doc;
};
const std::vector<CommonKey>& common_keys();

/// The keys of one app, or of one table in its configuration. Built through `Options<T>` below.
class OptionTable {
 public:
  OptionTable(std::string app, std::string doc, std::string since,
              std::function<std::shared_ptr<void>()> make);
  OptionTable(const OptionTable&);
  OptionTable(OptionTable&&) noexcept;
  OptionTable& operator=(const OptionTable&);
  OptionTable& operator=(OptionTable&&) noexcept;
  ~OptionTable();

  const std::string& app() const { return app_; }
  const std::string& doc() const { return doc_; }
  const std::vector<OptionSpec>& specs() const { return specs_; }
  /// The key that says of which kind a table is; null where all are alike.
  const OptionSpec* kind() const;
  /// Every key, also those of the tables within, in the order of declaration.
  std::vector<NamedOption> all() const;
  /// By the full name, with or without the numbers of items: "structure.radius",
  /// "structure[2].radius".
  const OptionSpec* find(std::string_view key) const;

  /// Reads `config` into `*target` and returns every finding: those of the file, unknown keys
  /// (E0213, with the nearest name), wrong types (E0210), quantities (E0211, E0212), ranges
  /// (E0214), choices (E0215), missing keys (E0216), list lengths (E0218), keys of another kind
  /// (E0219), parameters and expressions (E0220 to E0224; E0225, a warning, where a parameter is
  /// not used). `*target` is complete only if there are no errors among them. At most 50 are
  /// returned.
  std::vector<Diagnostic> read_into(void* target, const Config& config) const;
  /// The same, and what follows from [parameters] (parameters.h).
  std::vector<Diagnostic> read_into(void* target, const Config& config, ParameterUse& use) const;
  /// Only the findings.
  std::vector<Diagnostic> check(const Config& config) const;

  /// Every key with its value, documentation, unit and default, as TOML that reads back to equal
  /// values.
  std::string resolved_toml(const void* values) const;
  /// The same for a configuration that has been checked; expressions of parameters stay what they
  /// are, and [parameters] stands in it. Throws InputError if it does not pass.
  std::string resolved_toml(const Config& config) const;
  /// The same with the values of expressions, and without [parameters].
  std::string resolved_values_toml(const Config& config) const;
  /// What of a configuration follows from its [parameters] (parameters.h). Throws InputError if it
  /// does not pass.
  ParameterUse parameter_use(const Config& config) const;

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
  /// A key or, with `kind`, the key that says of which kind the table is.
  void add_member(std::string key, Field field, detail::Member member, bool kind);
  void add_table(std::string key, const OptionTable& table, Field field,
                 detail::TableMember member);
  /// The checked options into `*target`. Throws InputError with every finding (exit 5).
  void read_or_throw(void* target, const Config& config) const;

 private:
  std::shared_ptr<void> make() const { return make_(); }
  void add_spec(OptionSpec spec);
  void add_kind_spec(OptionSpec spec);
  static void no_older_than(const std::string& version, OptionSpec& spec);

  std::string app_, doc_, since_;
  std::function<std::shared_ptr<void>()> make_;
  std::vector<OptionSpec> specs_;
  std::string kind_;
};

/// The options of one app, declared once:
///
///     struct O {
///       double error_floor = 0.05;
///       std::vector<double> depths_m;
///       Method method = Method::occam;
///     };
///     const Options<O>& mt1d_options() {
///       static const auto table = [] {
///         Options<O> o("inversion.mt1d", "1-D inversion of magnetotelluric soundings");
///         o.add("data.error_floor", &O::error_floor, {.doc = "...", .unit = "%", .above = 0});
///         o.add("model.depths", &O::depths_m, {.doc = "...", .unit = "m", .above = 0});
///         o.add("method", &O::method, {.doc = "...", .choices = {"occam", "gauss_newton"}});
///         return o;
///       }();
///       return table;
///     }
///
/// Members: bool, integers, double, string, path, enum (values 0, 1, ... named by `choices`);
/// std::vector and std::array of these, and of std::array of these (rows: [[0, 0], [1, 0]]);
/// std::optional of all of them. `access` is a member pointer or a function `T& -> M&` for a nested
/// member.
///
/// A member that is a struct with options of its own is a table, a vector of them a list of tables
/// (`[[structure]]` in TOML). In a table one key may say of which kind it is, and other keys belong
/// to some kinds only:
///
///     Options<Body> s("structure", "A body of one material.");
///     s.add_kind("shape", &Body::shape, {.doc = "...", .choices = {"box", "sphere"}});
///     s.add("radius", &Body::radius, {.doc = "...", .unit = "um", .only_for = {"sphere"}});
///     o.add_tables("structure", &O::bodies, s, {.doc = "...", .min_items = 1});
template <class T>
class Options : public OptionTable {
  template <class Access>
  using Stored = std::remove_cvref_t<std::invoke_result_t<Access, T&>>;

 public:
  /// `app` is the name of the app, or that of a table; `since` the version that had it first.
  Options(std::string app, std::string doc, std::string since = "0.1")
      : OptionTable(std::move(app), std::move(doc), std::move(since),
                    [] { return std::static_pointer_cast<void>(std::make_shared<T>()); }) {}

  template <class Access>
  Options& add(std::string key, Access access, Field field) {
    add_member(std::move(key), std::move(field), member(access), false);
    return *this;
  }

  /// The key that says of which kind this table is: an enum, or a string with `choices`. Declared
  /// before the keys that belong to some kinds only.
  template <class Access>
  Options& add_kind(std::string key, Access access, Field field) {
    add_member(std::move(key), std::move(field), member(access), true);
    return *this;
  }

  /// One table: a struct (with the defaults of its own type, also where the table is absent), or a
  /// std::optional one. `table` is copied.
  template <class Access, class Item>
  Options& add_table(std::string key, Access access, const Options<Item>& table, Field field) {
    constexpr bool optional = std::same_as<Stored<Access>, std::optional<Item>>;
    static_assert(optional || std::same_as<Stored<Access>, Item>,
                  "the member is the struct of this table, or an optional one");
    detail::TableMember m{.optional = optional};
    m.count = [access](const void* t) {
      if constexpr (optional)
        return std::size_t{stored(access, t).has_value()};
      else
        return std::size_t{1};
    };
    m.resize = [access](void* t, std::size_t n) {
      if constexpr (optional) {
        auto& out = std::invoke(access, *static_cast<T*>(t));
        out.reset();
        if (n) out.emplace();
      }
    };
    m.item = [access](void* t, std::size_t) -> void* {
      auto& out = std::invoke(access, *static_cast<T*>(t));
      if constexpr (optional)
        return &out.value();
      else
        return &out;
    };
    OptionTable::add_table(std::move(key), table, std::move(field), std::move(m));
    return *this;
  }

  /// A list of tables, a std::vector of structs. `table` is copied.
  template <class Access, class Item>
  Options& add_tables(std::string key, Access access, const Options<Item>& table, Field field) {
    static_assert(std::same_as<Stored<Access>, std::vector<Item>>,
                  "the member is a vector of the struct of this table");
    detail::TableMember m{.list = true};
    m.count = [access](const void* t) { return stored(access, t).size(); };
    m.resize = [access](void* t, std::size_t n) {
      auto& out = std::invoke(access, *static_cast<T*>(t));
      out.clear();
      out.resize(n);
    };
    m.item = [access](void* t, std::size_t i) -> void* {
      return &std::invoke(access, *static_cast<T*>(t)).at(i);
    };
    OptionTable::add_table(std::move(key), table, std::move(field), std::move(m));
    return *this;
  }

  /// The checked options. Throws InputError with every finding (exit 5).
  T read(const Config& config) const {
    T out{};
    read_or_throw(&out, config);
    return out;
  }

 private:
  template <class Access>
  static decltype(auto) stored(const Access& access, const void* t) {
    // Accessors are written for a mutable struct only; nothing is changed here.
    return std::as_const(std::invoke(access, *static_cast<T*>(const_cast<void*>(t))));
  }

  template <class Access>
  static detail::Member member(Access access) {
    using M = Stored<Access>;
    return {detail::member_shape<M>(),
            [access](void* t, const OptionValue& v) {
              std::invoke(access, *static_cast<T*>(t)) = detail::from_value<M>(v);
            },
            [access](const void* t) { return detail::to_value(stored(access, t)); }};
  }
};

}  // namespace tessera::data
