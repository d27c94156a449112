// SPDX-License-Identifier: Apache-2.0
#pragma once
#ifndef H5_USE_110_API
#define H5_USE_110_API
#endif
#include <hdf5.h>

#include <string>
#include <utility>

namespace tessera::data {

/// Pages of files that grow (H5Growth::rows): those of memory, or parts of them. Linux looks for a
/// kill between two pages of a write.
inline constexpr std::size_t kH5Page = 4096;

/// Owns an HDF5 identifier and closes it with the function that fits its kind.
class H5Handle {
 public:
  using Close = herr_t (*)(hid_t);
  H5Handle() = default;
  H5Handle(hid_t id, Close close) : id_(id), close_(close) {}
  H5Handle(H5Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  H5Handle& operator=(H5Handle&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(close_, other.close_);
    return *this;
  }
  ~H5Handle() { reset(); }
  void reset() {
    if (id_ >= 0) close_(id_);
    id_ = -1;
  }
  /// Closes and says whether that went well.
  bool close() { return close_(std::exchange(id_, -1)) >= 0; }
  bool valid() const { return id_ >= 0; }
  operator hid_t() const { return id_; }

 private:
  hid_t id_ = -1;
  Close close_ = nullptr;
};

/// Why the last call failed: the innermost entry of the library's error stack.
std::string h5_reason();

/// Once per process, before the first call of the library: no error printing, no plug-ins, nothing
/// at the end of the process.
void h5_quiet();

/// {r, i} of two float64, as h5py stores complex numbers.
H5Handle h5_complex_type(hid_t part);

}  // namespace tessera::data
