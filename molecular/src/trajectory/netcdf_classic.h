// SPDX-License-Identifier: Apache-2.0
//
// NetCDF's classic formats (NetCDF Users Guide, appendix B): all numbers big-endian, names and
// texts padded to four bytes.
//
//   "CDF" version    1; 2: offsets of 8 bytes; 5: counts of 8 bytes too
//   records          how many; all bits set: as many as the file holds
//   dimensions       names and extents; extent 0: that of the records
//   attributes       of the file: names, types, values
//   variables        names, dimensions, attributes, types, bytes, offsets
//
// then the variables that have no records, then the records one after the other, in each a row of
// every variable that has them.
#pragma once
#include "tessera/data/binary_file.h"

#include <bit>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::molecular {

enum class NetcdfType : std::int32_t { i8 = 1, text, i16, i32, f32, f64, u8, u16, u32, i64, u64 };

struct NetcdfDimension {
  std::string name;
  std::uint64_t extent;  ///< 0: of the records
};

struct NetcdfVariable {
  std::string name;
  std::vector<std::size_t> dimensions;  ///< indices; that of the records comes first
  NetcdfType type;
  std::map<std::string, std::string> texts = {};  ///< attributes
  std::map<std::string, double> numbers = {};     ///< attributes of one number
  bool has_records = false;
  std::uint64_t count = 1;             ///< of numbers, in a record where it has them
  std::uint64_t begin = 0, bytes = 0;  ///< of all numbers or of a record's, padded
  std::uint64_t defined_at = 0;        ///< the byte of its entry in the header
};

struct NetcdfLayout {
  std::vector<NetcdfDimension> dimensions;
  std::map<std::string, std::string> texts;
  std::vector<NetcdfVariable> variables;
  std::uint64_t n_records = 0, record_bytes = 0;

  const NetcdfVariable* find(std::string_view name) const;
  /// The extent of a dimension; 0 where there is none of that name.
  std::uint64_t extent(std::string_view name) const;
  /// Where the numbers of a variable lie.
  std::uint64_t offset(const NetcdfVariable& v, std::uint64_t record) const {
    return v.begin + (v.has_records ? record * record_bytes : 0);
  }
};

/// Throws InputError E0740..E0742, as TrajectoryReader::read does.
NetcdfLayout read_netcdf_layout(const data::BinaryInput& in);
/// The numbers of a variable, in a record where it has them.
std::vector<double> read_netcdf(const data::BinaryInput& in, const NetcdfLayout& layout,
                                const NetcdfVariable& v, std::uint64_t record);

/// Lays out what dimensions, texts and variables say (64-bit offsets), and returns the header of a
/// file without records.
std::string netcdf_header(NetcdfLayout& layout);
inline constexpr std::uint64_t netcdf_records_at = 4;
inline constexpr auto netcdf_order = std::endian::big;

}  // namespace tessera::molecular
