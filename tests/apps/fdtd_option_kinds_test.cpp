// SPDX-License-Identifier: Apache-2.0
// Tables of several kinds in cases of electromagnetics.fdtd: each kind takes its keys and refuses
// those of the others.
#include "fdtd_options_reading.h"

#include <algorithm>

using namespace tessera::apps::fdtd;
using namespace tessera::data;
using namespace tessera::testing;

TEST(FdtdOptions, EachKindTakesItsKeys) {
  const std::string shapes = fdtd_options().explain("structure");
  for (const char* line : {
           "shape = \"box\": name, material, priority, centre, size, low, high, rotate, repeat\n",
           "shape = \"half_space\": name, material, priority, point*, outward*, rotate, repeat\n",
           "shape = \"sphere\": name, material, priority, centre, radius*, inner_radius, rotate",
           "shape = \"ellipsoid\": name, material, priority, centre, semi_axes*, rotate, repeat\n",
           "shape = \"cylinder\": name, material, priority, centre, radius*, inner_radius, "
           "height*, "
           "axis, rotate, repeat\n",
           "shape = \"cone\": name, material, priority, centre, radius_low*, radius_high*, "
           "height*, axis, rotate, repeat\n",
           "shape = \"prism\": name, material, priority, height*, axis, corners*, base, sidewall, "
           "rotate, repeat\n",
           "shape = \"union\": name, material, priority, parts*, rotate, repeat\n",
       })
    EXPECT_NE(shapes.find(line), std::string::npos) << line << shapes;
  const std::string sources = fdtd_options().explain("source");
  for (const char* line : {
           "kind = \"point\": name, component*, position*, amplitude, waveform*\n",
           "kind = \"plane\": name, component*, position*, size*, amplitude, waveform*\n",
           "kind = \"plane_wave\": name, position, size, direction*, polarization*, amplitude, "
           "waveform*\n",
           "kind = \"beam\": name, position*, size, direction*, polarization*, waist*, focus, "
           "amplitude, waveform*\n",
       })
    EXPECT_NE(sources.find(line), std::string::npos) << line << sources;
  const std::string monitors = fdtd_options().explain("monitor");
  for (const char* line : {
           "kind = \"probe\": name*, position*, components, every, start, end\n",
           "kind = \"flux\": name*, position*, size*, frequencies, frequency_min, frequency_max, "
           "frequency_points, reverse, relative_to, subtract, derivatives\n",
           "kind = \"ldos\": name*, frequencies, frequency_min, frequency_max, frequency_points, "
           "source, derivatives\n",
           "kind = \"resonances\": name*, position*, components, frequency_min*, frequency_max*, "
           "min_quality, max_modes, derivatives, start, end\n",
       })
    EXPECT_NE(monitors.find(line), std::string::npos) << line << monitors;
}

/// Every key of every table, put into a table of each kind that does not take it, is refused at its
/// place.
TEST(FdtdOptions, KeysOfOtherKindsAreRefusedWhereTheyStand) {
  const struct {
    const char* table;
    const char* before;
    const char* after;
  } tables[] = {
      {"structure", "[[structure]]\n", ""},
      {"source", "[[source]]\n", ""},
      {"source.waveform", "[[source]]\nkind = \"point\"\n[source.waveform]\n", ""},
      {"monitor", "[[monitor]]\n", ""},
      {"material.poles", "[[material]]\nname = \"m\"\n[[material.poles]]\n", ""},
  };
  int refused = 0;
  for (const auto& t : tables) {
    const OptionTable& table = *fdtd_options().find(t.table)->table;
    ASSERT_TRUE(table.kind());
    for (const std::string& kind : table.kind()->field.choices)
      for (const OptionSpec& s : table.specs()) {
        const auto& takes = s.field.only_for;
        const bool fits =
            takes.empty() || std::find(takes.begin(), takes.end(), kind) != takes.end();
        const std::string text =
            t.before + table.kind()->key + " = \"" + kind + "\"\n  " + s.key + " = 1\n";
        if (&s == table.kind()) continue;
        const auto line = 2 + static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
        int here = 0;
        for (const Diagnostic& d : fdtd_options().check(parse_config("case.toml", kHead + text)))
          if (d.number == 219) {
            ++here;
            EXPECT_EQ(d.place.line, line - 1) << to_string(d);
            EXPECT_EQ(d.place.column, 3u) << to_string(d);
            EXPECT_NE(d.message.find(s.key + "' is no key of"), std::string::npos) << d.message;
            EXPECT_NE(d.message.find("\"" + takes.at(0) + "\""), std::string::npos) << d.message;
          }
        EXPECT_EQ(here, fits ? 0 : 1) << text;
        refused += here;
      }
  }
  EXPECT_GT(refused, 200);
}
