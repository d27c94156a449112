// SPDX-License-Identifier: Apache-2.0
// Sheets of a case on its grid.
#pragma once
#include "electromagnetics/waves/case.h"

namespace tessera::apps::waves {

/// Those of the case's options.
std::vector<electromagnetics::Sheet> sheets_of(const Case& c);
/// The same on its grid, in its scene and media.
electromagnetics::AddedMedia make_sheet_edges(const Case& c);
/// Lines of the grid that lie on sheets of `at` go along with those that have another place in
/// `moved`: (axis, line). One that has to stay, as another sheet or the end of a conductor on it
/// makes it, stays; the sheet is shared then.
std::vector<std::array<int, 2>> follow_sheets(Case& moved, const Case& at);
/// What of the domain a sheet spans; flat along its normal.
electromagnetics::Bounds bounds_of_sheet(const Case& c, const SheetOptions& sheet);

}  // namespace tessera::apps::waves
