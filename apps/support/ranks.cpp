// SPDX-License-Identifier: Apache-2.0
#include "support/ranks.h"

#include "tessera/data/diagnostic.h"
#include "tessera/parallel/mpi.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <limits>
#include <thread>
#include <utility>

namespace tessera::apps {
namespace fs = std::filesystem;
namespace {

/// An empty file in a folder, or where the folder will be, while it lives. None where none can be
/// written: whoever writes there next tells why.
class Sign {
 public:
  explicit Sign(const fs::path& folder) {
    if (folder.empty()) return;
    std::error_code none;
    fs::path place = fs::absolute(folder, none);
    while (!fs::is_directory(place, none) && place.has_relative_path()) place = place.parent_path();
    std::string name = (place / ".tessera_ranks_XXXXXX").string();
    const int file = ::mkstemp(name.data());
    if (file < 0) return;
    ::close(file);
    path_ = name;
  }
  ~Sign() {
    if (!path_.empty()) ::unlink(path_.c_str());
  }
  Sign(const Sign&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

}  // namespace

bool is_first_rank() { return parallel::mpi_rank() == 0; }

std::shared_ptr<void> Ranks::waits_told(std::function<void(const std::string&)> say) {
  all_.patience.say = std::move(say);
  return {this, [](Ranks* r) { r->all_.patience.say = nullptr; }};
}

void Ranks::tell(bool help, const fs::path& folder) {
  told_ = true;
  helping_ = help && all_.size() > 1;
  const Sign sign(helping_ && processes_ ? folder : fs::path());
  const std::string path = sign.path().string();
  std::vector<char> word(1 + path.size(), help ? '1' : '0');
  std::copy(path.begin(), path.end(), word.begin() + 1);
  all_.broadcast(parallel::to_bytes(word));
  if (!helping_) return;
  const parallel::Patience before = all_.patience;
  const std::chrono::duration<double> mine = std::chrono::steady_clock::now() - begin_;
  all_.patience.tell += 2 * mine.count();  // they read and prepare what this rank has
  all_.gather({});
  all_.patience = before;
}

bool Ranks::hear() {
  const parallel::Patience before = all_.patience;
  all_.patience.tell = std::numeric_limits<double>::infinity();  // rank 0 reads and checks
  const auto word = parallel::from_bytes<char>(all_.broadcast({}));
  const bool help = word.at(0) == '1';
  if (help)
    all_.patience = before;
  else
    all_.patience.end = all_.patience.tell;  // rank 0 does all, however long it takes
  seen_ = std::string(word.begin() + 1, word.end());
  return help;
}

void Ranks::ready() {
  std::error_code none;
  if (!seen_.empty() && !fs::exists(seen_, none))
    throw data::InputError(
        data::Diagnostic{
            .number = 518,
            .place = {.file = seen_.parent_path().string()},
            .message = "this rank does not see the folder in which rank 0 writes",
            .hint = "--output with a folder that all machines share and see by one path"},
        data::ExitCode::usage);
  all_.gather({});
}

Ranks::Sent Ranks::helped() {
  if (!std::exchange(helping_, false)) return {};
  const Sent mine{all_.sent_bytes(), all_.sent_messages()};
  Sent most;
  for (const parallel::Bytes& told : all_.gather(parallel::to_bytes(std::vector<Sent>{mine}))) {
    const Sent s = parallel::from_bytes<Sent>(told).at(0);
    most.bytes = std::max(most.bytes, s.bytes), most.messages = std::max(most.messages, s.messages);
  }
  return most;
}

void Ranks::tell_sent() {
  all_.patience.tell = std::numeric_limits<double>::infinity();  // rank 0 writes what was found
  all_.gather(parallel::to_bytes(std::vector<Sent>{{all_.sent_bytes(), all_.sent_messages()}}));
}

void Ranks::end(data::ExitCode code) {
  if (all_.size() == 1) return;
  if (!told_) tell(false, {});
  if (!helping_) return;
  if (!processes_ && code != data::ExitCode::rank_lost)
    return all_.fail("has come to its end", static_cast<int>(code));
  end_all(code);
}

/// Also threads that never come.
void Ranks::end_all(data::ExitCode code) {
  std::cout.flush();
  std::cerr.flush();
  if (processes_) parallel::end_all_ranks(static_cast<int>(code));
  std::_Exit(static_cast<int>(code));
}

void Ranks::lost(const parallel::WaitedInVain& e) {
  if (std::find(e.ranks.begin(), e.ranks.end(), 0) == e.ranks.end())
    return fail(e.what(), data::ExitCode::rank_lost);
  // All that wait for rank 0 come here: the first of them says it.
  std::this_thread::sleep_for(std::chrono::milliseconds(250) * (all_.rank() - 1));
  std::fprintf(stderr, "tessera: error: %s\n", e.what());
  end_all(data::ExitCode::rank_lost);
}

void Ranks::fail(const std::string& text, data::ExitCode code) {
  all_.fail(text, static_cast<int>(code));
  wait_for_the_end();
}

void Ranks::wait_for_the_end() {
  if (!processes_) return;
  std::this_thread::sleep_for(std::chrono::seconds(60));  // rank 0 may be in a long step
  parallel::end_all_ranks(static_cast<int>(data::ExitCode::internal_fault));
}

}  // namespace tessera::apps
