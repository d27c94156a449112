// SPDX-License-Identifier: Apache-2.0
#include "hdf5/hdf5_boxes.h"

#include "hdf5/hdf5_handle.h"
#include "tessera/autodiff/error.h"
#include "tessera/data/file_io.h"

#include <fcntl.h>

#include <cerrno>
#include <system_error>

namespace tessera::data {
namespace {

/// As files have it on any machine; complex types are made, the others the library's own.
H5Handle stored_h5_type(const Type& type) {
  switch (type.dtype) {
    case Dtype::f32:
      return {H5Tcopy(H5T_IEEE_F32LE), H5Tclose};
    case Dtype::f64:
      return {H5Tcopy(H5T_IEEE_F64LE), H5Tclose};
    case Dtype::i64:
      return {H5Tcopy(H5T_STD_I64LE), H5Tclose};
    case Dtype::u8:
      return {H5Tcopy(H5T_STD_U8LE), H5Tclose};
    case Dtype::c128:
      return h5_complex_type(H5T_IEEE_F64LE);
    default:
      throw Error("[hdf5] an array that is written by boxes holds f32, f64, i64, u8 or c128, not " +
                  to_string(type));
  }
}

/// Takes the room of the whole file before the library writes its first byte: a file that cannot
/// become as long as it says fails as it is closed, where nothing is told. 0, or what is wrong.
int take_room(hid_t file) {
  hsize_t bytes = 0;
  void* fd = nullptr;
  if (H5Fget_filesize(file, &bytes) < 0 || H5Fget_vfd_handle(file, H5P_DEFAULT, &fd) < 0 || !fd)
    return EIO;
  return ::posix_fallocate(*static_cast<int*>(fd), 0, static_cast<off_t>(bytes));
}

}  // namespace

std::uint64_t create_h5_place(const std::filesystem::path& path, const std::string& name,
                              const Type& type, const H5Attributes& attributes) {
  h5_quiet();
  const auto check = [&](hid_t id, H5Handle::Close close, const std::string& what) -> H5Handle {
    if (id < 0) throw Error("[hdf5] " + path.string() + ": cannot " + what + ": " + h5_reason());
    return {id, close};
  };
  const H5Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  H5Pset_libver_bounds(access, H5F_LIBVER_V18, H5F_LIBVER_V110);
  const H5Handle creation(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
  H5Pset_obj_track_times(creation, false);  // of the root group
  errno = 0;
  const hid_t id = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, creation, access);
  if (id < 0) throw_io_error(path, "make", errno ? errno : EIO);
  H5Handle file(id, H5Fclose);
  const H5Handle of_type = stored_h5_type(type);
  for (std::size_t slash = name.find('/', 1); slash != std::string::npos;
       slash = name.find('/', slash + 1)) {
    const H5Handle group(H5Pcreate(H5P_GROUP_CREATE), H5Pclose);
    H5Pset_obj_track_times(group, false);
    check(H5Gcreate2(file, name.substr(0, slash).c_str(), H5P_DEFAULT, group, H5P_DEFAULT),
          H5Gclose, "create a group");
  }
  const std::vector<hsize_t> dims(type.shape.begin(), type.shape.end());
  const H5Handle space =
      check(dims.empty() ? H5Screate(H5S_SCALAR)
                         : H5Screate_simple(int(dims.size()), dims.data(), nullptr),
            H5Sclose, "shape " + name);
  const H5Handle plist(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  H5Pset_obj_track_times(plist, false);
  H5Pset_layout(plist, H5D_CONTIGUOUS);
  H5Pset_alloc_time(plist, H5D_ALLOC_TIME_EARLY);
  H5Pset_fill_time(plist, H5D_FILL_TIME_NEVER);
  H5Handle set =
      check(H5Dcreate2(file, name.c_str(), of_type, space, H5P_DEFAULT, plist, H5P_DEFAULT),
            H5Dclose, "create dataset " + name);
  for (const auto& [label, text] :
       {std::pair<const char*, const std::string&>{"units", attributes.units},
        {"long_name", attributes.long_name}}) {
    if (text.empty()) continue;
    const H5Handle kind(H5Tcopy(H5T_C_S1), H5Tclose), one(H5Screate(H5S_SCALAR), H5Sclose);
    H5Tset_size(kind, text.size());
    H5Tset_cset(kind, H5T_CSET_UTF8);
    const H5Handle a = check(H5Acreate2(set, label, kind, one, H5P_DEFAULT, H5P_DEFAULT), H5Aclose,
                             std::string("create attribute ") + label);
    if (H5Awrite(a, kind, text.data()) < 0) check(-1, H5Aclose, "write an attribute");
  }
  const haddr_t offset = H5Dget_offset(set);
  if (type.shape.count() > 0 && offset == HADDR_UNDEF) check(-1, H5Dclose, "place " + name);
  if (const int failed = take_room(file)) {
    set.reset();
    H5Ldelete(file, name.c_str(), H5P_DEFAULT);  // what is left is short, and can be closed
    file.reset();
    std::error_code none;
    std::filesystem::remove(path, none);
    throw_io_error(path, "make room for the array", failed);
  }
  if (!set.close() || !file.close()) check(-1, H5Fclose, "finish the file");
  return offset == HADDR_UNDEF ? 0 : offset;
}

}  // namespace tessera::data
