// SPDX-License-Identifier: Apache-2.0
#include "tessera/data/xml_guard.h"

#include <fmt/format.h>

namespace tessera::data {

void guard_xml(Findings& findings, const XmlLimits& limits) {
  const std::string_view s = findings.text().text;
  const auto refuse = [&](int number, std::size_t at, std::string message) {
    findings.error(number, at, std::move(message));
    findings.throw_if_errors();
  };
  /// The end of what begins at `i`, behind `mark`.
  const auto behind = [&](std::string_view mark, std::size_t from, std::size_t i,
                          const char* what) {
    const std::size_t end = s.find(mark, from);
    if (end == std::string_view::npos)
      refuse(312, i, fmt::format("{} is not closed by '{}'", what, mark));
    return end + mark.size();
  };
  std::size_t depth = 0, tags = 0, behind_tag = 0;
  bool root_done = false;
  /// Outside the root element there may be blanks only.
  const auto outside = [&](std::size_t begin, std::size_t end) {
    const std::string_view text = s.substr(begin, end - begin);
    if (const std::size_t k = text.find_first_not_of(" \t\n\f");
        depth == 0 && k != std::string_view::npos)
      refuse(312, begin + k, "text outside the root element: " + shown(trim(text)));
  };
  for (std::size_t i = s.find('<'); i != std::string_view::npos; i = s.find('<', i)) {
    const std::string_view rest = s.substr(i);
    outside(behind_tag, i);
    if (rest.starts_with("<!--")) {
      i = behind("-->", i + 4, i, "a comment");
    } else if (rest.starts_with("<![CDATA[")) {
      i = behind("]]>", i + 9, i, "a CDATA section");
    } else if (rest.starts_with("<?")) {
      i = behind("?>", i + 2, i, "a processing instruction");
    } else if (rest.starts_with("<!")) {
      refuse(313, i,
             "document type and entity declarations are not read: " +
                 shown(rest.substr(0, rest.find('\n'))));
    } else {
      const bool closing = rest.starts_with("</");
      std::size_t k = i + 1;
      for (char quote = 0; k < s.size() && (quote || s[k] != '>'); ++k) {
        if (quote) {
          if (s[k] == quote) quote = 0;
        } else if (s[k] == '"' || s[k] == '\'') {
          quote = s[k];
        } else if (s[k] == '<') {
          break;
        }
      }
      if (k >= s.size() || s[k] != '>') refuse(312, i, "a tag is not closed by '>'");
      if (++tags > limits.max_tags)
        refuse(314, i, fmt::format("more than {} tags", limits.max_tags));
      if (!closing && depth == 0 && root_done) refuse(312, i, "a second root element");
      if (closing)
        depth -= depth > 0;
      else if (s[k - 1] != '/' && ++depth > limits.max_depth)
        refuse(314, i, fmt::format("elements nested more than {} deep", limits.max_depth));
      root_done |= depth == 0;
      i = k + 1;
    }
    behind_tag = i;
  }
  outside(behind_tag, s.size());
}

}  // namespace tessera::data
