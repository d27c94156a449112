// SPDX-License-Identifier: Apache-2.0
#include "hdf5/hdf5_checked.h"

#include "hdf5/hdf5_handle.h"
#include "tessera/data/csv.h"
#include "tessera/data/diagnostic.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <set>

namespace tessera::data {
namespace {

constexpr std::size_t kMaxObjects = 100000, kMaxDepth = 32, kMaxAttributes = 1000;
constexpr std::uint64_t kMaxAttributeBytes = 64 << 10;
constexpr std::size_t kShown = 200;  // characters of an attribute
// Deflate shrinks by 1032 at most; a dataset that claims more for what it stores was never written
// or lies.
constexpr std::uint64_t kMaxRatio = 1100, kRatioFreeBytes = 1 << 20;

struct CheckedReader {
  std::string name;  // of the file
  std::uint64_t budget;
  H5Handle file;
  std::vector<H5Object> objects;
  std::set<haddr_t> seen;
  std::vector<haddr_t> above;  // groups on the way down

  [[noreturn]] void refuse(int number, const std::string& object, const std::string& message,
                           std::string hint = "") const {
    throw InputError(Diagnostic{.number = number,
                                .place = {name},
                                .message = (object.empty() ? "" : object + ": ") + message,
                                .hint = std::move(hint)});
  }
  [[noreturn]] void damaged(const std::string& object, const std::string& what) const {
    refuse(421, object, "cannot " + what + ": " + h5_reason(), "the file is damaged or truncated");
  }
  H5Handle check(hid_t id, H5Handle::Close close, const std::string& object,
                 const std::string& what) const {
    if (id < 0) damaged(object, what);
    return {id, close};
  }

  void open(const H5Source& source, const H5Limits& limits) {
    h5_quiet();
    name = source.name;
    budget = limits.max_bytes;
    const H5Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
    H5Pset_file_locking(access, false, true);
    // Beside a writer what does not fit together is read again, after a pause of 1, 2, 4 ... ns: up
    // to 1 ms in all. The library's own hundred times would never end on a damaged file.
    constexpr unsigned attempts = 20;
    if (limits.being_written) H5Pset_metadata_read_attempts(access, attempts);
    file = check(H5Fopen(source.opened.c_str(),
                         H5F_ACC_RDONLY | (limits.being_written ? H5F_ACC_SWMR_READ : 0), access),
                 H5Fclose, "", "open");
  }

  // --- links ---

  struct Link {
    std::string name;
    H5L_type_t type;
  };
  std::vector<Link> links_of(hid_t group, const std::string& path) const {
    std::vector<Link> out;
    const auto add = [](hid_t, const char* link, const H5L_info_t* info, void* data) -> herr_t {
      auto& list = *static_cast<std::vector<Link>*>(data);
      list.push_back({link, info->type});
      return list.size() > kMaxObjects;
    };
    const herr_t done = H5Literate(group, H5_INDEX_NAME, H5_ITER_INC, nullptr, add, &out);
    if (done < 0) damaged(path, "list group");
    if (done > 0) refuse(425, path, "has more than " + std::to_string(kMaxObjects) + " links");
    return out;
  }

  /// Follows hard links only, component by component; returns whether the whole path exists that
  /// way.
  bool exists_by_hard_links(const std::string& path) const {
    std::string so_far;
    for (std::size_t at = 0; at < path.size();) {
      const std::size_t slash = std::min(path.find('/', at), path.size());
      const std::string part = path.substr(at, slash - at);
      at = slash + 1;
      if (part.empty() || part == ".") continue;
      if (!so_far.empty() && kind_of(so_far) != H5O_TYPE_GROUP) return false;
      so_far += "/" + part;
      H5L_info_t link;
      if (H5Lexists(file, so_far.c_str(), H5P_DEFAULT) <= 0 ||
          H5Lget_info(file, so_far.c_str(), &link, H5P_DEFAULT) < 0 || link.type != H5L_TYPE_HARD)
        return false;
    }
    return true;
  }
  H5O_type_t kind_of(const std::string& path) const {
    H5O_info_t info;
    if (H5Oget_info_by_name2(file, path.c_str(), &info, H5O_INFO_BASIC, H5P_DEFAULT) < 0)
      damaged(path, "look at object");
    return info.type;
  }

