// SPDX-License-Identifier: Apache-2.0
// ZIP archives as NumPy's .npz files are (PKWARE APPNOTE 6.3): stored or deflated members, with
// ZIP64. Each begins with a local header; a central directory names them all, and a record at the
// very end of the file says where that is.
#pragma once
#include "tessera/data/binary_file.h"
#include "tessera/data/file_io.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::data {

struct ZipMember {
  std::string name;
  bool deflated = false;
  std::uint32_t crc = 0;
  std::uint64_t packed = 0, size = 0;  ///< bytes in the file and out of it
  std::uint64_t header = 0;            ///< byte of its local header
  std::uint64_t data = 0;              ///< byte where its own begin
};

/// The members in the order of the directory. Refused (InputError E0437, with the byte): what is
/// encrypted, in several parts or packed by another method; names that are given twice, lead out of
/// a folder, or are not UTF-8; local headers and data descriptors that say other things than the
/// directory; members that overlap or reach into the directory; anything behind the end record and
/// its comment; and sizes that deflate cannot reach, which is 1032 times those in the file. Bytes
/// between members are passed by, as programs leave some that replace a member.
std::vector<ZipMember> read_zip_directory(const BinaryInput& file);

/// The bytes of one member, unpacked.
class ZipStream {
 public:
  ZipStream(const BinaryInput& file, const ZipMember& member);
  ~ZipStream();
  ZipStream(const ZipStream&) = delete;
  ZipStream& operator=(const ZipStream&) = delete;

  /// The next n. Throws InputError E0437 where they cannot be had.
  void next(void* to, std::size_t n);
  /// Throws InputError E0437 unless that was all of it, and the checksum is right.
  void finish();

 private:
  struct Inflater;
  std::size_t inflate_some(void* to, std::size_t n);
  [[noreturn]] void refuse(const std::string& what) const;

  const BinaryInput& file_;
  const ZipMember& member_;
  std::uint64_t taken_ = 0, passed_ = 0;  // bytes in the file and out of it
  unsigned long crc_;
  std::unique_ptr<Inflater> inflater_;  // none: stored
};

/// Writes members one after the other, as NumPy does: without times, so that the bytes depend on
/// the content alone.
class ZipWriter {
 public:
  explicit ZipWriter(AtomicFile& file) : file_(file) {}
  /// A member of these pieces. `name` is one that read_zip_directory takes.
  void add(const std::string& name, std::span<const std::span<const std::byte>> pieces,
           bool deflated);
  /// The directory and the end.
  void finish();

 private:
  void write(std::string_view bytes);
  AtomicFile& file_;
  std::vector<ZipMember> members_;
  std::uint64_t at_ = 0;
};

/// Why no member may be called so; empty where one may.
std::string zip_name_fault(std::string_view name);

/// Signatures and layouts that reader and writer share.
inline constexpr std::uint32_t kZipLocal = 0x04034b50, kZipCentral = 0x02014b50,
                               kZipEnd = 0x06054b50, kZip64End = 0x06064b50,
                               kZip64Locator = 0x07064b50, kZipDescriptor = 0x08074b50;
inline constexpr std::size_t kZipLocalBytes = 30, kZipCentralBytes = 46, kZipEndBytes = 22,
                             kZip64EndBytes = 56, kZip64LocatorBytes = 20;
inline constexpr std::uint16_t kZipUtf8 = 1 << 11, kZipDeflated = 8, kZip64Extra = 1;

}  // namespace tessera::data
