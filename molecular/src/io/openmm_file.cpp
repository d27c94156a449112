// SPDX-License-Identifier: Apache-2.0
#include "io/openmm_file.h"

#include "tessera/data/xml_guard.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace tessera::molecular {

using data::shown;

OpenmmFile::OpenmmFile(const data::TextFile& text) : text_(text), findings_(text) {
  data::guard_xml(findings_);
  const auto result =
      document_.load_buffer(text.text.data(), text.text.size(),
                            pugi::parse_default & ~pugi::parse_eol, pugi::encoding_utf8);
  if (!result) {
    findings_.error(312, static_cast<std::size_t>(std::max<std::ptrdiff_t>(result.offset, 0)),
                    std::string("not well-formed XML: ") + result.description());
    findings_.throw_if_errors();
  }
  if (std::string_view(root().name()) != "ForceField") {
    error(701, root(), "expected the element ForceField, got " + shown(root().name()),
          "is this a force field of OpenMM?");
    findings_.throw_if_errors();
  }
}

std::size_t OpenmmFile::offset_of(pugi::xml_node n) {
  return static_cast<std::size_t>(std::max<std::ptrdiff_t>(n.offset_debug(), 0));
}
std::size_t OpenmmFile::offset_of(pugi::xml_attribute a, pugi::xml_node n) const {
  const std::size_t from = offset_of(n);
  const std::string_view rest = std::string_view(text_.text).substr(from),
                         tag = rest.substr(0, rest.find('>'));
  const std::string name = std::string(a.name()) + "=";
  for (std::size_t at = tag.find(name, 1); at < tag.size(); at = tag.find(name, at + 1))
    if (std::string_view(" \t\n").find(tag[at - 1]) != std::string_view::npos)
      return from + at + name.size() + 1;
  return from;
}
void OpenmmFile::error(int number, pugi::xml_node n, std::string message, std::string hint) {
  findings_.error(number, offset_of(n), std::move(message), std::move(hint));
}
void OpenmmFile::error(int number, pugi::xml_attribute a, pugi::xml_node n, std::string message,
                       std::string hint) {
  findings_.error(number, offset_of(a, n), std::move(message), std::move(hint));
}

pugi::xml_attribute OpenmmFile::required(pugi::xml_node n, const char* name) {
  const pugi::xml_attribute a = n.attribute(name);
  if (!a) error(701, n, fmt::format("{} needs the attribute {}", n.name(), name));
  return a;
}
double OpenmmFile::number(pugi::xml_node n, pugi::xml_attribute a) {
  return data::parse_number({data::trim(a.value()), offset_of(a, n)}, data::Exponent::e_only,
                            findings_)
      .value_or(0);
}
double OpenmmFile::number(pugi::xml_node n, const char* name) {
  const pugi::xml_attribute a = required(n, name);
  return a ? number(n, a) : 0;
}
double OpenmmFile::number(pugi::xml_node n, const char* name, double usual) {
  const pugi::xml_attribute a = n.attribute(name);
  return a ? number(n, a) : usual;
}
std::int32_t OpenmmFile::index(pugi::xml_node n, const char* name, std::size_t most,
                               const char* what) {
  const pugi::xml_attribute a = required(n, name);
  if (!a) return 0;
  const std::string_view s = a.value();
  std::int64_t v = -1;
  const auto [end, code] = std::from_chars(s.data(), s.data() + s.size(), v);
  if (code == std::errc{} && end == s.data() + s.size() && v >= 0 &&
      static_cast<std::size_t>(v) < most)
    return static_cast<std::int32_t>(v);
  error(702, a, n, fmt::format("{} {} is not among {}", what, shown(s), most));
  return 0;
}

}  // namespace tessera::molecular
