// SPDX-License-Identifier: Apache-2.0
// Whether the solver's mesh is fine enough for a section that was found on it, and the next mesh
// where it is not. A contact of good and bad conductors beside a station asks for columns that no
// rule knows of before the contact is found.
#pragma once
#include "inversion/mt2d/invert.h"
#include "tessera/data/log.h"

#include <optional>
#include <string>
#include <vector>

namespace tessera::apps::mt2d {

struct FinerMesh {
  /// How much the section's responses change where all columns and rows of the solver are halved,
  /// in errors of the data: root mean square, and the datum that changes most. NaN: they were not
  /// computed, `why_not` says why.
  double change = NAN, worst = NAN;
  std::string at;                     ///< "log10_rho_yx of S05 at 1 Hz"
  std::optional<InvertProblem> next;  ///< where that is above mesh.error; not completed
  std::string why_not;                ///< above it, but no finer mesh fits
  std::string text() const;           ///< a line for the user
};
/// `section`: ln rho of the cells, then static shifts where the case has them free, in decades.
FinerMesh finer_mesh(const data::Config& config, const InvertProblem& p,
                     const std::vector<double>& section);

/// The case with another mesh, not completed. Throws data::InputError E0687 where that has too many
/// nodes or memory does not hold it.
InvertProblem with_fineness(const data::Config& config, const InvertProblem& p,
                            const Fineness& fineness);

/// What there is to say of it, after `of`; a warning where no finer mesh fits.
void tell(data::Log& log, const std::string& of, const FinerMesh& finer);

}  // namespace tessera::apps::mt2d
