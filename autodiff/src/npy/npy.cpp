// SPDX-License-Identifier: Apache-2.0
#include "tessera/autodiff/npy.h"

#include "../core/tensor_internal.h"
#include "tessera/autodiff/npy_format.h"
#include "tessera/autodiff/ops.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>

namespace tessera {
namespace {

struct Code {
  Dtype dtype;
  const char* text;
};
constexpr Code kCodes[] = {{Dtype::boolean, "b1"}, {Dtype::u8, "u1"},  {Dtype::i32, "i4"},
                           {Dtype::i64, "i8"},     {Dtype::u32, "u4"}, {Dtype::f32, "f4"},
                           {Dtype::f64, "f8"},     {Dtype::c64, "c8"}, {Dtype::c128, "c16"}};

[[noreturn]] void refuse(const std::filesystem::path& path, const std::string& why) {
  throw Error("[npy] " + path.string() + ": " + why);
}

}  // namespace

Tensor load_npy(const std::filesystem::path& path) {
  std::error_code ec;
  if (!std::filesystem::is_regular_file(path, ec)) refuse(path, "is not a regular file");
  const std::uint64_t size = std::filesystem::file_size(path, ec);
  std::ifstream in(path, std::ios::binary);
  if (ec || !in) refuse(path, std::strerror(errno));
  std::vector<std::byte> head(std::min<std::uint64_t>(size, kNpyMaxHeader + 12));
  in.read(reinterpret_cast<char*>(head.data()), static_cast<std::streamsize>(head.size()));
  const NpyHeader h = parse_npy_header(head, size, path.string());
  const std::string kind = h.dtype.substr(1);
  for (const Code& c : kCodes) {
    if (kind != c.text) continue;
    if (h.shape.size() > kMaxDims)
      refuse(path, "has " + std::to_string(h.shape.size()) + " axes; a tensor has at most 8");
    Shape shape;
    for (std::size_t d : h.shape) shape.push_back(static_cast<Index>(d));
    // Column-major data are the row-major data of the reversed shape.
    Shape stored = shape, reversed;
    for (int d = 0; d < shape.size(); ++d) {
      if (h.fortran_order) stored[d] = shape[shape.size() - 1 - d];
      reversed.push_back(shape.size() - 1 - d);
    }
    Tensor t = empty({c.dtype, stored});
    const std::span<std::byte> data(static_cast<std::byte*>(t.view().data), h.data_size());
    in.clear();
    in.seekg(static_cast<std::streamoff>(h.data_offset));
    in.read(reinterpret_cast<char*>(data.data()), static_cast<std::streamsize>(data.size()));
    if (static_cast<std::size_t>(in.gcount()) != data.size())
      refuse(path, "ended while it was read");
    if (c.dtype == Dtype::boolean)
      for (std::byte& b : data) b = b == std::byte{0} ? std::byte{0} : std::byte{1};
    else
      swap_to_native(h, data);
    return h.fortran_order ? contiguous(transpose(t, reversed)) : t;
  }
  refuse(path, "holds " + h.dtype +
                   ", which has no Tensor type; convert it to one of b1 u1 i4 i8 u4 f4 f8 c8 c16");
}

void save_npy(const std::filesystem::path& path, const Tensor& tensor, SourceLine line) {
  const Tensor& known = detail::concrete("save_npy", tensor, line);
  const Tensor t = known.view().contiguous() ? known : detail::contiguous_copy(known.view());
  NpyHeader h;
  for (const Code& c : kCodes)
    if (c.dtype == t.dtype()) h.dtype = (size_of(c.dtype) == 1 ? "|" : "<") + std::string(c.text);
  for (Index d : t.shape()) h.shape.push_back(static_cast<std::size_t>(d));
  const std::string head = npy_header_bytes(h);
  const std::filesystem::path draft = path.string() + "." + std::to_string(::getpid()) + ".tmp";
  const auto give_up = [&](const std::string& why) {
    std::error_code ignored;
    std::filesystem::remove(draft, ignored);
    refuse(path, "could not be written: " + why);
  };
  {
    std::ofstream out(draft, std::ios::binary | std::ios::trunc);
    out.write(head.data(), static_cast<std::streamsize>(head.size()));
    out.write(static_cast<const char*>(t.view().data), static_cast<std::streamsize>(h.data_size()));
    out.flush();
    if (!out) give_up(std::strerror(errno));
  }
  std::error_code ec;
  std::filesystem::rename(draft, path, ec);
  if (ec) give_up(ec.message());
}

}  // namespace tessera
