// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "hdf5/hdf5_boxes.h"
#include "tessera/data/hdf5.h"

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace tessera::data {

/// A file, and the descriptor of it that was looked at: the library opens no other that has its
/// name by now.
struct H5Source {
  std::string name, opened;
};

/// The reading that runs inside the guarded child (hdf5_reader.cpp): every check that can be made
/// before the library reads is made here. `max_bytes` is the budget, not 0. Throws InputError as
/// hdf5.h says.
std::vector<H5Object> list_h5_here(const H5Source& file, const H5Limits& limits);
std::map<std::string, H5Array> read_h5_here(const H5Source& file,
                                            std::span<const std::string> names,
                                            const H5Limits& limits, const H5Rows& rows);
H5Place locate_h5_here(const H5Source& file, const std::string& name, const H5Limits& limits);
H5Array read_h5_part_here(const H5Source& file, const std::string& name, const H5Part& part,
                          const H5Limits& limits);

}  // namespace tessera::data
