// SPDX-License-Identifier: Apache-2.0
// Rows are written in the library's mode of one writer and many readers (SWMR): it orders its
// writes so that what has reached the file fits together at any time. A write that a kill cuts is
// cut between two pages of memory: none of the library's own records lies across such a place
// (H5Growth::rows). What a kill leaves behind is the mark of being written and an end of file that
// is out of date; both stand in the superblock, and are mended there.
#include "tessera/data/hdf5_series.h"

#include "hdf5/hdf5_handle.h"
#include "tessera/autodiff/error.h"
#include "tessera/data/binary_file.h"
#include "tessera/data/file_io.h"

#include <unistd.h>

#include <bit>
#include <cerrno>
#include <cstring>

namespace tessera::data {
namespace {

/// Bob Jenkins' lookup3 (public domain) of the bytes, as HDF5's checksums of metadata: words of
/// four bytes, little-endian, three at a time.
std::uint32_t lookup3(std::string_view bytes) {
  std::uint32_t a = 0xdeadbeef + static_cast<std::uint32_t>(bytes.size()), b = a, c = a;
  const auto word = [&](std::size_t at) {
    std::uint32_t w = 0;
    if (at < bytes.size())
      std::memcpy(&w, bytes.data() + at, std::min<std::size_t>(4, bytes.size() - at));
    return w;
  };
  std::size_t at = 0;
  for (; bytes.size() - at > 12; at += 12) {
    a += word(at), b += word(at + 4), c += word(at + 8);
    a -= c, a ^= std::rotl(c, 4), c += b;
    b -= a, b ^= std::rotl(a, 6), a += c;
    c -= b, c ^= std::rotl(b, 8), b += a;
    a -= c, a ^= std::rotl(c, 16), c += b;
    b -= a, b ^= std::rotl(a, 19), a += c;
    c -= b, c ^= std::rotl(b, 4), b += a;
  }
  a += word(at), b += word(at + 4), c += word(at + 8);
  c ^= b, c -= std::rotl(b, 14);
  a ^= c, a -= std::rotl(c, 11);
  b ^= a, b -= std::rotl(a, 25);
  c ^= b, c -= std::rotl(b, 16);
  a ^= c, a -= std::rotl(c, 4);
  b ^= a, b -= std::rotl(a, 14);
  c ^= b, c -= std::rotl(b, 24);
  return c;
}

template <class T>
hid_t memory_type();
template <>
hid_t memory_type<double>() {
  return H5T_NATIVE_DOUBLE;
}
template <>
hid_t memory_type<float>() {
  return H5T_NATIVE_FLOAT;
}
template <>
hid_t memory_type<std::int64_t>() {
  return H5T_NATIVE_INT64;
}

struct Open {
  H5Handle set;
  std::vector<hsize_t> shape;  // [rows, ...]
  std::string name;
};

}  // namespace

void H5Series::mend(const std::filesystem::path& path) {
  // Superblock of version 3 (HDF5 file format, II.A): signature, version, sizes, flags, base,
  // extension, end of file, root, checksum.
  constexpr std::size_t version_at = 8, flags_at = 11, end_at = 28, checksum_at = 44, size = 48;
  std::string block(size, '\0');
  std::uint64_t length = 0;
  {
    const BinaryInput in(path);
    length = in.size();
    if (!in.read(0, block.data(), size)) return;  // not HDF5: the library says so
  }
  if (!block.starts_with("\x89HDF\r\n\x1a\n") || block[version_at] != 3 || block[flags_at] == 0)
    return;
  AppendFile out(path, length);
  out.append(std::string((kH5Page - length % kH5Page) % kH5Page, '\0'));
  const std::uint64_t end = out.size();
  block[flags_at] = 0;
  std::memcpy(block.data() + end_at, &end, sizeof end);
  const std::uint32_t checksum = lookup3(std::string_view(block).substr(0, checksum_at));
  std::memcpy(block.data() + checksum_at, &checksum, sizeof checksum);
  out.overwrite(0, block);
  out.sync();
}

struct H5Series::Impl {
  std::filesystem::path path;
  H5Handle file;
  std::vector<Open> series;

