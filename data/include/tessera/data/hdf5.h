// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <complex>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace tessera::data {

/// What a dataset says about itself.
struct H5Attributes {
  std::string units;      ///< "ohm*m"; "1" for a pure number; empty: not written
  std::string long_name;  ///< "resistivity of the layers"; empty: not written
};

/// How a dataset is laid down. Data of 64 KiB and more are always chunked (about 1 MiB), shuffled
/// and deflated (gzip 1).
struct H5Storage {
  bool checksum = false;  ///< Fletcher32 per chunk, so that damage is found on reading
};

/// What is to happen to a file after `commit`.
enum class H5Growth : std::uint8_t {
  none,
  rows,  ///< H5Series adds rows: the library's records lie within pages of memory, between which
         ///< alone a kill cuts a write
};

/// Writes an HDF5 1.10 file that appears whole or not at all (see AtomicFile) and whose bytes
/// depend on its content only: no time stamps. Object names are paths: "tessera/model/resistivity";
/// missing groups are made. The file is built in memory and reaches the disk at `commit`. Throws
/// InputError E0501..E0503 when it cannot be written, Error on a shape that does not fit.
class H5Writer {
 public:
  explicit H5Writer(std::filesystem::path path, H5Growth growth = H5Growth::none);
  ~H5Writer();
  H5Writer(const H5Writer&) = delete;
  H5Writer& operator=(const H5Writer&) = delete;

  void group(const std::string& name);
  /// T: double, float, int64_t, uint8_t, complex<double> (stored as {r, i}, as h5py does). Empty
  /// shape: [n].
  template <class T>
  void write(const std::string& name, std::span<const T> values,
             const std::vector<std::uint64_t>& shape = {}, const H5Attributes& attributes = {},
             H5Storage storage = {});
  template <class T>
  void write(const std::string& name, const std::vector<T>& values,
             const std::vector<std::uint64_t>& shape = {}, const H5Attributes& attributes = {},
             H5Storage storage = {}) {
    write(name, std::span<const T>(values), shape, attributes, storage);
  }
  /// UTF-8 texts of fixed length (that of the longest).
  void write_texts(const std::string& name, std::span<const std::string> texts,
                   const H5Attributes& attributes = {});
  void write_text(const std::string& name, const std::string& text) {
    write_texts(name, {&text, 1});
  }

  /// An empty dataset [0, row...] that H5Series adds rows to, in a file made for it
  /// (H5Growth::rows). T: double, float, int64_t.
  template <class T>
  void series(const std::string& name, const std::vector<std::uint64_t>& row,
              const H5Attributes& attributes = {});
  /// A second name of an object that exists.
  void hard_link(const std::string& name, const std::string& object);

  /// Attributes of a group or dataset that exists; `object` "" or "/" is the root.
  void attribute(const std::string& object, const std::string& name, std::string_view text);
  void attribute(const std::string& object, const std::string& name,
                 std::span<const std::string> texts);
  /// The same text with a length that may vary, which h5py takes for a str and not for bytes.
  void free_text(const std::string& object, const std::string& name, const std::string& text);
  void attribute(const std::string& object, const std::string& name,
                 std::span<const double> values);
  void attribute(const std::string& object, const std::string& name,
                 std::span<const std::int64_t> values);

  /// Closes the file and moves it into place.
  void commit();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// A dataset in memory. Integers of any width come as int64 (uint64 above its range: E0427), half,
/// float and double as they fit; texts as strings.
struct H5Array {
  using Data = std::variant<std::vector<double>, std::vector<float>, std::vector<std::int64_t>,
                            std::vector<std::uint8_t>, std::vector<std::complex<double>>,
                            std::vector<std::string>>;
  std::vector<std::uint64_t> shape;
  Data data;
  H5Attributes attributes;
};

/// One line of a file's tree.
struct H5Object {
  enum class Kind { group, dataset, named_type, soft_link, repeated };
  std::string path;  ///< "/tessera/model"
  Kind kind = Kind::group;
  std::string type;  ///< dataset: "float64", "complex128", "text[12]"; links: where they lead
  std::vector<std::uint64_t> shape;                             ///< dataset
  std::uint64_t stored_bytes = 0;                               ///< dataset
  std::vector<std::pair<std::string, std::string>> attributes;  ///< as text, cut at 200 characters
};

/// How much an untrusted file may take. 0: 4 times the size of the file plus 64 MiB.
struct H5Limits {
  std::uint64_t max_bytes = 0;
  bool being_written =
      false;  ///< take a file that H5Series is adding to, or was when it was killed
};

/// For results of runs, which may be compressed to far less than a quarter, such as fields before a
/// wave arrives: half of the machine's memory.
H5Limits limits_of_results();

/// Rows [first, first + count) of a dataset, as far as there are any.
struct H5Rows {
  std::uint64_t first = 0, count = UINT64_MAX;
};

/// Reads HDF5 files from anyone. The HDF5 library runs in a child process with limits on memory and
/// CPU time, without plug-ins; external and virtual storage, external links, soft links that lead
/// nowhere, unknown filters, loops, overlarge attributes and datasets larger than the limits are
/// refused before reading. Throws InputError (exit 4):
///   E0401, E0402 no such regular file     E0420 not an HDF5 file
///   E0421 damaged or truncated            E0422 marked as still being written
///   E0423 leads out of the file           E0424 unknown filter
///   E0425 loop, too deep or too many      E0426 larger than the limit
///   E0427 unreadable type, or a null dataspace (h5py.Empty)
///   E0428 no dataset of that name         E0429 stopped (signal, memory or CPU limit)
/// Datasets of any size are listed: of them it reads nothing.
std::vector<H5Object> list_h5(const std::filesystem::path& file, const H5Limits& limits = {});
/// The named datasets; with no names, every dataset of a readable type but those with a null
/// dataspace. With `rows`, that part of each (not of texts).
std::map<std::string, H5Array> read_h5(const std::filesystem::path& file,
                                       std::span<const std::string> names = {},
                                       const H5Limits& limits = {}, const H5Rows& rows = {});

/// "1.10.8", of the library in use.
std::string hdf5_version();

}  // namespace tessera::data
