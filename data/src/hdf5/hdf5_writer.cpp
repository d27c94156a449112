// SPDX-License-Identifier: Apache-2.0
// The library builds the file in memory and we put its bytes on the disk: left to itself it drops
// write errors that come late (a full disk while a chunk leaves its cache), and a file with holes
// would be taken for a good one.

#include "hdf5/hdf5_handle.h"
#include "tessera/autodiff/error.h"
#include "tessera/data/file_io.h"
#include "tessera/data/hdf5.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace tessera::data {
namespace {

constexpr std::uint64_t kChunkedFrom = 64 << 10, kChunkBytes = 1 << 20;

struct Types {
  H5Handle owner;  // of a compound type; empty for the library's own
  hid_t file, memory;
};

template <class T>
Types types_of();
template <>
Types types_of<double>() {
  return {{}, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE};
}
template <>
Types types_of<float>() {
  return {{}, H5T_IEEE_F32LE, H5T_NATIVE_FLOAT};
}
template <>
Types types_of<std::int64_t>() {
  return {{}, H5T_STD_I64LE, H5T_NATIVE_INT64};
}
template <>
Types types_of<std::uint8_t>() {
  return {{}, H5T_STD_U8LE, H5T_NATIVE_UINT8};
}
template <>
Types types_of<std::complex<double>>() {
  Types t{h5_complex_type(H5T_IEEE_F64LE), -1, -1};
  t.file = t.memory = t.owner;  // the same bytes on the little-endian machines we run on
  return t;
}

/// Fixed length, padded with zeros; ASCII where it suffices (VTK compares the character set of its
/// Type attribute).
H5Handle text_type(std::span<const std::string> texts) {
  std::size_t longest = 1;
  bool ascii = true;
  for (const std::string& t : texts) {
    longest = std::max(longest, t.size());
    ascii &= std::all_of(t.begin(), t.end(),
                         [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  }
  H5Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(type, longest);
  H5Tset_strpad(type, H5T_STR_NULLPAD);
  H5Tset_cset(type, ascii ? H5T_CSET_ASCII : H5T_CSET_UTF8);
  return type;
}

std::string padded(std::span<const std::string> texts, std::size_t width) {
  std::string out(texts.size() * width, '\0');
  for (std::size_t i = 0; i < texts.size(); ++i) texts[i].copy(out.data() + i * width, width);
  return out;
}

/// The bytes of the file, handed to the library as its memory; they outlive H5Fclose, which
/// completes them. (Its own H5Fget_file_image leaves a wrong checksum in the superblock of the
/// newest format.)
struct Image {
  char* bytes = nullptr;
  std::size_t size = 0, capacity = 0;
  ~Image() { std::free(bytes); }

  static void* resize(void*, std::size_t size, H5FD_file_image_op_t, void* self) {
    auto& image = *static_cast<Image*>(self);
    if (size > image.capacity) {
      const std::size_t capacity = std::max(size, image.capacity * 3 / 2);
      void* grown = std::realloc(image.bytes, capacity);
      if (!grown) return nullptr;
      image.bytes = static_cast<char*>(grown);
      image.capacity = capacity;
    }
    image.size = size;
    return image.bytes;
  }
  /// The library's access list for a file in this memory.
  void use(hid_t access) {
    H5FD_file_image_callbacks_t c{};
    c.image_malloc = [](std::size_t size, H5FD_file_image_op_t op, void* self) {
      return resize(nullptr, size, op, self);
    };
    c.image_memcpy = [](void* to, const void* from, std::size_t n, H5FD_file_image_op_t, void*) {
      return std::memcpy(to, from, n);
    };
    c.image_realloc = resize;
    c.image_free = [](void*, H5FD_file_image_op_t, void*) -> herr_t { return 0; };
    c.udata_copy = [](void* self) { return self; };
    c.udata_free = [](void*) -> herr_t { return 0; };
    c.udata = this;
    H5Pset_fapl_core(access, 1, false);  // grows by what is needed; `resize` keeps that cheap
    H5Pset_file_image_callbacks(access, &c);
  }
};

}  // namespace

struct H5Writer::Impl {
  Impl(const std::filesystem::path& p, H5Growth g) : path(p), growth(g), out(p) {}
  std::filesystem::path path;
  H5Growth growth;
  AtomicFile out;
  Image image;
  H5Handle file;

  [[noreturn]] void fail(const std::string& what) const {
    throw Error("[hdf5] " + path.string() + ": cannot " + what + ": " + h5_reason());
  }
  H5Handle check(hid_t id, H5Handle::Close close, const std::string& what) const {
    if (id < 0) fail(what);
    return {id, close};
  }

  /// Makes the groups above `name` that are not there yet. (The library's own way gives them time
  /// stamps.)
  void make_parents(const std::string& name) const {
    for (std::size_t slash = name.find('/', 1); slash != std::string::npos;
         slash = name.find('/', slash + 1))
      make_group(name.substr(0, slash));
  }
  void make_group(const std::string& name) const {
    if (name.empty() || name == "/" || H5Lexists(file, name.c_str(), H5P_DEFAULT) > 0) return;
    const H5Handle plist(H5Pcreate(H5P_GROUP_CREATE), H5Pclose);
    H5Pset_obj_track_times(plist, false);
    check(H5Gcreate2(file, name.c_str(), H5P_DEFAULT, plist, H5P_DEFAULT), H5Gclose,
          "create group " + name);
  }

  void put_attribute(hid_t object, const std::string& name, hid_t file_type, hid_t memory_type,
                     hid_t space, const void* data) const {
    const H5Handle a =
        check(H5Acreate2(object, name.c_str(), file_type, space, H5P_DEFAULT, H5P_DEFAULT),
              H5Aclose, "create attribute " + name);
    if (H5Awrite(a, memory_type, data) < 0) fail("write attribute " + name);
  }
  void put_text(hid_t object, const std::string& name, std::string_view text) const {
    const std::string copy(text);
    const H5Handle type = text_type({&copy, 1}), space(H5Screate(H5S_SCALAR), H5Sclose);
    const std::string bytes = padded({&copy, 1}, H5Tget_size(type));
    put_attribute(object, name, type, type, space, bytes.data());
  }
  template <class T>
  void put_numbers(const std::string& object, const std::string& name,
                   std::span<const T> values) const {
    const std::string at = object.empty() ? "/" : object;
    const H5Handle o = check(H5Oopen(file, at.c_str(), H5P_DEFAULT), H5Oclose, "open " + at);
    const hsize_t n = values.size();
    const H5Handle space(n == 1 ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, &n, nullptr),
                         H5Sclose);
    const Types t = types_of<T>();
    put_attribute(o, name, t.file, t.memory, space, values.data());
  }

  void write(const std::string& name, hid_t file_type, hid_t memory_type, const void* data,
             std::size_t n, std::vector<std::uint64_t> shape, const H5Attributes& attributes,
             H5Storage storage) const {
    std::uint64_t product = 1;
    for (std::uint64_t extent : shape)
      if (__builtin_mul_overflow(product, extent, &product)) product = UINT64_MAX;
    if (product != n || shape.size() > H5S_MAX_RANK)
      throw Error("[hdf5] " + name + ": the shape does not fit " + std::to_string(n) + " elements");
    make_parents(name);
    const std::vector<hsize_t> dims(shape.begin(), shape.end());
    const H5Handle space = check(H5Screate_simple(int(dims.size()), dims.data(), nullptr), H5Sclose,
                                 "shape of " + name);
    const H5Handle plist(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    H5Pset_obj_track_times(plist, false);
    const std::uint64_t size = H5Tget_size(file_type);
    if (n * size >= kChunkedFrom || (storage.checksum && n > 0)) {
      const std::vector<hsize_t> chunk = chunk_shape(dims, size);
      H5Pset_chunk(plist, int(chunk.size()), chunk.data());
      if (n * size >= kChunkedFrom) {
        H5Pset_shuffle(plist);
        H5Pset_deflate(plist, 1);
      }
      if (storage.checksum) H5Pset_fletcher32(plist);
    }
    H5Handle set =
        check(H5Dcreate2(file, name.c_str(), file_type, space, H5P_DEFAULT, plist, H5P_DEFAULT),
              H5Dclose, "create dataset " + name);
    if (n > 0 && H5Dwrite(set, memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) < 0)
      fail("write " + name);
    if (!attributes.units.empty()) put_text(set, "units", attributes.units);
    if (!attributes.long_name.empty()) put_text(set, "long_name", attributes.long_name);
    if (!set.close()) fail("finish " + name);
  }

  void series(const std::string& name, hid_t type, const std::vector<std::uint64_t>& row,
              const H5Attributes& attributes) const {
    if (growth != H5Growth::rows)
      throw Error("[hdf5] series " + name + ": the file was not made for rows (H5Growth::rows)");
    constexpr hsize_t chunk_bytes = 1 << 16, most_rows = 1024;
    make_parents(name);
    std::vector<hsize_t> dims = {0}, most = {H5S_UNLIMITED}, chunk = {0};
    hsize_t bytes = H5Tget_size(type);
    for (std::uint64_t n : row)
      dims.push_back(n), most.push_back(n), chunk.push_back(n), bytes *= n;
    chunk[0] = std::clamp<hsize_t>(chunk_bytes / std::max<hsize_t>(1, bytes), 1, most_rows);
    const H5Handle space = check(H5Screate_simple(int(dims.size()), dims.data(), most.data()),
                                 H5Sclose, "shape of " + name);
    const H5Handle plist(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    H5Pset_obj_track_times(plist, false);
    H5Pset_chunk(plist, int(chunk.size()), chunk.data());
    const H5Handle set =
        check(H5Dcreate2(file, name.c_str(), type, space, H5P_DEFAULT, plist, H5P_DEFAULT),
              H5Dclose, "create series " + name);
    if (!attributes.units.empty()) put_text(set, "units", attributes.units);
    if (!attributes.long_name.empty()) put_text(set, "long_name", attributes.long_name);
  }

  /// Halves the leading extents until a chunk is about 1 MiB, so that chunks are runs of whole
  /// rows.
  static std::vector<hsize_t> chunk_shape(std::vector<hsize_t> chunk, std::uint64_t size) {
    const auto bytes = [&] {
      std::uint64_t b = size;
      for (hsize_t c : chunk) b *= c;
      return b;
    };
    for (std::size_t d = 0; d < chunk.size() && bytes() > kChunkBytes;)
      if (chunk[d] > 1)
        chunk[d] = (chunk[d] + 1) / 2;
      else
        ++d;
    return chunk;
  }
};

H5Writer::H5Writer(std::filesystem::path path, H5Growth growth) {
  h5_quiet();
  impl_ = std::make_unique<Impl>(path, growth);
  const H5Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose),
      create(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
  H5Pset_libver_bounds(access, H5F_LIBVER_V110, H5F_LIBVER_V110);
  impl_->image.use(access);
  H5Pset_obj_track_times(create, false);
  if (growth == H5Growth::rows) {
    H5Pset_file_space_strategy(create, H5F_FSPACE_STRATEGY_PAGE, false, 1);
    H5Pset_file_space_page_size(create, kH5Page);
  }
  // A name that no file has: the library would first look into an older file of that name.
  const std::string name = impl_->path.string() + ".in-memory";
  impl_->file =
      impl_->check(H5Fcreate(name.c_str(), H5F_ACC_TRUNC, create, access), H5Fclose, "create");
}

H5Writer::~H5Writer() = default;

void H5Writer::group(const std::string& name) {
  impl_->make_parents(name);
  impl_->make_group(name);
}

template <class T>
void H5Writer::write(const std::string& name, std::span<const T> values,
                     const std::vector<std::uint64_t>& shape, const H5Attributes& attributes,
                     H5Storage storage) {
  const Types t = types_of<T>();
  impl_->write(name, t.file, t.memory, values.data(), values.size(),
               shape.empty() ? std::vector<std::uint64_t>{values.size()} : shape, attributes,
               storage);
}
template void H5Writer::write(const std::string&, std::span<const double>,
                              const std::vector<std::uint64_t>&, const H5Attributes&, H5Storage);
template void H5Writer::write(const std::string&, std::span<const float>,
                              const std::vector<std::uint64_t>&, const H5Attributes&, H5Storage);
template void H5Writer::write(const std::string&, std::span<const std::int64_t>,
                              const std::vector<std::uint64_t>&, const H5Attributes&, H5Storage);
template void H5Writer::write(const std::string&, std::span<const std::uint8_t>,
                              const std::vector<std::uint64_t>&, const H5Attributes&, H5Storage);
template void H5Writer::write(const std::string&, std::span<const std::complex<double>>,
                              const std::vector<std::uint64_t>&, const H5Attributes&, H5Storage);

template <class T>
void H5Writer::series(const std::string& name, const std::vector<std::uint64_t>& row,
                      const H5Attributes& attributes) {
  const Types t = types_of<T>();
  impl_->series(name, t.file, row, attributes);
}
template void H5Writer::series<double>(const std::string&, const std::vector<std::uint64_t>&,
                                       const H5Attributes&);
template void H5Writer::series<float>(const std::string&, const std::vector<std::uint64_t>&,
                                      const H5Attributes&);
template void H5Writer::series<std::int64_t>(const std::string&, const std::vector<std::uint64_t>&,
                                             const H5Attributes&);

void H5Writer::hard_link(const std::string& name, const std::string& object) {
  impl_->make_parents(name);
  if (H5Lcreate_hard(impl_->file, object.c_str(), impl_->file, name.c_str(), H5P_DEFAULT,
                     H5P_DEFAULT) < 0)
    impl_->fail("link " + name);
}

void H5Writer::write_texts(const std::string& name, std::span<const std::string> texts,
                           const H5Attributes& attributes) {
  const H5Handle type = text_type(texts);
  const std::string bytes = padded(texts, H5Tget_size(type));
  impl_->write(name, type, type, bytes.data(), texts.size(), {texts.size()}, attributes, {});
}

void H5Writer::attribute(const std::string& object, const std::string& name,
                         std::string_view text) {
  const std::string at = object.empty() ? "/" : object;
  impl_->put_text(
      impl_->check(H5Oopen(impl_->file, at.c_str(), H5P_DEFAULT), H5Oclose, "open " + at), name,
      text);
}
void H5Writer::attribute(const std::string& object, const std::string& name,
                         std::span<const std::string> texts) {
  const std::string at = object.empty() ? "/" : object;
  const H5Handle o =
      impl_->check(H5Oopen(impl_->file, at.c_str(), H5P_DEFAULT), H5Oclose, "open " + at);
  const hsize_t n = texts.size();
  const H5Handle type = text_type(texts), space(H5Screate_simple(1, &n, nullptr), H5Sclose);
  impl_->put_attribute(o, name, type, type, space, padded(texts, H5Tget_size(type)).data());
}
void H5Writer::free_text(const std::string& object, const std::string& name,
                         const std::string& text) {
  const H5Handle o =
      impl_->check(H5Oopen(impl_->file, object.c_str(), H5P_DEFAULT), H5Oclose, "open " + object);
  const H5Handle type(H5Tcopy(H5T_C_S1), H5Tclose), space(H5Screate(H5S_SCALAR), H5Sclose);
  H5Tset_size(type, H5T_VARIABLE);
  H5Tset_cset(type, H5T_CSET_UTF8);
  const char* bytes = text.c_str();
  impl_->put_attribute(o, name, type, type, space, &bytes);
}
void H5Writer::attribute(const std::string& object, const std::string& name,
                         std::span<const double> values) {
  impl_->put_numbers(object, name, values);
}
void H5Writer::attribute(const std::string& object, const std::string& name,
                         std::span<const std::int64_t> values) {
  impl_->put_numbers(object, name, values);
}

void H5Writer::commit() {
  if (H5Fflush(impl_->file, H5F_SCOPE_GLOBAL) < 0) impl_->fail("finish");
  if (!impl_->file.close()) impl_->fail("close");
  impl_->out.write(impl_->image.bytes, impl_->image.size);
  impl_->out.commit();
}

}  // namespace tessera::data