  [[noreturn]] void fail(const std::string& what) const {
    throw Error("[hdf5] " + path.string() + ": cannot " + what + ": " + h5_reason());
  }
  H5Handle check(hid_t id, H5Handle::Close close, const std::string& what) const {
    if (id < 0) fail(what);
    return {id, close};
  }
};

H5Series::H5Series(std::filesystem::path path, const std::vector<std::string>& names,
                   std::uint64_t rows)
    : impl_(std::make_unique<Impl>()) {
  h5_quiet();
  impl_->path = std::move(path);
  mend(impl_->path);
  const H5Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  H5Pset_libver_bounds(access, H5F_LIBVER_V110, H5F_LIBVER_V110);
  H5Pset_file_locking(access, false, true);
  impl_->file =
      impl_->check(H5Fopen(impl_->path.c_str(), H5F_ACC_RDWR, access), H5Fclose, "open to go on");
  for (const std::string& name : names) {
    Open s{.set = impl_->check(H5Dopen2(impl_->file, name.c_str(), H5P_DEFAULT), H5Dclose,
                               "open series " + name),
           .shape = {},
           .name = name};
    const H5Handle space(H5Dget_space(s.set), H5Sclose);
    const int rank = H5Sget_simple_extent_ndims(space);
    if (rank < 1) impl_->fail("take " + name + " as a series");
    s.shape.resize(static_cast<std::size_t>(rank));
    H5Sget_simple_extent_dims(space, s.shape.data(), nullptr);
    if (s.shape[0] < rows)
      throw Error("[hdf5] " + impl_->path.string() + ": expected " + std::to_string(rows) +
                  " rows of " + name + ", found " + std::to_string(s.shape[0]));
    s.shape[0] = rows;
    if (H5Dset_extent(s.set, s.shape.data()) < 0) impl_->fail("cut " + name);
    impl_->series.push_back(std::move(s));
  }
  if (H5Fflush(impl_->file, H5F_SCOPE_LOCAL) < 0) impl_->fail("flush");
  sync();
  if (H5Fstart_swmr_write(impl_->file) < 0) impl_->fail("let others read");
}

H5Series::~H5Series() = default;

template <class T>
void H5Series::row(std::size_t k, std::span<const T> values) {
  Open& s = impl_->series.at(k);
  std::vector<hsize_t> start(s.shape.size(), 0), count = s.shape;
  start[0] = s.shape[0], count[0] = 1;
  hsize_t n = 1;
  for (hsize_t c : count) n *= c;
  if (n != values.size())
    throw Error("[hdf5] " + s.name + ": expected " + std::to_string(n) + " values a row, got " +
                std::to_string(values.size()));
  ++s.shape[0];
  if (H5Dset_extent(s.set, s.shape.data()) < 0) impl_->fail("extend " + s.name);
  const H5Handle memory(H5Screate_simple(static_cast<int>(count.size()), count.data(), nullptr),
                        H5Sclose),
      space(H5Dget_space(s.set), H5Sclose);
  H5Sselect_hyperslab(space, H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr);
  errno = 0;
  if (H5Dwrite(s.set, memory_type<T>(), memory, space, H5P_DEFAULT, values.data()) < 0) {
    if (errno == ENOSPC || errno == EDQUOT || errno == EFBIG)
      throw_io_error(impl_->path, "write", errno);
    impl_->fail("write " + s.name);
  }
}
template void H5Series::row(std::size_t, std::span<const double>);
template void H5Series::row(std::size_t, std::span<const float>);
template void H5Series::row(std::size_t, std::span<const std::int64_t>);

void H5Series::end_row() {
  errno = 0;
  if (H5Fflush(impl_->file, H5F_SCOPE_LOCAL) < 0) {
    if (errno == ENOSPC || errno == EDQUOT || errno == EFBIG)
      throw_io_error(impl_->path, "write", errno);
    impl_->fail("flush");
  }
}

void H5Series::sync() {
  void* fd = nullptr;
  if (H5Fget_vfd_handle(impl_->file, H5P_DEFAULT, &fd) < 0 || !fd) impl_->fail("sync");
  if (::fsync(*static_cast<int*>(fd)) != 0) throw_io_error(impl_->path, "sync", errno);
}

}  // namespace tessera::data
