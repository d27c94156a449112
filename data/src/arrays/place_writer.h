// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>

namespace tessera::data {

/// Writes at places of a file that is there. Long runs go past the cache of the system, by way of a
/// piece of memory that is used again and again: 14 GB of an image would else take as much of the
/// cache, page after page. Several threads may write at places that do not overlap.
class PlaceWriter {
 public:
  /// Throws InputError E0501 ... E0503, as the others do.
  explicit PlaceWriter(std::filesystem::path path);
  ~PlaceWriter();
  PlaceWriter(const PlaceWriter&) = delete;
  PlaceWriter& operator=(const PlaceWriter&) = delete;

  void write(std::uint64_t at, const std::byte* bytes, std::size_t n);
  void sync();

 private:
  void write_cached(std::uint64_t at, const std::byte* bytes, std::size_t n);
  /// Whole blocks; false: the file cannot, and none was written.
  bool write_past_cache(std::uint64_t at, const std::byte* bytes, std::size_t n);

  std::filesystem::path path_;
  int cached_ = -1;
  int direct_ = -1;
};

}  // namespace tessera::data
