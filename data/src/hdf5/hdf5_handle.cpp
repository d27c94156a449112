// SPDX-License-Identifier: Apache-2.0
#include "hdf5/hdf5_handle.h"

#include "tessera/data/hdf5.h"

namespace tessera::data {

std::string h5_reason() {
  std::string out = "no reason given";
  H5Ewalk2(
      H5E_DEFAULT, H5E_WALK_UPWARD,
      [](unsigned n, const H5E_error2_t* e, void* data) -> herr_t {
        if (n == 0 && e->desc) *static_cast<std::string*>(data) = e->desc;
        return 0;
      },
      &out);
  return out;
}

void h5_quiet() {
  static const bool once = [] {
    // Of its work at the end of the process nothing is needed: every file is closed by its owner.
    // And a file that could not be closed, on a full disk, crashes there.
    H5dont_atexit();
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    H5PLset_loading_state(0);
    return true;
  }();
  (void)once;
}

H5Handle h5_complex_type(hid_t part) {
  const std::size_t size = H5Tget_size(part);
  H5Handle type(H5Tcreate(H5T_COMPOUND, 2 * size), H5Tclose);
  H5Tinsert(type, "r", 0, part);
  H5Tinsert(type, "i", size, part);
  return type;
}

std::string hdf5_version() {
  h5_quiet();
  unsigned major = 0, minor = 0, release = 0;
  H5get_libversion(&major, &minor, &release);
  return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(release);
}

}  // namespace tessera::data
