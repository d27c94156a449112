// SPDX-License-Identifier: Apache-2.0
// How members of an options struct become values of the registry and back.
#pragma once
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

namespace tessera::data {

/// One value in the form in which options are read and written: quantities in SI, paths absolute, a
/// choice by its index.
using OptionScalar = std::variant<bool, std::int64_t, double, std::string>;
/// One item for a plain key, any number for a list (row after row for a list of rows), `set ==
/// false` for an optional key that was not given.
struct OptionValue {
  bool set = true;
  std::vector<OptionScalar> items;
};

namespace detail {

template <class T>
inline constexpr bool is_vector = false;
template <class T>
inline constexpr bool is_vector<std::vector<T>> = true;
template <class T>
inline constexpr std::size_t array_size = 0;
template <class T, std::size_t n>
inline constexpr std::size_t array_size<std::array<T, n>> = n;
template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;
template <class T>
inline constexpr bool is_list = is_vector<T> || array_size<T> != 0;

template <class T>
concept OptionMember = std::same_as<T, bool> || std::integral<T> || std::floating_point<T> ||
    std::is_enum_v<T> || std::same_as<T, std::string> || std::same_as<T, std::filesystem::path>;

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

/// Appends the scalars of a member, row after row.
template <class M>
void flatten(const M& member, std::vector<OptionScalar>& out) {
  if constexpr (is_list<M>)
    for (const auto& item : member) flatten<typename M::value_type>(item, out);
  else
    out.push_back(to_scalar(member));
}

template <class M>
OptionValue to_value(const M& member) {
  OptionValue v;
  if constexpr (is_optional<M>) {
    v.set = member.has_value();
    if (v.set) flatten(*member, v.items);
  } else {
    flatten(member, v.items);
  }
  return v;
}

/// The inverse of `flatten`; `next` moves on behind what was taken.
template <class M>
M take(const OptionScalar*& next, const OptionScalar* end) {
  if constexpr (is_vector<M>) {
    M out;
    while (next != end) out.push_back(take<typename M::value_type>(next, end));
    return out;
  } else if constexpr (array_size<M> != 0) {
    M out;
    for (auto& item : out) item = take<typename M::value_type>(next, end);
    return out;
  } else {
    return from_scalar<M>(*next++);
  }
}

template <class M>
M from_value(const OptionValue& v) {
  const OptionScalar* next = v.items.data();
  const OptionScalar* end = next + v.items.size();
  if constexpr (is_optional<M>)
    return v.set ? M(take<typename M::value_type>(next, end)) : M();
  else
    return take<M>(next, end);
}

}  // namespace detail

}  // namespace tessera::data