  void visit_soft_link(const std::string& path) {
    H5L_info_t info;
    if (H5Lget_info(file, path.c_str(), &info, H5P_DEFAULT) < 0 ||
        info.u.val_size > kMaxAttributeBytes)
      damaged(path, "read soft link");
    std::string target(info.u.val_size, '\0');
    if (!target.empty() &&
        H5Lget_val(file, path.c_str(), target.data(), target.size(), H5P_DEFAULT) < 0)
      damaged(path, "read soft link");
    target = target.c_str();
    const std::string absolute =
        target.starts_with("/") ? target : path.substr(0, path.rfind('/') + 1) + target;
    if (target.empty() || !exists_by_hard_links(absolute))
      refuse(423, path, "soft link to '" + target + "', which is not an object of this file");
    objects.push_back({.path = path, .kind = H5Object::Kind::soft_link, .type = target});
  }

  // --- objects ---

  void visit_group(hid_t group, const std::string& path) {
    for (const Link& link : links_of(group, path)) {
      const std::string child = (path == "/" ? "" : path) + "/" + link.name;
      if (objects.size() >= kMaxObjects)
        refuse(425, child, "more than " + std::to_string(kMaxObjects) + " objects");
      if (link.type == H5L_TYPE_SOFT)
        visit_soft_link(child);
      else if (link.type == H5L_TYPE_HARD)
        visit_object(child);
      else
        refuse(423, child,
               "external or user-defined link; they lead out of the file and are never followed");
    }
  }

  void visit_object(const std::string& path) {
    H5O_info_t info;
    if (H5Oget_info_by_name2(file, path.c_str(), &info, H5O_INFO_BASIC, H5P_DEFAULT) < 0)
      damaged(path, "look at object");
    if (std::find(above.begin(), above.end(), info.addr) != above.end())
      refuse(425, path, "loop: the group contains itself");
    if (!seen.insert(info.addr).second) {
      objects.push_back({.path = path, .kind = H5Object::Kind::repeated});
      return;
    }
    if (above.size() >= kMaxDepth)
      refuse(425, path, "groups nested deeper than " + std::to_string(kMaxDepth));
    H5Object object{.path = path};
    if (info.type == H5O_TYPE_NAMED_DATATYPE) {
      object.kind = H5Object::Kind::named_type;
      objects.push_back(std::move(object));
      return;
    }
    const H5Handle id =
        check(H5Oopen(file, path.c_str(), H5P_DEFAULT), H5Oclose, path, "open object");
    object.attributes = attributes_of(id, path);
    if (info.type == H5O_TYPE_DATASET) {
      const Extent e = examine(id, path, Asked::listed);
      object.kind = H5Object::Kind::dataset;
      object.type = type_name(e.type);
      object.shape = e.shape;
      object.stored_bytes = e.stored;
      objects.push_back(std::move(object));
    } else if (info.type == H5O_TYPE_GROUP) {
      objects.push_back(std::move(object));
      above.push_back(info.addr);
      visit_group(id, path);
      above.pop_back();
    } else {
      damaged(path, "tell what object it is");
    }
  }

