// SPDX-License-Identifier: Apache-2.0
#include "electromagnetics/fdtd/shards.h"

#include "tessera/autodiff/error.h"
#include "tessera/data/checkpoint_shards.h"
#include "tessera/data/file_io.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace tessera::apps::fdtd {
namespace {

namespace em = electromagnetics;
namespace fs = std::filesystem;

using Bytes = std::vector<std::byte>;

// Ranks tell each other what a checkpoint can say.
Bytes bytes_of(const data::Checkpoint& message) {
  const std::string text = data::encode_checkpoint(message);
  const auto* first = reinterpret_cast<const std::byte*>(text.data());
  return {first, first + text.size()};
}
data::Checkpoint message_of(const Bytes& bytes) {
  return data::decode_checkpoint({reinterpret_cast<const char*>(bytes.data()), bytes.size()},
                                 "what a rank has told");
}

/// Where a checkpoint counts the steps of several runs: those of the one whose fields it has.
constexpr const char* kOwnStep = "run_step";

std::string name_of_slice(int at) { return fmt::format("state/{}", at); }

data::Shard save_own(const em::TimeDomain& run, const fs::path& dir, const data::Checkpoint& of) {
  const auto [begin, end] = run.held_slices();
  std::vector<data::ShardRow> rows;
  for (int at = begin; at < end; ++at)
    rows.push_back({name_of_slice(at), static_cast<std::uint64_t>(run.slice_size(at))});
  em::TimeDomain::Slice slice;
  if (begin < end) run.copy_slice(begin, slice);  // says of what they are
  return std::visit(
      [&, first = begin]<class T>(const std::vector<T>&) {
        return data::write_shard<T>(dir, of, run.rank(), rows, [&](std::size_t k) {
          run.copy_slice(first + static_cast<int>(k), slice);
          return std::get<std::vector<T>>(slice).data();
        });
      },
      slice);
}

/// Each shard is looked at by one rank.
void check_own(const em::TimeDomain& run, const fs::path& dir, const data::Checkpoint& of) {
  for (std::size_t k = 0; k < of.shards.size(); ++k)
    if (static_cast<int>(k) % run.rank_count() == run.rank())
      data::check_shard(dir, of, of.shards[k]);
}

void load_own(em::TimeDomain& run, const fs::path& dir, const data::Checkpoint& of) {
  std::vector<std::string> wanted;
  const int first = run.held_slices().first, end = run.held_slices().second;
  for (int at = first; at < end; ++at) wanted.push_back(name_of_slice(at));
  std::vector<bool> found(wanted.size());
  const auto find = [&](const std::string& name) {
    return std::find(wanted.begin(), wanted.end(), name) - wanted.begin();
  };
  for (const data::Shard& shard : of.shards)
    data::read_shard(
        dir, of, shard, [&](const std::string& name) { return find(name) < std::ssize(wanted); },
        [&](const data::NamedValue& v) {
          const auto i = find(v.first);
          if (const auto* f32 = std::get_if<std::vector<float>>(&v.second.data))
            run.set_slice(first + static_cast<int>(i), *f32);
          else if (const auto* f64 = std::get_if<std::vector<double>>(&v.second.data))
            run.set_slice(first + static_cast<int>(i), *f64);
          else
            throw Error("[checkpoint] '" + v.first + "' is no slice of the fields");
          found[static_cast<std::size_t>(i)] = true;
        });
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if (!found[i]) of.array<double>(wanted[i]);  // says that it is missing
  run.set_step(of.has(kOwnStep) ? of.scalar<std::int64_t>(kOwnStep)
                                : static_cast<std::int64_t>(of.step));
}

/// All ranks do the same with the checkpoint `of`. Throws the first finding of any.
std::vector<data::Checkpoint> all_do(em::TimeDomain& run, const char* what, const fs::path& dir,
                                     const data::Checkpoint& of) {
  data::Checkpoint order{.app = of.app,
                         .step = of.step,
                         .config_sha256 = of.config_sha256,
                         .inputs = {},
                         .shards = of.shards,
                         .is_shard = false,
                         .values = {}};
  order.put("do", what);
  order.put("folder", dir.string());
  if (of.has(kOwnStep)) order.put(kOwnStep, of.scalar<std::int64_t>(kOwnStep));
  std::vector<data::Checkpoint> told;
  for (const Bytes& b : run.on_each_rank(bytes_of(order), work_on_fields))
    told.push_back(message_of(b));
  for (const data::Checkpoint& t : told)
    if (t.has("number"))
      throw data::InputError({.number = static_cast<int>(t.scalar<std::int64_t>("number")),
                              .place = {t.text("file")},
                              .message = t.text("message"),
                              .hint = t.text("hint")},
                             data::ExitCode::checkpoint_damaged);
  return told;
}

}  // namespace

std::vector<std::byte> work_on_fields(em::TimeDomain& run, const std::vector<std::byte>& told) {
  const data::Checkpoint order = message_of(told);
  const std::string& what = order.text("do");
  const fs::path dir = order.text("folder");
  data::Checkpoint out;
  if (what == "save") {  // what goes wrong there is the end of this rank
    out.shards = {save_own(run, dir, order)};
    return bytes_of(out);
  }
  try {
    if (what == "check")
      check_own(run, dir, order);
    else
      load_own(run, dir, order);
  } catch (const data::InputError& e) {
    const data::Diagnostic& d = e.findings().front();
    out.put("number", std::int64_t{d.number});
    out.put("file", d.place.file);
    out.put("message", d.message);
    out.put("hint", d.hint);
  }
  return bytes_of(out);
}

void save_fields(em::TimeDomain& run, const fs::path& dir, data::Checkpoint& c) {
  data::make_folder(dir);
  const std::vector<data::Checkpoint> told = all_do(run, "save", dir, c);
  for (std::size_t r = 0; r < told.size(); ++r) {
    const data::Shard& shard = told[r].shards.at(0);
    const fs::path path = dir / data::shard_name(c.step, shard);
    std::error_code none;
    if (fs::file_size(path, none) != shard.bytes || none)
      throw data::InputError(
          {.number = 443,
           .place = {path.string()},
           .message = fmt::format("rank {} has written this file, but it is not here", r),
           .hint = "the run folder has to lie where all ranks see it"},
          data::ExitCode::usage);
    c.shards.push_back(shard);
  }
}

void load_fields(em::TimeDomain& run, const fs::path& dir, const data::Checkpoint& c) {
  all_do(run, "check", dir, c);
  all_do(run, "load", dir, c);
}

}  // namespace tessera::apps::fdtd
