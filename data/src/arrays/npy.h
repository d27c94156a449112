// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "arrays/elements.h"
#include "arrays/zip.h"
#include "tessera/autodiff/npy_format.h"

#include <cstdint>
#include <functional>
#include <string>

namespace tessera::data {

/// An .npy file, or a member of an archive that is one, from its first byte to its last.
class NpyInput {
 public:
  NpyInput(std::string file, std::uint64_t size, std::function<void(void* to, std::size_t n)> next,
           std::function<void(std::uint64_t byte, const std::string& why)> refuse,
           NpyTypes types = NpyTypes::numbers);
  const NpyHeader& header() const { return header_; }
  std::vector<std::uint64_t> shape() const { return {header_.shape.begin(), header_.shape.end()}; }
  Stored stored() const;
  /// Of the tensor.
  std::uint64_t bytes() const;
  /// All that follows the header.
  Tensor values();

 private:
  std::function<void(void* to, std::size_t n)> next_;
  std::function<void(std::uint64_t byte, const std::string& why)> refuse_;
  std::string head_;  // the first bytes, which end somewhere in the data
  NpyHeader header_;
};

NpyInput npy_input(const BinaryInput& file, NpyTypes types = NpyTypes::numbers);
/// `stream` is that of the member, at its beginning.
NpyInput npy_input(const BinaryInput& file, const ZipMember& member, ZipStream& stream,
                   NpyTypes types = NpyTypes::numbers);

/// What NumPy writes before the elements of such a tensor.
std::string npy_head(const Type& type);

}  // namespace tessera::data
