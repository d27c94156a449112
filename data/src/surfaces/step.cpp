// SPDX-License-Identifier: Apache-2.0
#include "tessera/data/step.h"

#include "files/guarded_child.h"
#include "surfaces/step_plugin.h"
#include "tessera/autodiff/plugin.h"
#include "tessera/data/binary_file.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <string_view>

namespace tessera::data {
namespace {

/// OpenCASCADE tells the line behind in its text: "Line 31: Incorrect syntax: unexpected ...".
InputError step_error(const std::filesystem::path& path, int number, std::string_view what,
                      std::string hint) {
  Diagnostic d{.number = number, .place = {.file = path.string()}, .hint = std::move(hint)};
  constexpr std::string_view line = "Line ", then = ": ";
  if (const std::size_t at = what.find(line); number == 383 && at != what.npos) {
    const char* first = what.data() + at + line.size();
    std::from_chars(first, what.data() + what.size(), d.place.line);
    if (d.place.line > 1) --d.place.line;
    what.remove_prefix(std::min(what.size(), what.find(then, at) + then.size()));
  }
  d.message = what;
  return InputError(std::move(d));
}

/// A small file that keeps the reader busy for long is made to do so.
ChildLimits step_limits(std::uint64_t file_bytes) {
  constexpr std::uint64_t mib = std::uint64_t{1} << 20, most = std::uint64_t{8} << 30;
  return {.memory_bytes = std::min(most, 512 * mib + 100 * file_bytes),
          .cpu_seconds =
              static_cast<unsigned>(std::min<std::uint64_t>(3600, 6 + 20 * (file_bytes / mib)))};
}

}  // namespace

bool reads_step(std::string* why_not) { return plugin_available("step", why_not); }

StepFile read_step(const std::filesystem::path& path, const Chord& chord) {
  std::uint64_t size = 0;
  {
    const BinaryInput is_a_file(path);
    size = is_a_file.size();
  }
  std::string why_not;
  if (!reads_step(&why_not))
    throw step_error(path, 385, "this build does not read STEP: " + why_not,
                     "install Debian's libocct-data-exchange-dev and build anew, or export STL");
  const auto tessellate =
      reinterpret_cast<TessellateStep>(plugin_function("step", kTessellateStep));
  const std::string answer = run_guarded(path, step_limits(size), [&] {
    std::string bytes;
    StepFailure failure;
    tessellate(
        path.c_str(), chord.metres, chord.share,
        [](void* to, const void* from, std::size_t count) {
          static_cast<std::string*>(to)->append(static_cast<const char*>(from), count);
        },
        &bytes, &failure);
    if (failure.number != 0)
      throw step_error(
          path, failure.number, failure.text,
          failure.number == 383 ? "write it anew" : "write it anew, or give a larger chord");
    return bytes;
  });
  StepSurface surface;
  StepFile out;
  const auto garbled = [&] { return Error("[step] " + path.string() + ": garbled answer"); };
  if (answer.size() < sizeof surface) throw garbled();
  std::memcpy(&surface, answer.data(), sizeof surface);
  if (surface.points > 3 * kMostTriangles || surface.triangles > kMostTriangles ||
      answer.size() != sizeof surface + surface.points * sizeof out.surface.points[0] +
                           surface.triangles * sizeof out.surface.triangles[0])
    throw garbled();
  out.solids = surface.solids;
  out.faces = surface.faces;
  out.unit = std::string(surface.unit, ::strnlen(surface.unit, sizeof surface.unit));
  out.surface.points.resize(surface.points);
  out.surface.triangles.resize(surface.triangles);
  const char* from = answer.data() + sizeof surface;
  if (surface.points > 0)
    std::memcpy(out.surface.points.data(), from, surface.points * sizeof out.surface.points[0]);
  from += surface.points * sizeof out.surface.points[0];
  if (surface.triangles > 0)
    std::memcpy(out.surface.triangles.data(), from,
                surface.triangles * sizeof out.surface.triangles[0]);
  for (const auto& corners : out.surface.triangles)
    for (const std::uint32_t c : corners)
      if (c >= surface.points) throw garbled();
  return out;
}

}  // namespace tessera::data
