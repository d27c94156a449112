// SPDX-License-Identifier: Apache-2.0
//
// The entries of an mdp file: keys and values line by line, each key known or told, and the values
// as numbers, words and names.
#pragma once
#include "molecular/dynamics/mdp_choices.h"
#include "tessera/data/text_reader.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::apps::dynamics {

std::string in_quotes(std::string_view s);

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
  std::int64_t whole(std::string_view key, std::int64_t otherwise);
  bool yes(std::string_view key, bool otherwise);
  /// Our name of a key's value; empty where it was refused.
  std::string chosen(const MdpChoice& choice);
  void refuse(const Entry& e, std::string_view key, std::string way);
  /// Where what the file lacks is told: its end.
  std::size_t end() const { return text_.text.size() - 1; }
  /// Notes of the keys that are given and have no effect here.
  void tell_idle();

  data::Findings findings;

 private:
  void read_lines();
  void add(std::string key, const Entry& e);
  void told(const std::vector<std::string>& given, const char* why, const char* hint);

  const data::TextFile& text_;
  std::map<std::string, Entry> entries_;
  std::vector<std::string> of_lists_, of_constraints_, not_asked_;
};

}  // namespace tessera::apps::dynamics
