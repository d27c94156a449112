// SPDX-License-Identifier: Apache-2.0
#include "solvers/training/start.h"

#include "tessera/data/safetensors.h"

#include <fmt/format.h>

#include <map>
#include <regex>

namespace tessera::apps::training {
namespace {

namespace fs = std::filesystem;

/// The numbers of a run's transforms, as `input.0.shift`: beside the network, and another's own.
bool of_transforms(const std::string& name) {
  static const std::regex form(R"((input|target)\.\d+\.(shift|scale|chosen))");
  return std::regex_match(name, form);
}

}  // namespace

std::vector<std::string> start_from(Network& network, const fs::path& run_or_file) {
  const fs::path file =
      fs::is_directory(run_or_file) ? run_or_file / "weights.safetensors" : run_or_file;
  std::map<std::string, Tensor> there;
  for (const data::NamedTensor& t : data::read_safetensors(file).tensors)
    if (!of_transforms(t.name)) there.emplace(t.name, t.values);

  const LeafNames names = leaf_names(network);
  std::vector<Tensor> leaves = flatten_tree(network);
  std::vector<std::string> fresh;
  std::size_t taken = 0;
  for (std::size_t k = 0; k < leaves.size(); ++k) {
    const auto found = there.find(names[k]);
    const std::string mine = names[k] + " " + to_string(leaves[k].type());
    if (found == there.end()) {
      fresh.push_back(mine);
      continue;
    }
    if (found->second.type() == leaves[k].type())
      leaves[k] = found->second, ++taken;
    else
      fresh.push_back(mine + " (there " + to_string(found->second.type()) + ")");
    there.erase(found);
  }
  std::vector<std::string> unused;
  for (const auto& [name, t] : there) unused.push_back(name + " " + to_string(t.type()));
  if (taken == 0)
    throw data::InputError(
        {.number = 673,
         .place = {.file = file.string()},
         .message = fmt::format("has no weight of this network: that has {}; the file has {}",
                                fmt::join(fresh, ", "), fmt::join(unused, ", ")),
         .hint = "weights are taken over by name, shape and precision"});
  network = unflatten_tree(network, leaves);

  std::vector<std::string> lines{fmt::format("{} of {} tensors of weights are those of {}", taken,
                                             leaves.size(), file.string())};
  if (!fresh.empty()) lines.push_back(fmt::format("drawn anew: {}", fmt::join(fresh, ", ")));
  if (!unused.empty()) lines.push_back(fmt::format("not taken over: {}", fmt::join(unused, ", ")));
  return lines;
}

}  // namespace tessera::apps::training
