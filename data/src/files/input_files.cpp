// SPDX-License-Identifier: Apache-2.0
#include "tessera/data/input_files.h"

#include "files/regular_file.h"
#include "tessera/data/sha256.h"

#include <algorithm>
#include <utility>

namespace tessera::data {
namespace {

thread_local InputFiles* g_innermost = nullptr;

InputFile hashed(const RegularFile& file) {
  Sha256 h;
  std::vector<char> piece(1 << 16);
  std::uint64_t at = 0;
  while (at < file.size()) {
    const std::size_t n = file.read(
        at, piece.data(),
        static_cast<std::size_t>(std::min<std::uint64_t>(piece.size(), file.size() - at)));
    if (n == 0) break;  // it shrank meanwhile
    h.update(piece.data(), n);
    at += n;
  }
  return {file.path().string(), at, to_hex(h.finish())};
}

}  // namespace

struct InputFiles::State {
  struct Entry {
    std::shared_ptr<const RegularFile> file;
    InputFile told = {};  ///< once its hash is known
  };
  std::vector<Entry> entries;
  bool complete = false;
  InputFiles* outer = nullptr;
};

InputFiles::InputFiles() : state_(std::make_unique<State>()) {
  state_->outer = std::exchange(g_innermost, this);
}
InputFiles::~InputFiles() { g_innermost = state_->outer; }
void InputFiles::complete() { state_->complete = true; }

std::vector<InputFile> InputFiles::list() const {
  std::vector<InputFile> out;
  for (State::Entry& e : state_->entries) {
    if (e.told.sha256.empty()) e.told = hashed(*e.file);
    out.push_back(e.told);
  }
  return out;
}

std::vector<InputFile> inputs_read() {
  return g_innermost ? g_innermost->list() : std::vector<InputFile>();
}

std::shared_ptr<const RegularFile> OpenInputs::find(const struct stat& status) {
  if (g_innermost)
    for (const auto& e : g_innermost->state_->entries)
      if (e.file->is(status)) return e.file;
  return {};
}

void OpenInputs::add(std::shared_ptr<const RegularFile> file) {
  if (g_innermost && !g_innermost->state_->complete)
    g_innermost->state_->entries.push_back({std::move(file)});
}

void OpenInputs::parsed(const RegularFile& file, std::string_view bytes) {
  if (!g_innermost) return;
  for (auto& e : g_innermost->state_->entries)
    if (e.file.get() == &file && e.told.sha256.empty())
      e.told = {file.path().string(), bytes.size(), sha256_hex(bytes)};
}

std::shared_ptr<const RegularFile> open_regular(const std::filesystem::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0)
    if (auto open = OpenInputs::find(status)) return open;
  auto file = std::make_shared<const RegularFile>(path);
  OpenInputs::add(file);
  return file;
}

void open_input(const std::filesystem::path& path) { open_regular(path); }

}  // namespace tessera::data