  struct Extent {
    H5Handle type;
    std::vector<std::uint64_t> shape;
    std::uint64_t n = 0, bytes = 0, stored = 0;
    bool null = false;             // its dataspace is: it has a type and no element
    haddr_t offset = HADDR_UNDEF;  // of elements that lie as they do in memory, one after the other
    H5Handle file_space, memory_space;  // of a part; empty: all of it
    hid_t file() const { return file_space.valid() ? file_space : hid_t{H5S_ALL}; }
    hid_t memory() const { return memory_space.valid() ? memory_space : hid_t{H5S_ALL}; }
  };
  /// What is to be read of a dataset: the limit is that of what is in memory at once.
  enum class Asked { listed, part, whole };
  /// Everything that can be known of a dataset without reading it, and the reasons not to.
  Extent examine(hid_t set, const std::string& path, Asked asked) const {
    Extent e;
    e.type = check(H5Dget_type(set), H5Tclose, path, "read type");
    const H5Handle space = check(H5Dget_space(set), H5Sclose, path, "read shape");
    const H5Handle plist = check(H5Dget_create_plist(set), H5Pclose, path, "read layout");
    if (H5Pget_external_count(plist) != 0)
      refuse(423, path, "its data lie in another file, which is never opened");
    const H5D_layout_t layout = H5Pget_layout(plist);
    if (layout == H5D_VIRTUAL)
      refuse(423, path, "virtual dataset: its data lie in other files, which are never opened");
    if (layout < 0) damaged(path, "read layout");
    const int n_filters = H5Pget_nfilters(plist);
    for (int i = 0; i < n_filters; ++i) {
      unsigned flags = 0, config = 0;
      std::size_t n_values = 0;
      const H5Z_filter_t filter =
          H5Pget_filter2(plist, unsigned(i), &flags, &n_values, nullptr, 0, nullptr, &config);
      if (filter < 0 || filter >= H5Z_FILTER_RESERVED || H5Zfilter_avail(filter) <= 0)
        refuse(424, path, "filter " + std::to_string(filter) + " is none of the library's own",
               "write it anew with gzip (h5repack -f GZIP=1)");
    }
    const H5S_class_t space_class = H5Sget_simple_extent_type(space);
    const int rank = space_class == H5S_SIMPLE ? H5Sget_simple_extent_ndims(space) : 0;
    if (rank < 0 || space_class == H5S_NO_CLASS) damaged(path, "read shape");
    std::vector<hsize_t> dims(static_cast<std::size_t>(rank)),
        chunk(static_cast<std::size_t>(rank));
    if (rank > 0 && H5Sget_simple_extent_dims(space, dims.data(), nullptr) < 0)
      damaged(path, "read shape");
    e.null = space_class == H5S_NULL;
    if (e.null)
      e.shape = {0};
    else
      e.shape.assign(dims.begin(), dims.end());
    const std::uint64_t size = H5Tget_size(e.type);
    e.n = e.null ? 0 : product(dims, 1);
    e.bytes = product({e.n, size}, 1);
    e.stored = H5Dget_storage_size(set);
    if (layout == H5D_CHUNKED) {
      if (H5Pget_chunk(plist, rank, chunk.data()) != rank)
        refuse(421, path, "the rank of its chunks is not that of its shape");
      if (asked != Asked::listed && product(chunk, size) > std::max<std::uint64_t>(budget, 1 << 20))
        too_large(path, product(chunk, size), "a chunk of");
    }
    if (asked == Asked::whole && e.bytes > budget) too_large(path, e.bytes, "declares");
    if (layout == H5D_CONTIGUOUS && kind_in_memory(e.type) != Kind::converted)
      e.offset = H5Dget_offset(set);
    if (e.bytes > kRatioFreeBytes && (e.bytes - kRatioFreeBytes) / kMaxRatio > e.stored)
      refuse(
          426, path,
          "declares " + std::to_string(e.bytes) + " bytes and stores " + std::to_string(e.stored),
          "no compression reaches that: it was never written, or the file was made to do harm");
    return e;
  }
  /// Whether a read leaves the elements as they are in the file.
  enum class Kind { as_is, converted };
  static Kind kind_in_memory(hid_t type) {
    for (const hid_t same :
         {H5T_NATIVE_FLOAT, H5T_NATIVE_DOUBLE, H5T_NATIVE_INT64, H5T_NATIVE_UINT8})
      if (H5Tequal(type, same) > 0) return Kind::as_is;
    return H5Tequal(type, h5_complex_type(H5T_NATIVE_DOUBLE)) > 0 ? Kind::as_is : Kind::converted;
  }

  /// Leaves of `e` the rows that are wanted.
  static void cut(hid_t set, const H5Rows& rows, Extent& e) {
    if (e.shape.empty() || H5Tget_class(e.type) == H5T_STRING ||
        (rows.first == 0 && rows.count >= e.shape[0]))
      return;
    H5Part part{std::vector<std::uint64_t>(e.shape.size(), 0), e.shape};
    part.begin[0] = std::min(rows.first, e.shape[0]);
    part.extents[0] = std::min(rows.count, e.shape[0] - part.begin[0]);
    cut(set, part, e);
  }
  static void cut(hid_t set, const H5Part& part, Extent& e) {
    const std::vector<hsize_t> start(part.begin.begin(), part.begin.end()),
        size(part.extents.begin(), part.extents.end());
    e.file_space = H5Handle(H5Dget_space(set), H5Sclose);
    if (product(size, 1) > 0)
      H5Sselect_hyperslab(e.file_space, H5S_SELECT_SET, start.data(), nullptr, size.data(),
                          nullptr);
    else
      H5Sselect_none(e.file_space);
    e.memory_space = H5Handle(H5Screate_simple(int(size.size()), size.data(), nullptr), H5Sclose);
    e.shape = part.extents;
    e.n = product(size, 1);
    e.bytes = product({e.n, H5Tget_size(e.type)}, 1);
  }
  [[noreturn]] void too_large(const std::string& path, std::uint64_t bytes,
                              const std::string& verb) const {
    refuse(426, path,
           verb + " " + (bytes == UINT64_MAX ? "more than 2^64" : std::to_string(bytes)) +
               " bytes, the limit is " + std::to_string(budget),
           "check that it is the right file; a C++ program can raise H5Limits::max_bytes");
  }
  static std::uint64_t product(const std::vector<hsize_t>& factors, std::uint64_t start) {
    std::uint64_t out = start;
    for (hsize_t f : factors)
      if (f == 0) return 0;
    for (hsize_t f : factors)
      if (__builtin_mul_overflow(out, f, &out)) return UINT64_MAX;
    return out;
  }

