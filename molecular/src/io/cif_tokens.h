// SPDX-License-Identifier: Apache-2.0
//
// CIF 1.1 as pairs and loops (Hall, Allen & Brown, Acta Cryst. A47 (1991) 655; iucr.org "CIF
// syntax"), read token by token: of a loop only the row at hand is kept, so that memory does not
// grow with the file.
#pragma once
#include "tessera/data/text_reader.h"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::molecular {

struct CifValue {
  std::string_view text;
  std::size_t offset = 0;
  bool quoted = false;
  /// Neither `.` nor `?`.
  bool given() const { return quoted || (text != "." && text != "?"); }
};

/// What a category's loop is read by: called once with its tags (lower case, the category before
/// the point left out), it returns a function for the rows; an empty one passes over the loop. A
/// category given by single pairs is a loop of one row.
using CifRow = std::function<void(const std::vector<CifValue>& values)>;
using CifCategory = std::function<CifRow(const std::string& category,
                                         const std::vector<std::string>& tags, std::size_t offset)>;

/// The first data block of a text. Reports E0701: no block, a loop whose rows are not full, a value
/// without a tag, a text or quotation that does not end. The number of further blocks is returned.
int read_cif(data::Findings& findings, const CifCategory& category);

}  // namespace tessera::molecular
