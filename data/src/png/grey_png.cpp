// SPDX-License-Identifier: Apache-2.0
//
// libpng reports errors by a jump: between one of the two `setjmp` and what may jump to it there is
// nothing with a destructor.
#include "tessera/data/binary_file.h"
#include "tessera/data/diagnostic.h"
#include "tessera/data/png.h"

#include <png.h>

#include <csetjmp>
#include <cstdint>
#include <cstring>
#include <string>

namespace tessera::data {
namespace {

constexpr std::size_t kMostChunk = std::size_t{8} << 20;  ///< bytes of what is not pixels

struct Source {
  std::string bytes;
  std::size_t at = 0;
  char message[160] = "";
};

void take(png_structp png, png_bytep to, std::size_t n) {
  auto& source = *static_cast<Source*>(png_get_io_ptr(png));
  if (n > source.bytes.size() - source.at) png_error(png, "the file ends within the picture");
  std::memcpy(to, source.bytes.data() + source.at, n);
  source.at += n;
}

[[noreturn]] void fail(png_structp png, png_const_charp what) {
  auto& source = *static_cast<Source*>(png_get_error_ptr(png));
  std::strncpy(source.message, what, sizeof source.message - 1);
  png_longjmp(png, 1);
}

void ignore(png_structp, png_const_charp) {}

/// The two structures of libpng.
struct Reader {
  png_structp png;
  png_infop info;
  explicit Reader(Source& source)
      : png(png_create_read_struct(PNG_LIBPNG_VER_STRING, &source, fail, ignore)),
        info(png_create_info_struct(png)) {
    png_set_read_fn(png, &source, take);
    png_set_chunk_malloc_max(png, kMostChunk);
    png_set_user_limits(png, 0x7fffffff, 0x7fffffff);  // pixels are counted below
  }
  ~Reader() { png_destroy_read_struct(&png, &info, nullptr); }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  bool read_header() {
    if (setjmp(png_jmpbuf(png))) return false;
    png_read_info(png, info);
    return true;
  }
  /// To grey or RGB, with alpha where there is any, of 8 or 16 bits.
  bool begin() {
    if (setjmp(png_jmpbuf(png))) return false;
    png_set_expand(png);
    png_set_interlace_handling(png);
    png_read_update_info(png, info);
    return true;
  }
  bool read_rows(png_bytepp rows) {
    if (setjmp(png_jmpbuf(png))) return false;
    png_read_image(png, rows);
    png_read_end(png, nullptr);
    return true;
  }
};

}  // namespace

GreyPicture read_grey_png(const std::filesystem::path& path, const PngLimits& limits) {
  const auto refuse = [&](int number, std::size_t at, std::string what, std::string hint = {}) {
    throw InputError(Diagnostic{.number = number,
                                .place = {.file = path.string(), .byte = at},
                                .message = std::move(what),
                                .hint = std::move(hint)});
  };
  const BinaryInput file(path);
  if (file.size() > limits.most_bytes)
    refuse(403, 0, "larger than " + std::to_string(limits.most_bytes) + " bytes");
  Source source;
  source.bytes.resize(static_cast<std::size_t>(file.size()));
  if (!file.read(0, source.bytes.data(), source.bytes.size()))
    refuse(401, 0, "the file became shorter while it was read");
  Reader reader(source);
  const auto damaged = [&] { refuse(434, source.at, source.message, "write the picture anew"); };
  if (!reader.read_header()) damaged();
  GreyPicture out;
  out.columns = png_get_image_width(reader.png, reader.info);
  out.rows = png_get_image_height(reader.png, reader.info);
  if (out.rows > limits.most_pixels / out.columns)
    refuse(403, 0,
           "a picture of " + std::to_string(out.columns) + " x " + std::to_string(out.rows) +
               " pixels; at most " + std::to_string(limits.most_pixels) + " are read");
  if (!reader.begin()) damaged();
  const std::size_t channels = png_get_channels(reader.png, reader.info),
                    bytes = png_get_bit_depth(reader.png, reader.info) / 8u,
                    row_bytes = png_get_rowbytes(reader.png, reader.info);
  std::vector<png_byte> samples(row_bytes * out.rows);
  std::vector<png_bytep> rows(out.rows);
  for (std::size_t r = 0; r < out.rows; ++r) rows[r] = samples.data() + r * row_bytes;
  if (!reader.read_rows(rows.data())) damaged();

  const unsigned white = bytes == 2 ? 0xffff : 0xff;
  const bool colours = channels >= 3, alpha = channels % 2 == 0;
  out.values.reserve(out.rows * out.columns);
  for (std::size_t r = 0; r < out.rows; ++r)
    for (std::size_t c = 0; c < out.columns; ++c) {
      const png_byte* p = rows[r] + c * channels * bytes;
      const auto sample = [&](std::size_t k) {
        return bytes == 2 ? p[2 * k] * 256u + p[2 * k + 1] : unsigned{p[k]};
      };
      const auto at = [&] {
        return " at row " + std::to_string(r + 1) + ", column " + std::to_string(c + 1);
      };
      if (colours && (sample(0) != sample(1) || sample(0) != sample(2)))
        refuse(434, 0, "the picture has colours" + at(), "write it in grey");
      if (alpha && sample(channels - 1) != white)
        refuse(434, 0, "the picture is transparent" + at(), "write it without an alpha channel");
      out.values.push_back(static_cast<double>(sample(0)) / white);
    }
  return out;
}

}  // namespace tessera::data
