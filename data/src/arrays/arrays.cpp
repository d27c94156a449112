// SPDX-License-Identifier: Apache-2.0
#include "tessera/data/arrays.h"

#include "arrays/npy.h"
#include "arrays/npz.h"
#include "arrays/safetensors_header.h"
#include "tessera/data/diagnostic.h"
#include "tessera/data/hdf5.h"
#include "tessera/data/text_reader.h"

#include <map>
#include <type_traits>
#include <variant>

namespace tessera::data {
namespace {

[[noreturn]] void refuse_array(const std::filesystem::path& path, int number, std::string message,
                               std::string hint = {}) {
  throw InputError(Diagnostic{.number = number,
                              .place = {.file = path.string()},
                              .message = std::move(message),
                              .hint = std::move(hint)});
}

/// `name`, or for an empty one that of the only array there is.
std::string only_one(const std::filesystem::path& path, const std::string& name,
                     const std::vector<std::string>& known) {
  if (!name.empty()) return name;
  if (known.size() != 1) refuse_array(path, 440, "which array? The file has " + list_of(known));
  return known.front();
}

std::vector<std::string> names_of_h5(const std::filesystem::path& path) {
  std::vector<std::string> out;
  for (const H5Object& o : list_h5(path, limits_of_results()))
    if (o.kind == H5Object::Kind::dataset) out.push_back(o.path.substr(1));
  return out;
}

Tensor read_h5_array(const std::filesystem::path& path, const std::string& name) {
  const std::string wanted = name.empty() ? only_one(path, name, names_of_h5(path)) : name;
  std::map<std::string, H5Array> arrays;
  try {
    arrays = read_h5(path, {&wanted, 1}, limits_of_results());
  } catch (const InputError& e) {
    if (e.findings().front().number == 428)
      places_of({&wanted, 1}, names_of_h5(path), path.string());
    throw;
  }
  const H5Array& a = arrays.begin()->second;
  if (a.shape.size() > kMaxDims)
    refuse_array(path, 427,
                 "dataset '" + wanted + "' has " + std::to_string(a.shape.size()) +
                     " axes, and a tensor has at most " + std::to_string(kMaxDims));
  Shape shape;
  for (const std::uint64_t n : a.shape) shape.push_back(static_cast<Index>(n));
  return std::visit(
      [&](const auto& values) -> Tensor {
        using T = typename std::decay_t<decltype(values)>::value_type;
        if constexpr (std::is_same_v<T, std::string>)
          refuse_array(path, 427, "dataset '" + wanted + "' holds texts, expected numbers");
        else
          return tensor(values, shape);
      },
      a.data);
}

}  // namespace

Tensor read_npy(const std::filesystem::path& path) {
  const BinaryInput file(path);
  NpyInput npy = npy_input(file);
  check_memory(npy.bytes(), file.name());
  return npy.values();
}

void write_npy(const std::filesystem::path& path, const Tensor& values) {
  const Tensor known = values_to_write("write_npy", {path.filename().string(), values});
  const std::string head = npy_head(known.type());
  AtomicFile file(path);
  file.write(head.data(), head.size());
  file.write(bytes_of(known).data(), bytes_of(known).size());
  file.commit();
}

Tensor read_array(const std::filesystem::path& path, const std::string& name) {
  const std::string ending = upper(path.extension().string());
  if (ending == ".NPY") {
    if (!name.empty())
      refuse_array(path, 440,
                   "an .npy file has one array without a name, got the name '" + name + "'");
    return read_npy(path);
  }
  if (ending == ".NPZ") {
    const NpzInput npz(path);
    const std::string wanted = only_one(path, name, npz.names);
    return npz.read(places_of({&wanted, 1}, npz.names, npz.file.name())).front().values;
  }
  if (ending == ".SAFETENSORS") {
    const SafetensorsInput weights(path);
    const std::string wanted = only_one(path, name, weights.names);
    return weights.read(places_of({&wanted, 1}, weights.names, weights.file.name())).front().values;
  }
  if (ending == ".H5" || ending == ".HDF5") return read_h5_array(path, name);
  refuse_array(path, 430,
               "arrays are read from files that end in .npy, .npz, .safetensors, .h5 or .hdf5");
}

}  // namespace tessera::data
