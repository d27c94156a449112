// SPDX-License-Identifier: Apache-2.0
#include "tessera/data/windows.h"

#include "arrays/elements.h"
#include "arrays/npy.h"
#include "arrays/place_writer.h"
#include "arrays/raster_boxes.h"
#include "hdf5/hdf5_boxes.h"
#include "tessera/autodiff/error.h"
#include "tessera/autodiff/ops/shape.h"
#include "tessera/data/binary_file.h"
#include "tessera/data/diagnostic.h"
#include "tessera/data/file_io.h"
#include "tessera/data/text_reader.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>

namespace tessera::data {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse_boxes(const fs::path& path, int number, std::string message) {
  throw InputError(Diagnostic{
      .number = number, .place = {.file = path.string()}, .message = std::move(message)});
}

enum class Format { npy, h5 };
Format format_of(const fs::path& path) {
  const std::string ending = upper(path.extension().string());
  if (ending == ".NPY") return Format::npy;
  if (ending == ".H5" || ending == ".HDF5") return Format::h5;
  refuse_boxes(path, 430,
               "arrays are read by boxes from files that end in .npy, .h5, .hdf5, .tif or .tiff, "
               "and written "
               "to the first three");
}
fs::path partial(const fs::path& path) { return path.string() + ".partial"; }

void check_box(const fs::path& path, const Box& b, const Type& type) {
  bool ok = b.within(whole_box(type.shape));
  for (int d = 0; ok && d < b.begin.size(); ++d) ok = b.begin[d] <= b.end[d];
  if (!ok)
    throw Error("[boxes] " + path.string() + ": " + to_string(b) + " is no box of " +
                to_string(type));
}

/// Elements of a file that lie row-major from `offset` on.
struct Elements {
  std::uint64_t offset;
  Stored stored;
  Shape shape;
  bool big_endian = false;
};
/// f(byte in the file, bytes) for the runs of elements of a box, in their order.
template <class F>
void each_run(const Elements& e, const Box& b, const F& f) {
  if (b.empty()) return;
  const Shape n = b.extents(), step = row_major(e.shape);
  int inner = n.size();  // the axes from here on lie in one run
  Index run = 1;
  while (inner > 0) {
    --inner;
    run *= n[inner];
    if (n[inner] != e.shape[inner]) break;
  }
  const auto width = static_cast<std::uint64_t>(stored_bytes(e.stored));
  Shape at = b.begin;
  for (;;) {
    Index first = 0;
    for (int d = 0; d < n.size(); ++d) first += at[d] * step[d];
    f(e.offset + static_cast<std::uint64_t>(first) * width,
      static_cast<std::size_t>(static_cast<std::uint64_t>(run) * width));
    int d = inner;
    while (--d >= 0) {
      if (++at[d] < b.end[d]) break;
      at[d] = b.begin[d];
    }
    if (d < 0) return;
  }
}

Tensor read_box(const BinaryInput& file, const Elements& e, const Box& b) {
  std::vector<std::pair<std::uint64_t, std::size_t>> runs;
  each_run(e, b, [&](std::uint64_t at, std::size_t bytes) { runs.emplace_back(at, bytes); });
  std::size_t run = 0, done = 0;
  const auto next = [&](void* to, std::size_t n) {
    while (n > 0) {
      const std::size_t now = std::min(n, runs[run].second - done);
      if (!file.read(runs[run].first + done, to, now))
        refuse_boxes(file.name(), 401, "the file became shorter while it was read");
      to = static_cast<char*>(to) + now;
      n -= now, done += now;
      if (done == runs[run].second) ++run, done = 0;
    }
  };
  const auto refuse = [&](const std::string& why) { refuse_boxes(file.name(), 431, why); };
  const Shape n = b.extents();
  const std::vector<std::uint64_t> extents(n.begin(), n.end());
  return read_elements(e.stored, extents, {next, refuse}, {.big_endian = e.big_endian});
}

Shape reversed(const Shape& s) {
  Shape r = s;
  std::reverse(r.begin(), r.end());
  return r;
}
Tensor transposed(const Tensor& t) {
  Shape order;
  for (int d = t.ndim(); d-- > 0;) order.push_back(d);
  return contiguous(transpose(t, order));
}

Shape shape_in_memory(const fs::path& path, int number, const std::vector<std::uint64_t>& shape) {
  if (shape.size() > kMaxDims)
    refuse_boxes(path, number,
                 "has " + std::to_string(shape.size()) + " axes, and a tensor has at most " +
                     std::to_string(kMaxDims));
  Shape s;
  for (const std::uint64_t n : shape) s.push_back(static_cast<Index>(n));
  return s;
}

BoxSource npy_boxes(const fs::path& path) {
  const auto file = std::make_shared<const BinaryInput>(path);
  const NpyInput npy = npy_input(*file);
  const Shape shape = shape_in_memory(path, 431, npy.shape());
  const bool columns = npy.header().fortran_order;
  const Elements e{npy.header().data_offset, npy.stored(), columns ? reversed(shape) : shape,
                   npy.header().big_endian()};
  const Type type{widened(e.stored), shape};
  return {type, [=](const Box& b) {
            check_box(path, b, type);
            return columns ? transposed(read_box(*file, e, {reversed(b.begin), reversed(b.end)}))
                           : read_box(*file, e, b);
          }};
}

/// Of the alternatives of H5Array::Data.
Stored stored_of_kind(const fs::path& path, const std::string& name, std::uint8_t kind) {
  constexpr Stored kKinds[] = {Stored::f64, Stored::f32, Stored::i64, Stored::u8, Stored::c128};
  if (kind >= std::size(kKinds))
    refuse_boxes(path, 427, "dataset '" + name + "' holds texts, expected numbers");
  return kKinds[kind];
}
std::string dataset_of(const fs::path& path, const std::string& name) {
  if (!name.empty()) return name;
  std::vector<std::string> known;
  for (const H5Object& o : list_h5(path))
    if (o.kind == H5Object::Kind::dataset) known.push_back(o.path.substr(1));
  if (known.size() != 1) refuse_boxes(path, 440, "which array? The file has " + list_of(known));
  return known.front();
}
/// Where the elements of a dataset lie, if they do so in one piece within the file.
std::optional<Elements> elements_of(const fs::path& path, const std::string& name,
                                    const H5Place& place, const BinaryInput& file) {
  const bool none = std::ranges::find(place.shape, std::uint64_t{0}) != place.shape.end();
  if (!place.offset && !none) return std::nullopt;
  const Elements e{place.offset.value_or(0), stored_of_kind(path, name, place.kind),
                   shape_in_memory(path, 427, place.shape)};
  const std::uint64_t bytes = widened_bytes(e.stored, place.shape);
  if (e.offset > file.size() || bytes > file.size() - e.offset)
    refuse_boxes(path, 421, "dataset '" + name + "' ends behind the end of the file");
  return e;
}

BoxSource h5_boxes(const fs::path& path, const std::string& asked) {
  const std::string name = dataset_of(path, asked);
  const H5Place place = locate_h5(path, name);
  const auto file = std::make_shared<const BinaryInput>(path);
  const Type type{widened(stored_of_kind(path, name, place.kind)),
                  shape_in_memory(path, 427, place.shape)};
  if (const std::optional<Elements> e = elements_of(path, name, place, *file))
    return {type, [=, elements = *e](const Box& b) {
              check_box(path, b, type);
              return read_box(*file, elements, b);
            }};
  return {type, [=](const Box& b) {
            check_box(path, b, type);
            const Shape n = b.extents();
            if (b.empty()) return zeros(n, type.dtype);
            const H5Array a =
                read_h5_part(path, name, {{b.begin.begin(), b.begin.end()}, {n.begin(), n.end()}});
            return std::visit(
                [&](const auto& values) -> Tensor {
                  using T = typename std::decay_t<decltype(values)>::value_type;
                  if constexpr (std::is_same_v<T, std::string>)
                    refuse_boxes(path, 427, "dataset '" + name + "' holds texts");
                  else
                    return tensor(values, n);
                },
                a.data);
          }};
}

}  // namespace

