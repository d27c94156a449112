// SPDX-License-Identifier: Apache-2.0
//
// A prmtop as its sections: `%FLAG NAME`, `%FORMAT(10I8)`, lines of fields of fixed width. Numbers
// are read by columns, so those that touch are told apart.
#pragma once
#include "tessera/data/text_reader.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::molecular {

class AmberSections {
 public:
  AmberSections(const data::TextFile& text, data::Findings& findings);

  bool has(const std::string& flag) const { return sections_.count(flag) > 0; }
  /// Exactly `count` entries; throws where there are others, reports and gives zero for what is no
  /// number.
  std::vector<double> reals(const std::string& flag, std::size_t count);
  std::vector<std::int64_t> integers(const std::string& flag, std::size_t count);
  std::vector<std::string> words(const std::string& flag, std::size_t count);
  /// As many as there are, at most `most`.
  std::vector<std::int64_t> integers_up_to(const std::string& flag, std::size_t most);
  /// Where entry k of a section stands; of the section itself where there is no such entry.
  std::size_t offset(const std::string& flag, std::size_t k) const;
  /// Lines of a section as they are.
  std::string first_line(const std::string& flag) const;

 private:
  struct Section {
    std::size_t flag_offset = 0;
    std::size_t width = 0;            ///< of a field; 0: the format was not understood
    std::size_t first = 0, last = 0;  ///< lines of the body [first, last)
  };
  /// Fields of a section, blank ones at the end left out.
  std::vector<data::Token> fields(const Section& section, std::size_t most) const;
  const Section* find(const std::string& flag);
  template <class T, class Parse>
  std::vector<T> exactly(const std::string& flag, std::size_t count, Parse&& parse);

  const data::TextFile& text_;
  data::Findings& findings_;
  std::map<std::string, Section> sections_;
};

}  // namespace tessera::molecular
