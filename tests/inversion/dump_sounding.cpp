// SPDX-License-Identifier: Apache-2.0
// Prints what the readers make of each file, one JSON object a line, for comparison with another
// reader:
//   dump_sounding [--sign + | -] [--units ohm | field] [--write-edi FOLDER] FILE...
// With --write-edi each is also written to FOLDER/N.edi, N counting from 0.
// Exit code 4 if a file cannot be read; its findings go to stderr.
#include "tessera/inversion/sounding_read.h"
#include "tessera/inversion/sounding_write.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <string>

using namespace tessera;

namespace {

std::string number(double v) { return std::isfinite(v) ? fmt::format("{:.17g}", v) : "null"; }

std::string text(const std::string& s) {
  std::string out = "\"";
  for (const char c : s)
    if (c == '"' || c == '\\')
      out += std::string("\\") + c;
    else if (static_cast<unsigned char>(c) < 0x20)
      out += ' ';
    else
      out += c;
  return out + "\"";
}

template <class List, class Show>
std::string array(const List& list, Show show) {
  std::string out = "[";
  for (const auto& v : list) out += (out.size() > 1 ? "," : "") + show(v);
  return out + "]";
}

std::string complex_number(inversion::Complex z) {
  return "[" + number(z.real()) + "," + number(z.imag()) + "]";
}

template <class Show>
auto nested(Show show) {
  return [show](const auto& row) { return array(row, show); };
}

void dump(const inversion::Sounding& s) {
  const auto optional = [](const std::optional<double>& v) {
    return v ? number(*v) : std::string("null");
  };
  std::string out = "{\"file\":" + text(s.file) + ",\"station\":" + text(s.station) +
                    ",\"format\":" + text(s.format);
  out +=
      ",\"latitude\":" + optional(s.latitude_deg) + ",\"longitude\":" + optional(s.longitude_deg);
  out += ",\"elevation\":" + optional(s.elevation_m);
  out += ",\"frequency\":" + array(s.frequency_hz, number) +
         ",\"azimuth\":" + array(s.azimuth_deg, number);
  out += ",\"impedance\":" + array(s.impedance, nested(nested(complex_number)));
  out += ",\"impedance_error\":" + array(s.impedance_error, nested(nested(number)));
  out += ",\"tipper\":" + array(s.tipper, nested(complex_number));
  out += ",\"tipper_error\":" + array(s.tipper_error, nested(number));
  out += ",\"findings\":" +
         array(s.findings, [](const data::Diagnostic& d) { return text(data::to_string(d)); }) +
         "}\n";
  std::fputs(out.c_str(), stdout);
}

}  // namespace

int main(int argc, char** argv) {
  inversion::ReadOptions options;
  std::string folder;
  int code = 0, n = 0;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i], next = i + 1 < argc ? argv[i + 1] : "";
    if (word == "--sign") {
      options.sign = next == "-" ? inversion::TimeSign::minus : inversion::TimeSign::plus;
      ++i;
    } else if (word == "--units") {
      options.units =
          next == "ohm" ? inversion::ImpedanceUnits::ohm : inversion::ImpedanceUnits::field;
      ++i;
    } else if (word == "--write-edi") {
      folder = next;
      ++i;
    } else {
      try {
        const inversion::Sounding s = inversion::read_sounding(word, options);
        dump(s);
        if (!folder.empty()) inversion::write_edi(fmt::format("{}/{}.edi", folder, n++), s);
      } catch (const data::InputError& e) {
        std::fprintf(stderr, "%s\n", e.what());
        code = static_cast<int>(e.code());
      }
    }
  }
  return code;
}
