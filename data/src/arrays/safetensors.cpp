// SPDX-License-Identifier: Apache-2.0
#include "tessera/data/safetensors.h"

#include "arrays/safetensors_header.h"
#include "files/utf8.h"
#include "run/json_text.h"
#include "tessera/data/diagnostic.h"
#include "tessera/data/file_io.h"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace tessera::data {
namespace {

Tensor read_entry(const BinaryInput& file, const SafetensorsHeader& header,
                  const SafetensorsEntry& e) {
  std::uint64_t at = header.buffer + e.begin;
  const auto refuse = [&](const std::string& what) {
    throw InputError(Diagnostic{.number = 438,
                                .place = {.file = file.name(), .byte = e.byte},
                                .message = "tensor '" + e.name + "' " + what});
  };
  const auto next = [&](void* to, std::size_t n) {
    if (!file.read(at, to, n)) refuse("became shorter while it was read");
    at += n;
  };
  return read_elements(e.type, e.shape, {next, refuse});
}

void check_utf8(const std::string& text, const std::string& what) {
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t n = detail::utf8_length(text, i);
    if (n == 0) throw Error("[write_safetensors] " + what + " '" + text + "' is not UTF-8");
    i += n;
  }
}

std::string header_text(std::span<const NamedTensor> tensors,
                        const std::vector<std::uint64_t>& begins,
                        const std::map<std::string, std::string>& metadata) {
  std::string out = "{";
  const auto comma = [&] {
    if (out.size() > 1) out += ",";
  };
  for (const auto& [key, value] : metadata) {
    check_utf8(key, "the key of metadata");
    check_utf8(value, "the metadata");
    out += out.size() == 1 ? "\"__metadata__\":{" : ",";
    out += json_quote(key) + ":" + json_quote(value);
  }
  if (!metadata.empty()) out += "}";
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const auto& [name, t] = tensors[i];
    comma();
    out += json_quote(name) + ":{\"dtype\":\"" + safetensors_dtype(stored_as(t.dtype())) +
           "\",\"shape\":[";
    for (int d = 0; d < t.ndim(); ++d) out += (d ? "," : "") + std::to_string(t.dim(d));
    const std::uint64_t bytes = static_cast<std::uint64_t>(t.size()) * size_of(t.dtype());
    out += "],\"data_offsets\":[" + std::to_string(begins[i]) + "," +
           std::to_string(begins[i] + bytes) + "]}";
  }
  out += "}";
  out.append((8 - out.size() % 8) % 8, ' ');
  return out;
}

}  // namespace

SafetensorsInput::SafetensorsInput(const std::filesystem::path& path)
    : file(path), header(read_safetensors_header(file)) {
  for (const SafetensorsEntry& e : header.entries) names.push_back(e.name);
}

std::vector<NamedTensor> SafetensorsInput::read(std::span<const std::size_t> places) const {
  std::uint64_t bytes = 0;
  for (const std::size_t i : places)
    bytes += widened_bytes(header.entries[i].type, header.entries[i].shape);
  check_memory(bytes, file.name());
  std::vector<NamedTensor> out;
  for (const std::size_t i : places)
    out.push_back({names[i], read_entry(file, header, header.entries[i])});
  return out;
}

Safetensors read_safetensors(const std::filesystem::path& path,
                             std::span<const std::string> names) {
  const SafetensorsInput f(path);
  return {f.read(places_of(names, f.names, f.file.name())), f.header.metadata};
}

void write_safetensors(const std::filesystem::path& path, std::span<const NamedTensor> tensors,
                       const std::map<std::string, std::string>& metadata) {
  check_names("write_safetensors", tensors);
  std::vector<Tensor> values;
  for (const NamedTensor& t : tensors) {
    check_utf8(t.name, "the name");
    if (t.name == "__metadata__")
      throw Error("[write_safetensors] '__metadata__' names no tensor in this format");
    values.push_back(values_to_write("write_safetensors", t));
    if (!safetensors_dtype(stored_as(t.values.dtype())))
      throw Error("[write_safetensors] the tensor '" + t.name + "' is " +
                  name_of(t.values.dtype()) +
                  ", which the format does not have: write its real and imaginary parts, or cast "
                  "it to c64");
  }
  std::vector<std::size_t> order(tensors.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater(),
                           [&](std::size_t i) { return size_of(values[i].dtype()); });
  std::vector<std::uint64_t> begins(tensors.size());
  std::uint64_t end = 0;
  for (const std::size_t i : order) {
    begins[i] = end;
    end += bytes_of(values[i]).size();
  }
  const std::string header = header_text(tensors, begins, metadata);
  if (header.size() > kMaxSafetensorsHeader)
    throw Error("[write_safetensors] names, shapes and metadata take " +
                std::to_string(header.size()) + " bytes, and readers take at most " +
                std::to_string(kMaxSafetensorsHeader));
  AtomicFile file(path);
  const std::uint64_t length = header.size();
  file.write(&length, sizeof length);
  file.write(header.data(), header.size());
  for (const std::size_t i : order)
    file.write(bytes_of(values[i]).data(), bytes_of(values[i]).size());
  file.commit();
}

}  // namespace tessera::data
