// SPDX-License-Identifier: Apache-2.0
//
// The entries of an mdp file: keys and values line by line, each key known or told, and the values
// as numbers, words and names.
#pragma once
#include "mdp/mdp_choices.h"
#include "tessera/data/text_reader.h"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::molecular {

/// Lower case, with '-' for '_': so mdp compares keys and names of groups.
std::string mdp_name(std::string_view name);

class MdpEntries {
 public:
  struct Entry {
    std::string value;  ///< as it is written
    std::size_t key_at = 0, at = 0;
  };
  /// Lines that are none, keys that mdp does not have, and switches of what is not supported are
  /// errors in `findings`.
  explicit MdpEntries(const data::TextFile& text);

  /// Null where the key is not given, or without a value.
  const Entry* find(std::string_view key) const;
  std::vector<data::Token> words(std::string_view key) const;
  double number(std::string_view key, double otherwise);
  std::vector<double> numbers(std::string_view key);
  double positive(std::string_view key, double otherwise);
  std::int64_t whole(std::string_view key, std::int64_t otherwise);
  /// Steps from one to the next; 0: never.
  std::int64_t interval(std::string_view key, std::int64_t otherwise);
  bool yes(std::string_view key, bool otherwise);
  /// What a key's value means; none where it was refused.
  template <class V>
  std::optional<V> chosen(const MdpChoice<V>& choice) {
    std::vector<MdpName> names;
    for (const MdpValue<V>& v : choice.values) names.push_back({v.name, v.way});
    const auto row = chosen_row(choice.key, choice.otherwise, names);
    if (!row) return std::nullopt;
    return choice.values[*row].meant;
  }
  void refuse(const Entry& e, std::string_view key, std::string way);
  /// Where what the file lacks is told: its end.
  std::size_t end() const { return text_.text.size() - 1; }
  /// Notes of the keys that are given and have no effect here.
  void tell_idle();

  data::Findings findings;

 private:
  void read_lines();
  void add(std::string key, const Entry& e);
  std::optional<std::size_t> chosen_row(std::string_view key, std::string_view otherwise,
                                        std::span<const MdpName> names);
  void told(const std::vector<std::string>& given, const char* why, const char* hint);

  const data::TextFile& text_;
  std::map<std::string, Entry> entries_;
  std::vector<std::string> of_lists_, of_constraints_, not_asked_, of_switches_;
};

}  // namespace tessera::molecular