  static std::string type_name(hid_t type) {
    const std::string bits = std::to_string(8 * H5Tget_size(type));
    switch (H5Tget_class(type)) {
      case H5T_INTEGER:
        return (H5Tget_sign(type) == H5T_SGN_NONE ? "uint" : "int") + bits;
      case H5T_FLOAT:
        return "float" + bits;
      case H5T_STRING:
        return H5Tis_variable_str(type) > 0 ? "text"
                                            : "text[" + std::to_string(H5Tget_size(type)) + "]";
      case H5T_COMPOUND:
        return is_complex(type) ? "complex" + bits : "compound";
      case H5T_ENUM:
        return "enum" + bits;
      case H5T_ARRAY:
        return "array";
      case H5T_VLEN:
        return "list";
      case H5T_OPAQUE:
        return "opaque";
      case H5T_REFERENCE:
        return "reference";
      case H5T_BITFIELD:
        return "bits" + bits;
      default:
        return "unknown";
    }
  }
  static bool is_complex(hid_t type) {
    if (H5Tget_class(type) != H5T_COMPOUND || H5Tget_nmembers(type) != 2) return false;
    for (unsigned i : {0u, 1u}) {
      char* member = H5Tget_member_name(type, i);
      const bool fits = member && std::strcmp(member, i ? "i" : "r") == 0 &&
                        H5Tget_member_class(type, i) == H5T_FLOAT;
      H5free_memory(member);
      if (!fits) return false;
    }
    return true;
  }

  // --- attributes ---

  std::vector<std::pair<std::string, std::string>> attributes_of(hid_t object,
                                                                 const std::string& path) const {
    H5O_info_t info;
    if (H5Oget_info2(object, &info, H5O_INFO_NUM_ATTRS) < 0) damaged(path, "count attributes");
    if (info.num_attrs > kMaxAttributes)
      refuse(426, path, "has " + std::to_string(info.num_attrs) + " attributes");
    std::vector<std::pair<std::string, std::string>> out;
    for (hsize_t i = 0; i < info.num_attrs; ++i) {
      const H5Handle a = check(
          H5Aopen_by_idx(object, ".", H5_INDEX_NAME, H5_ITER_INC, i, H5P_DEFAULT, H5P_DEFAULT),
          H5Aclose, path, "open attribute");
      char label[256] = "";
      if (H5Aget_name(a, sizeof label, label) < 0) damaged(path, "name attribute");
      out.emplace_back(label, attribute_text(a, path + "@" + label));
    }
    return out;
  }

