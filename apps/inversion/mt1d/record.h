// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/data/checkpoint.h"
#include "tessera/data/hdf5.h"
#include "tessera/inversion/station_result.h"

#include <map>
#include <string>

namespace tessera::apps::mt1d {

// What is kept of one sounding goes unchanged into checkpoints and results.h5.

void put(data::Checkpoint& c, const std::string& prefix, const inversion::StationResult& r);
inversion::StationResult get(const data::Checkpoint& c, const std::string& prefix);

void write(data::H5Writer& file, const std::string& group, const inversion::StationResult& r);
/// Throws data::InputError E0428 where a dataset is missing or of another type.
inversion::StationResult read(const std::map<std::string, data::H5Array>& datasets,
                              const std::string& group, const std::string& file);

}  // namespace tessera::apps::mt1d