BoxSource open_boxes(const fs::path& path, const std::string& name) {
  const std::string ending = upper(path.extension().string());
  if (ending == ".TIF" || ending == ".TIFF") {
    if (!name.empty())
      refuse_boxes(path, 440, "a TIFF image has no name, got the name '" + name + "'");
    return raster_boxes(path);
  }
  if (format_of(path) == Format::h5) return h5_boxes(path, name);
  if (!name.empty())
    refuse_boxes(path, 440,
                 "an .npy file has one array without a name, got the name '" + name + "'");
  return npy_boxes(path);
}

struct BoxFile::Impl {
  fs::path path;
  PlaceWriter file;
  Elements elements;
  Type type;
  explicit Impl(const fs::path& p) : path(p), file(p) {}
};

BoxFile::BoxFile(const fs::path& path, const std::string& name) {
  const BinaryInput file(partial(path));
  impl_ = std::make_unique<Impl>(partial(path));
  if (format_of(path) == Format::npy) {
    const NpyInput npy = npy_input(file);
    impl_->elements = {npy.header().data_offset, npy.stored(),
                       shape_in_memory(impl_->path, 431, npy.shape())};
  } else {
    const H5Place place = locate_h5(impl_->path, name);
    const auto e = elements_of(impl_->path, name, place, file);
    if (!e)
      refuse_boxes(impl_->path, 427,
                   "dataset '" + name + "' does not lie in one piece; create_boxes makes such");
    impl_->elements = *e;
  }
  impl_->type = {widened(impl_->elements.stored), impl_->elements.shape};
}
BoxFile::~BoxFile() = default;
const Type& BoxFile::type() const { return impl_->type; }

