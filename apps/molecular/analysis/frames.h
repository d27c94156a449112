// SPDX-License-Identifier: Apache-2.0
// The trajectory of a case: what joins its files, told at the keys that ask for it.
#pragma once
#include "molecular/analysis/options.h"
#include "tessera/data/config.h"
#include "tessera/molecular/joined_frames.h"

#include <cstddef>

namespace tessera::apps::analysis {

namespace mol = tessera::molecular;

/// The files of a case, joined as its [frames] say. Throws InputError E0743 where they do not go
/// together, or an analysis needs times that they have not.
mol::JoinedFiles join_files(const AnalysisOptions& o, const data::Config& config,
                            std::size_t n_atoms);

/// `error` with the key that it is about and what can be done there, as E0743.
data::InputError at_key(const mol::JoinError& error, const AnalysisOptions& o,
                        const data::Config& config);

}  // namespace tessera::apps::analysis
