// SPDX-License-Identifier: Apache-2.0
#include "h5md_particles.h"

#include "formats.h"

#include <fmt/format.h>

namespace tessera::molecular {

std::string h5md_particles(const std::filesystem::path& path,
                           const std::vector<data::H5Object>& objects, std::string_view element) {
  std::string found, another_name;
  for (const data::H5Object& o : objects) {
    if (!o.path.starts_with("/particles/") || !o.path.ends_with(element)) continue;
    std::string group = o.path.substr(0, o.path.size() - element.size());
    std::string& to = o.kind == data::H5Object::Kind::repeated ? another_name : found;
    if (to.empty())
      to = std::move(group);
    else if (&to == &found)
      throw data::InputError(data::Diagnostic{
          .number = not_read,
          .place = {path.string()},
          .message = fmt::format("has two groups of particles, {} and {}: a file of one is read",
                                 found, group),
          .hint = "write the one that is meant to a file of its own, or all atoms as one group"});
  }
  return found.empty() ? another_name : found;
}

}  // namespace tessera::molecular
