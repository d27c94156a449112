// SPDX-License-Identifier: Apache-2.0
//
// A formatted restart: title, number of atoms and time, six numbers of 12 columns a line: positions
// [A], velocities [A per 1/20.455 ps], box lengths [A] and angles [degree].
#include "base/units.h"
#include "tessera/autodiff/error.h"
#include "tessera/data/file_io.h"
#include "tessera/molecular/amber.h"

#include <fmt/format.h>

namespace tessera::molecular {

std::string amber_restart(const Frame& frame, const std::string& title) {
  constexpr double velocity_unit = 20.455 * angstrom;
  std::string out = title.substr(0, title.find('\n')).substr(0, 80) + "\n" +
                    fmt::format("{:5}{:15.7e}\n", frame.x_nm.size(), frame.time_ps);
  std::size_t column = 0;
  const auto number = [&](double v) {
    const std::string text = fmt::format("{:12.7f}", v);
    if (text.size() > 12 || text.find_first_of("ni") != std::string::npos)
      throw Error(
          fmt::format("[rst7] expected numbers of at most 12 columns, got {}; write .h5md", v));
    out += text;
    if (++column % 6 == 0) out += '\n';
  };
  const auto vectors = [&](const std::vector<Vec3>& list, double unit) {
    for (const Vec3& r : list)
      for (double v : r) number(v / unit);
    if (column % 6 != 0) out += '\n';
    column = 0;
  };
  vectors(frame.x_nm, angstrom);
  vectors(frame.v_nm_ps, velocity_unit);
  if (is_periodic(frame.box)) {
    for (double v : lengths_nm(frame.box)) number(v / angstrom);
    for (double v : angles_deg(frame.box)) number(v);
  }
  return out;
}

Frame read_amber_restart(const std::filesystem::path& path, std::optional<std::size_t> n_atoms,
                         std::optional<Vec3> cell_angles_deg) {
  const data::BinaryInput in(path);
  char head[3] = {};
  if (in.read(0, head, sizeof head) && std::string_view(head, sizeof head) == "CDF")
    return read_amber_netcdf_restart(in, n_atoms);
  return read_amber_restart(data::read_text_file(path), n_atoms, cell_angles_deg);
}

void write_amber_restart(const std::filesystem::path& path, const Frame& frame,
                         const std::string& title) {
  data::write_file_atomically(path, amber_restart(frame, title));
}

}  // namespace tessera::molecular
