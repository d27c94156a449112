// SPDX-License-Identifier: Apache-2.0
//
// The pictures of a survey: what was observed, what a model predicts and what is left, as its table
// of data has them, whichever these are. Predictions that are not there are left out.
#pragma once
#include "tessera/data/plot.h"
#include "tessera/inversion/survey.h"

#include <cstddef>
#include <vector>

namespace tessera::inversion {

/// The responses that the table has data of, in the order of Element.
std::vector<Element> elements_of(const DataTable& table);
/// "TE (xy)", "TM (yx)" of a survey across a strike, "xy" of another; "determinant", "tipper ty".
std::string name_of(Element element, bool across_strike);

/// Observed, predicted and residual (rows) over distance and period, each station at its own
/// periods: of apparent resistivity and phase, of real and imaginary part of a tipper.
data::Figure pseudo_section(const Survey& survey, Element element, bool across_strike = false);

/// The same of the elements xx and yy of phase tensors, across a strike.
data::Figure phase_tensor_elements(const Survey& survey);

/// Apparent resistivities, phases and tippers of a station with their predictions against period,
/// residuals below.
data::Figure station_figure(const Survey& survey, std::size_t station);

/// RMS of each station, and of its data at each period.
data::Figure misfit_map(const Survey& survey);

/// Ellipses over distance and period, with the strike that the stations share; north is up.
data::Figure phase_tensor_section(const Survey& survey);
/// Whether any station has a whole tensor, a tipper (as its file or the table of data has it).
bool has_phase_tensors(const Survey& survey);
bool has_tippers(const Survey& survey);

/// Real induction arrows over distance and period, north up, turned as Parkinson (1959) does: the
/// arrow -(Re Tx, Re Ty) points to what conducts better. Of the stations' files, else of the table;
/// with the predictions of the table.
data::Figure induction_arrows(const Survey& survey);

}  // namespace tessera::inversion