  std::string attribute_text(hid_t a, const std::string& path) const {
    const H5Handle type = check(H5Aget_type(a), H5Tclose, path, "read type");
    const H5Handle space = check(H5Aget_space(a), H5Sclose, path, "read shape");
    const hssize_t n = H5Sget_simple_extent_npoints(space);
    if (n < 0) damaged(path, "read shape");
    if (product({hsize_t(n), H5Tget_size(type)}, 1) > kMaxAttributeBytes ||
        H5Aget_storage_size(a) > kMaxAttributeBytes)
      refuse(426, path, "attribute of more than 64 KiB");
    std::string out;
    const auto add = [&](const std::string& t) { out += (out.empty() ? "" : " ") + t; };
    const H5T_class_t kind = H5Tget_class(type);
    if (kind == H5T_INTEGER || kind == H5T_FLOAT || kind == H5T_ENUM) {
      if (kind == H5T_FLOAT) {
        std::vector<double> v(static_cast<std::size_t>(n));
        if (n && H5Aread(a, H5T_NATIVE_DOUBLE, v.data()) < 0) damaged(path, "read");
        for (std::size_t i = 0; i < v.size() && out.size() < kShown; ++i) add(number_text(v[i]));
      } else {
        std::vector<std::int64_t> v(static_cast<std::size_t>(n));
        if (n && H5Aread(a, H5T_NATIVE_INT64, v.data()) < 0) damaged(path, "read");
        for (std::size_t i = 0; i < v.size() && out.size() < kShown; ++i) add(std::to_string(v[i]));
      }
    } else if (kind == H5T_STRING && H5Tis_variable_str(type) > 0) {
      std::vector<char*> v(static_cast<std::size_t>(n), nullptr);
      const H5Handle memory = text_in_memory(type, H5T_VARIABLE);
      if (n && H5Aread(a, memory, v.data()) < 0) damaged(path, "read");
      for (std::size_t i = 0; i < v.size() && out.size() < kShown; ++i)
        add(v[i] ? std::string(v[i], ::strnlen(v[i], kShown)) : "");
      H5Dvlen_reclaim(memory, space, H5P_DEFAULT, v.data());
    } else if (kind == H5T_STRING) {
      const std::size_t width = H5Tget_size(type);
      std::string v(static_cast<std::size_t>(n) * width, '\0');
      if (n && H5Aread(a, text_in_memory(type, width), v.data()) < 0) damaged(path, "read");
      for (std::size_t i = 0; i < v.size() && out.size() < kShown; i += width)
        add(trimmed(v.data() + i, width));
    } else {
      out = "(" + type_name(type) + ")";
    }
    return out.size() > kShown ? out.substr(0, kShown) + "..." : out;
  }

  static H5Handle text_in_memory(hid_t like, std::size_t size) {
    H5Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
    H5Tset_size(type, size);
    H5Tset_strpad(type, H5T_STR_NULLPAD);
    H5Tset_cset(type, H5Tget_cset(like));
    return type;
  }
  static std::string trimmed(const char* p, std::size_t width) { return {p, ::strnlen(p, width)}; }

  // --- data ---

  template <class T>
  std::vector<T> numbers(hid_t set, const Extent& e, hid_t memory_type,
                         const std::string& path) const {
    if (product({e.n, sizeof(T)}, 1) > budget)
      too_large(path, product({e.n, sizeof(T)}, 1), "takes");
    std::vector<T> out(e.n);
    if (e.n && H5Dread(set, memory_type, e.memory(), e.file(), H5P_DEFAULT, out.data()) < 0)
      damaged(path, "read");
    return out;
  }

  H5Array::Data data_of(hid_t set, const Extent& e, const std::string& path) const {
    if (e.null) refuse(427, path, "holds no element (its dataspace is null)");
    const std::size_t size = H5Tget_size(e.type);
    switch (H5Tget_class(e.type)) {
      case H5T_ENUM:
        return numbers<std::int64_t>(set, e, H5T_NATIVE_INT64, path);
      case H5T_INTEGER:
        if (H5Tget_sign(e.type) == H5T_SGN_NONE && size == 1)
          return numbers<std::uint8_t>(set, e, H5T_NATIVE_UINT8, path);
        if (H5Tget_sign(e.type) == H5T_SGN_NONE && size == 8) {
          const auto wide = numbers<std::uint64_t>(set, e, H5T_NATIVE_UINT64, path);
          for (std::uint64_t v : wide)
            if (v > std::uint64_t(std::numeric_limits<std::int64_t>::max()))
              refuse(427, path, "an integer above 2^63");
          return std::vector<std::int64_t>(wide.begin(), wide.end());
        }
        if (size <= 8) return numbers<std::int64_t>(set, e, H5T_NATIVE_INT64, path);
        break;
      case H5T_FLOAT:
        if (size == 4) return numbers<float>(set, e, H5T_NATIVE_FLOAT, path);
        if (size <= 8) return numbers<double>(set, e, H5T_NATIVE_DOUBLE, path);
        break;
      case H5T_COMPOUND:
        if (is_complex(e.type) && size <= 16)
          return numbers<std::complex<double>>(set, e, h5_complex_type(H5T_NATIVE_DOUBLE), path);
        break;
      case H5T_STRING:
        return texts(set, e, size, path);
      default:
        break;
    }
    refuse(427, path, "type " + type_name(e.type) + " is not read here");
  }

