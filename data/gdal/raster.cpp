// SPDX-License-Identifier: Apache-2.0
// The plug-in that GDAL lives in: nothing else of ours sees a header of GDAL. It runs in guarded
// children alone.
#include "arrays/gdal_plugin.h"

#include <cpl_conv.h>
#include <cpl_error.h>
#include <cpl_string.h>
#include <gdal.h>
#include <gdal_frmts.h>

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::data {
namespace {

void fail_raster(RasterFailure* failure, const std::string& why) {
  const std::string said = CPLGetLastErrorMsg();
  const std::string text = said.empty() ? why : why + ": " + said;
  std::strncpy(failure->text, text.c_str(), sizeof failure->text - 1);
}

/// Before version 3.7 GDAL tells the sign of bytes beside their type, and converts them without it.
bool has_signed_bytes(GDALRasterBandH band) {
  if (GDALGetRasterDataType(band) != GDT_Byte) return false;
  const char* kind = GDALGetMetadataItem(band, "PIXELTYPE", "IMAGE_STRUCTURE");
  return kind && std::string_view(kind) == "SIGNEDBYTE";
}

/// Types that a tensor has, and those that one of them holds.
bool type_of_band(GDALRasterBandH band, Dtype& type, GDALDataType& in_memory) {
  const GDALDataType stored = GDALGetRasterDataType(band);
  if (has_signed_bytes(band) || std::string_view(GDALGetDataTypeName(stored)) == "Int8") {
    type = Dtype::i32, in_memory = GDT_Int32;
    return true;
  }
  switch (stored) {
    case GDT_Byte:
      type = Dtype::u8, in_memory = GDT_Byte;
      return true;
    case GDT_UInt16:
    case GDT_Int16:
    case GDT_Int32:
      type = Dtype::i32, in_memory = GDT_Int32;
      return true;
    case GDT_UInt32:
      type = Dtype::u32, in_memory = GDT_UInt32;
      return true;
    case GDT_Float32:
      type = Dtype::f32, in_memory = GDT_Float32;
      return true;
    case GDT_Float64:
      type = Dtype::f64, in_memory = GDT_Float64;
      return true;
    case GDT_CFloat32:
      type = Dtype::c64, in_memory = GDT_CFloat32;
      return true;
    case GDT_CFloat64:
      type = Dtype::c128, in_memory = GDT_CFloat64;
      return true;
    default:
      return false;
  }
}

/// The file by GDAL's reader of TIFF alone, without the files that may lie beside it.
struct OpenRaster {
  GDALDatasetH set = nullptr;
  OpenRaster(const char* path, RasterFailure* failure) {
    CPLSetErrorHandler(CPLQuietErrorHandler);
    CPLSetConfigOption("GDAL_DISABLE_READDIR_ON_OPEN", "EMPTY_DIR");
    CPLSetConfigOption("GDAL_PAM_ENABLED", "NO");
    CPLErrorReset();
    GDALRegister_GTiff();
    const char* const drivers[] = {"GTiff", nullptr};
    const char* const siblings[] = {nullptr};
    set = GDALOpenEx(path, GDAL_OF_RASTER | GDAL_OF_READONLY, drivers, nullptr, siblings);
    if (!set) fail_raster(failure, "no TIFF image that is read");
  }
  ~OpenRaster() {
    if (set) GDALClose(set);
  }
  OpenRaster(const OpenRaster&) = delete;
};

void describe(const char* path, Raster* raster, RasterFailure* failure) {
  const OpenRaster file(path, failure);
  if (!file.set) return;
  raster->bands = GDALGetRasterCount(file.set);
  raster->rows = GDALGetRasterYSize(file.set);
  raster->columns = GDALGetRasterXSize(file.set);
  if (raster->bands < 1) return fail_raster(failure, "holds no band");
  // A name and a description of each image where there are several; overviews and masks are none.
  const int images = CSLCount(GDALGetMetadata(file.set, "SUBDATASETS")) / 2;
  if (images > 1)
    return fail_raster(failure, "holds " + std::to_string(images) + " images, expected one");
  const GDALRasterBandH first = GDALGetRasterBand(file.set, 1);
  for (int k = 2; k <= raster->bands; ++k) {
    const GDALRasterBandH band = GDALGetRasterBand(file.set, k);
    if (GDALGetRasterDataType(band) != GDALGetRasterDataType(first) ||
        has_signed_bytes(band) != has_signed_bytes(first))
      return fail_raster(failure, "its bands have several types");
  }
  GDALDataType in_memory;
  if (!type_of_band(first, raster->type, in_memory))
    fail_raster(failure, std::string("elements of type ") +
                             GDALGetDataTypeName(GDALGetRasterDataType(first)));
}

void read(const char* path, const std::int64_t* begin, const std::int64_t* extents, Dtype type,
          void* to, RasterFailure* failure) {
  const OpenRaster file(path, failure);
  if (!file.set) return;
  auto* at = static_cast<char*>(to);
  const int rows = static_cast<int>(extents[1]), columns = static_cast<int>(extents[2]);
  for (std::int64_t band = begin[0]; band < begin[0] + extents[0]; ++band) {
    const GDALRasterBandH b = GDALGetRasterBand(file.set, static_cast<int>(band) + 1);
    Dtype found;
    GDALDataType in_memory;
    if (!b || !type_of_band(b, found, in_memory) || found != type)
      return fail_raster(failure, "is another image than when it was opened");
    if (GDALRasterIO(b, GF_Read, static_cast<int>(begin[2]), static_cast<int>(begin[1]), columns,
                     rows, at, columns, rows, in_memory, 0, 0) != CE_None)
      return fail_raster(failure, "cannot be read");
    if (has_signed_bytes(b)) {
      std::vector<std::int32_t> v(static_cast<std::size_t>(extents[1] * extents[2]));
      std::memcpy(v.data(), at, v.size() * sizeof(std::int32_t));
      for (std::int32_t& x : v) x = x > 127 ? x - 256 : x;
      std::memcpy(at, v.data(), v.size() * sizeof(std::int32_t));
    }
    at += extents[1] * extents[2] * (GDALGetDataTypeSizeBytes(in_memory));
  }
}

}  // namespace
}  // namespace tessera::data

extern "C" {
__attribute__((visibility("default"))) void tessera_describe_raster_1(
    const char* path, tessera::data::Raster* raster, tessera::data::RasterFailure* failure) {
  tessera::data::describe(path, raster, failure);
}
__attribute__((visibility("default"))) void tessera_read_raster_1(
    const char* path, const std::int64_t* begin, const std::int64_t* extents, tessera::Dtype type,
    void* to, tessera::data::RasterFailure* failure) {
  tessera::data::read(path, begin, extents, type, to, failure);
}
}
