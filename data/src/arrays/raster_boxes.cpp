// SPDX-License-Identifier: Apache-2.0
#include "arrays/raster_boxes.h"

#include "arrays/gdal_plugin.h"
#include "files/guarded_child.h"
#include "tessera/autodiff/error.h"
#include "tessera/autodiff/plugin.h"
#include "tessera/data/binary_file.h"
#include "tessera/data/diagnostic.h"

#include <cstring>

namespace tessera::data {
namespace {

constexpr std::uint64_t kRasterChild = std::uint64_t{1} << 30;  // GDAL's cache of blocks among it

void refuse_raster(const std::filesystem::path& path, const RasterFailure& failure) {
  if (failure.text[0])
    throw InputError(Diagnostic{.number = 444,
                                .place = {.file = path.string()},
                                .message = failure.text,
                                .hint = "write it anew: gdal_translate -of GTiff"});
}

}  // namespace

BoxSource raster_boxes(const std::filesystem::path& path) {
  { const BinaryInput is_a_file(path); }
  const auto describe = reinterpret_cast<DescribeRaster>(plugin_function("gdal", kDescribeRaster));
  const auto read = reinterpret_cast<ReadRaster>(plugin_function("gdal", kReadRaster));
  const std::string told = run_guarded(path, {.memory_bytes = kRasterChild}, [&] {
    Raster raster;
    RasterFailure failure;
    describe(path.c_str(), &raster, &failure);
    refuse_raster(path, failure);
    return std::string(reinterpret_cast<const char*>(&raster), sizeof raster);
  });
  Raster raster;
  if (told.size() != sizeof raster) throw Error("[boxes] " + path.string() + ": garbled answer");
  std::memcpy(&raster, told.data(), sizeof raster);
  const Type type{raster.type, {raster.bands, raster.rows, raster.columns}};
  return {
      type, [path, type, read](const Box& b) {
        bool ok = b.within(whole_box(type.shape));
        for (int d = 0; ok && d < 3; ++d) ok = b.begin[d] <= b.end[d];
        if (!ok)
          throw Error("[boxes] " + path.string() + ": " + to_string(b) + " is no box of " +
                      to_string(type));
        const Type wanted{type.dtype, b.extents()};
        const Tensor out = empty(wanted);
        if (b.empty()) return out;
        const auto bytes = static_cast<std::size_t>(checked_bytes("boxes", wanted));
        const std::string got = run_guarded(path, {.memory_bytes = kRasterChild + 3 * bytes}, [&] {
          std::string elements(bytes, '\0');
          RasterFailure failure;
          const Shape n = b.extents();
          read(path.c_str(), b.begin.begin(), n.begin(), type.dtype, elements.data(), &failure);
          refuse_raster(path, failure);
          return elements;
        });
        if (got.size() != bytes) throw Error("[boxes] " + path.string() + ": garbled answer");
        std::memcpy(out.view().data, got.data(), bytes);
        return out;
      }};
}

}  // namespace tessera::data