  std::vector<std::string> texts(hid_t set, const Extent& e, std::size_t size,
                                 const std::string& path) const {
    std::vector<std::string> out;
    const std::uint64_t in_memory = product({e.n, sizeof(std::string)}, 1);
    if (in_memory > budget) too_large(path, in_memory, "takes");
    out.reserve(e.n);
    if (H5Tis_variable_str(e.type) > 0) {
      const H5Handle space(H5Dget_space(set), H5Sclose),
          memory = text_in_memory(e.type, H5T_VARIABLE);
      hsize_t bytes = 0;
      if (e.n && H5Dvlen_get_buf_size(set, memory, space, &bytes) < 0)
        damaged(path, "measure texts");
      if (bytes > budget) too_large(path, bytes, "holds texts of");
      std::vector<char*> v = numbers<char*>(set, e, memory, path);
      for (const char* t : v) out.emplace_back(t ? t : "");
      if (e.n) H5Dvlen_reclaim(memory, space, H5P_DEFAULT, v.data());
    } else {
      std::string v(e.bytes, '\0');
      if (e.n &&
          H5Dread(set, text_in_memory(e.type, size), H5S_ALL, H5S_ALL, H5P_DEFAULT, v.data()) < 0)
        damaged(path, "read");
      for (std::uint64_t i = 0; i < e.n; ++i) out.push_back(trimmed(v.data() + i * size, size));
    }
    return out;
  }

  H5Handle open_dataset(const std::string& path) const {
    if (!exists_by_hard_links(path) || kind_of(path) != H5O_TYPE_DATASET)
      refuse(428, path, "there is no such dataset in the file");
    return check(H5Dopen2(file, path.c_str(), H5P_DEFAULT), H5Dclose, path, "open dataset");
  }
  H5Place locate(const std::string& path) const {
    const H5Handle set = open_dataset(path);
    Extent e = examine(set, path, Asked::part);
    H5Place place{e.shape, 0, {}};
    if (e.offset != HADDR_UNDEF) place.offset = e.offset;
    e.n = 0;  // what a read would give is known without one
    place.kind = static_cast<std::uint8_t>(data_of(set, e, path).index());
    return place;
  }
  H5Array read_part(const std::string& path, const H5Part& part) const {
    const H5Handle set = open_dataset(path);
    Extent e = examine(set, path, Asked::part);
    if (part.begin.size() != e.shape.size() || part.extents.size() != e.shape.size())
      refuse(427, path, "has other axes than when it was opened");
    if (!e.shape.empty()) cut(set, part, e);
    if (e.bytes > budget) too_large(path, e.bytes, "a box of");
    return {.shape = e.shape, .data = data_of(set, e, path)};
  }
  /// Reads one dataset and takes what it needs from the budget.
  H5Array read(const std::string& path, const H5Rows& rows) {
    const H5Handle set = open_dataset(path);
    Extent e = examine(set, path, Asked::whole);
    cut(set, rows, e);
    H5Array out{.shape = e.shape, .data = data_of(set, e, path)};
    for (const auto& [label, text] : attributes_of(set, path)) {
      if (label == "units") out.attributes.units = text;
      if (label == "long_name") out.attributes.long_name = text;
    }
    budget -= std::min(budget, e.bytes);
    return out;
  }
};

}  // namespace

std::vector<H5Object> list_h5_here(const H5Source& file, const H5Limits& limits) {
  CheckedReader r;
  r.open(file, limits);
  r.visit_object("/");
  return std::move(r.objects);
}

H5Place locate_h5_here(const H5Source& file, const std::string& name, const H5Limits& limits) {
  CheckedReader r;
  r.open(file, limits);
  return r.locate(name);
}
H5Array read_h5_part_here(const H5Source& file, const std::string& name, const H5Part& part,
                          const H5Limits& limits) {
  CheckedReader r;
  r.open(file, limits);
  return r.read_part(name, part);
}

std::map<std::string, H5Array> read_h5_here(const H5Source& file,
                                            std::span<const std::string> names,
                                            const H5Limits& limits, const H5Rows& rows) {
  CheckedReader r;
  r.open(file, limits);
  std::map<std::string, H5Array> out;
  if (names.empty()) {
    r.visit_object("/");
    for (const H5Object& o : r.objects)
      if (o.kind == H5Object::Kind::dataset) {
        try {
          out.emplace(o.path, r.read(o.path, rows));
        } catch (const InputError& e) {
          if (e.findings()[0].number != 427) throw;  // of a type that is not read here: left out
        }
      }
  }
  for (const std::string& n : names) out.emplace(n, r.read(n, rows));
  return out;
}

}  // namespace tessera::data
