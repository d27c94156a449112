// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/data/text_reader.h"

#include <pugixml.hpp>

#include <cstdint>
#include <string>

namespace tessera::molecular {

/// A file of XML: its elements, their attributes as words and numbers, and what is wrong with them,
/// told where it stands.
class OpenmmFile {
 public:
  /// Throws InputError where it is no force field.
  explicit OpenmmFile(const data::TextFile& text);

  pugi::xml_node root() const { return document_.document_element(); }
  data::Findings& findings() { return findings_; }
  const std::string& path() const { return text_.path; }

  static std::size_t offset_of(pugi::xml_node n);
  /// Where the value of an attribute begins.
  std::size_t offset_of(pugi::xml_attribute a, pugi::xml_node n) const;
  void error(int number, pugi::xml_node n, std::string message, std::string hint = {});
  void error(int number, pugi::xml_attribute a, pugi::xml_node n, std::string message,
             std::string hint = {});

  pugi::xml_attribute required(pugi::xml_node n, const char* name);
  std::string text(pugi::xml_node n, const char* name) { return required(n, name).value(); }
  double number(pugi::xml_node n, pugi::xml_attribute a);
  double number(pugi::xml_node n, const char* name);
  double number(pugi::xml_node n, const char* name, double usual);
  /// A whole number from 0 to most - 1.
  std::int32_t index(pugi::xml_node n, const char* name, std::size_t most, const char* what);

 private:
  const data::TextFile& text_;
  data::Findings findings_;
  pugi::xml_document document_;
};

}  // namespace tessera::molecular