void BoxFile::write(const Box& b, const Tensor& values) {
  check_box(impl_->path, b, impl_->type);
  const Type expected{impl_->type.dtype, b.extents()};
  if (values.type() != expected)
    throw Error("[boxes] " + impl_->path.string() + ": box " + to_string(b) + " is " +
                to_string(expected) + ", got " + to_string(values.type()));
  const Tensor row_major = values_to_write("boxes", {impl_->path.string(), values});
  const std::byte* from = bytes_of(row_major).data();
  each_run(impl_->elements, b, [&](std::uint64_t at, std::size_t bytes) {
    impl_->file.write(at, from, bytes);
    from += bytes;
  });
}
void BoxFile::sync() { impl_->file.sync(); }

void create_boxes(const fs::path& path, const Type& type, const std::string& name,
                  const H5Attributes& attributes) {
  const fs::path file = partial(path);
  const Format format = format_of(path);
  const auto bytes = static_cast<std::uint64_t>(checked_bytes("create_boxes", type));
  std::uint64_t offset = 0;
  std::string head;
  if (format == Format::h5) {
    if (name.empty()) throw Error("[create_boxes] " + path.string() + ": a dataset needs a name");
    offset = create_h5_place(file, name, type, attributes);
  } else {
    head = npy_head(type);
    offset = head.size();
  }
  const int fd = ::open(
      file.c_str(), O_WRONLY | O_CLOEXEC | O_CREAT | (format == Format::npy ? O_TRUNC : 0), 0666);
  if (fd < 0) throw_io_error(file, "make", errno);
  const auto length = static_cast<off_t>(std::max<std::uint64_t>(offset + bytes, 1));
  int failed = 0;
  if (!head.empty() &&
      ::pwrite(fd, head.data(), head.size(), 0) != static_cast<ssize_t>(head.size()))
    failed = errno ? errno : ENOSPC;
  // Room for all of it now: who fills it should not find the disk full at the end.
  if (!failed && bytes > 0) failed = ::posix_fallocate(fd, 0, length);
  ::close(fd);
  if (failed) {
    ::unlink(file.c_str());
    throw_io_error(file, "make room for the array", failed);
  }
}

void commit_boxes(const fs::path& path) { commit_file(partial(path), path); }

}  // namespace tessera::data
