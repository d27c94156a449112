// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "inversion/mt1d/input.h"
#include "tessera/data/checkpoint.h"
#include "tessera/data/hdf5.h"

#include <string>
#include <vector>

namespace tessera::apps::mt1d {

/// What is kept of one sounding, as plain arrays: enough for every table and picture. It goes
/// unchanged into checkpoints and results.h5.
struct Record {
  std::string id, station, file;
  double distance_m = 0, latitude_deg = 0, longitude_deg = 0;  ///< NaN where not known
  inversion::SoundingInversion result;
  /// Observed xy and yx of the tensor as inverted (turned): rho_a, its error, phase, its error per
  /// frequency.
  std::vector<double> tensor_frequency;
  std::vector<double> xy[4], yx[4];
};

/// Without the inversion's result.
Record begin_record(const Item& item);

void put(data::Checkpoint& c, const std::string& prefix, const Record& r);
Record get(const data::Checkpoint& c, const std::string& prefix);

void write(data::H5Writer& file, const std::string& group, const Record& r);
/// Throws data::InputError E0428 where a dataset is missing or of another type.
Record read(const std::map<std::string, data::H5Array>& datasets, const std::string& group,
            const std::string& file);

}  // namespace tessera::apps::mt1d
