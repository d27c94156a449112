// SPDX-License-Identifier: Apache-2.0
#include "arrays/npz.h"

#include "tessera/data/arrays.h"
#include "tessera/data/diagnostic.h"
#include "tessera/data/text_reader.h"

#include <array>

namespace tessera::data {
namespace {

constexpr std::string_view kEnding = ".npy";

}  // namespace

NpzInput::NpzInput(const std::filesystem::path& path)
    : file(path), members(read_zip_directory(file)) {
  for (const ZipMember& m : members)
    names.push_back(m.name.ends_with(kEnding) ? m.name.substr(0, m.name.size() - kEnding.size())
                                              : m.name);
}

std::vector<NamedTensor> NpzInput::read(std::span<const std::size_t> places) const {
  std::uint64_t packed_out = 0;
  for (const std::size_t i : places) {
    check_npy_member(file, members[i]);
    if (__builtin_add_overflow(packed_out, members[i].size, &packed_out)) packed_out = UINT64_MAX;
    check_memory(packed_out, file.name());
  }
  std::vector<NamedTensor> out;
  std::uint64_t bytes = 0;
  for (const std::size_t i : places) {
    ZipStream stream(file, members[i]);
    NpyInput npy = npy_input(file, members[i], stream);
    bytes += npy.bytes();
    check_memory(bytes, file.name());
    out.push_back({names[i], npy.values()});
    stream.finish();
  }
  return out;
}

void check_npy_member(const BinaryInput& file, const ZipMember& member) {
  if (!member.name.ends_with(kEnding))
    throw InputError(
        Diagnostic{.number = 437,
                   .place = {.file = file.name(), .byte = member.header},
                   .message = "member " + shown(member.name) + " is no .npy file by its name"});
}

std::vector<NamedTensor> read_npz(const std::filesystem::path& path,
                                  std::span<const std::string> names) {
  const NpzInput npz(path);
  return npz.read(places_of(names, npz.names, npz.file.name()));
}

void write_npz(const std::filesystem::path& path, std::span<const NamedTensor> arrays,
               NpzPacking packing) {
  constexpr std::size_t kLongestName = 65535;
  check_names("write_npz", arrays);
  std::vector<Tensor> values;
  for (const NamedTensor& a : arrays) {
    const std::string fault = a.name.size() + kEnding.size() > kLongestName
                                  ? "it has more than 65,531 bytes"
                                  : zip_name_fault(a.name + std::string(kEnding));
    if (!fault.empty())
      throw Error("[write_npz] an archive cannot have the name " + shown(a.name) + ": " + fault);
    values.push_back(values_to_write("write_npz", a));
  }
  AtomicFile file(path);
  ZipWriter zip(file);
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    const std::string head = npy_head(values[i].type());
    const std::array pieces = {std::as_bytes(std::span(head)), bytes_of(values[i])};
    zip.add(arrays[i].name + std::string(kEnding), pieces, packing == NpzPacking::deflated);
  }
  zip.finish();
  file.commit();
}

}  // namespace tessera::data
