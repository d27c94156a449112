// SPDX-License-Identifier: Apache-2.0
#include "tessera/inversion/sounding_read.h"

#include "io/sounding_finish.h"

#include <algorithm>
#include <system_error>

namespace tessera::inversion {
namespace {

constexpr std::size_t most_of_one = std::size_t{8} << 20;  // the largest have about 1 MB

data::TextLimits limits() {
  data::TextLimits l;  // a list has all stations of a survey: hundreds of bytes a datum
  l.encoding = data::Encoding::utf8_or_latin1;
  l.code = data::ExitCode::input_invalid;
  return l;
}

std::vector<Sounding> read_text(const data::TextFile& text, const ReadOptions& options) {
  const std::string format = sniff_sounding_format(text.text);
  if (format != "ModEM" && format != "MARE2DEM" && text.text.size() > most_of_one)
    throw data::InputError(
        text.error(103, 0, "is larger than the 8 MiB that a file of one station may have"));
  std::vector<Sounding> out;
  if (format == "EDI")
    out.push_back(read_edi(text, options));
  else if (format == "EMTF XML")
    out.push_back(read_emtf_xml(text, options));
  else if (format == "Jones J")
    out.push_back(read_jones_j(text, options));
  else if (format == "EMTF Z")
    out.push_back(read_emtf_z(text, options));
  else if (format == "ModEM")
    out = read_modem_list(text, options);
  else if (format == "MARE2DEM")
    out = read_emdata(text, options);
  else
    throw data::InputError(
        text.error(301, 0, "not a magnetotelluric file we know",
                   "known are SEG EDI (>HEAD ...), EMTF XML (<EM_TF>), Jones J, EMTF Z, lists of "
                   "ModEM and data of MARE2DEM"));
  for (Sounding& s : out)
    if (s.station.empty()) {
      s.station = std::filesystem::path(text.path).stem().string();
      s.findings.push_back({.severity = data::Severity::warning,
                            .number = 354,
                            .place = {text.path},
                            .message = "the file names no station; its file name is taken"});
    }
  return out;
}

Sounding only_one(std::vector<Sounding> all, const data::TextFile& text) {
  if (all.size() == 1) return std::move(all.front());
  throw data::InputError(text.error(
      301, 0, "the file holds " + std::to_string(all.size()) + " stations where one is wanted"));
}

/// "gv9" before "gv10".
bool natural_less(const std::string& a, const std::string& b) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  std::size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (digit(a[i]) && digit(b[j])) {
      while (i < a.size() && a[i] == '0') ++i;
      while (j < b.size() && b[j] == '0') ++j;
      std::size_t p = i, q = j;
      while (p < a.size() && digit(a[p])) ++p;
      while (q < b.size() && digit(b[q])) ++q;
      if (p - i != q - j) return p - i < q - j;
      const int order = a.compare(i, p - i, b, j, q - j);
      if (order != 0) return order < 0;
      i = p;
      j = q;
    } else {
      if (a[i] != b[j]) return a[i] < b[j];
      ++i;
      ++j;
    }
  }
  const bool a_done = i == a.size(), b_done = j == b.size();
  return a_done != b_done ? a_done : a < b;
}

/// The first line of a header in ModEM's list: the type of its data.
bool is_modem_type(std::string_view word) {
  const std::string u = upper(word);
  for (const char* end : {"_IMPEDANCE", "_VERTICAL_COMPONENTS", "_INTERSTATION_TF", "_RHO_PHASE",
                          "_VERTICAL_MAGNETIC", "_IMPEDANCE_TIPPER"})
    if (u.ends_with(end)) return true;
  return u == "PHASE_TENSOR";
}

}  // namespace

std::string sniff_sounding_format(std::string_view bytes) {
  const std::string_view head = trim(bytes.substr(0, std::min<std::size_t>(bytes.size(), 1 << 16)));
  if (head.empty()) return {};
  if (head.front() == '<') return "EMTF XML";
  // MARE2DEM's, below empty lines and comments.
  std::string_view begins = head;
  while (!begins.empty() && begins.front() == '!')
    begins = trim(begins.substr(std::min(begins.find('\n'), begins.size())));
  if (upper(begins.substr(0, 7)) == "FORMAT:") {
    const std::string first = upper(begins.substr(0, begins.find('\n')));
    const bool known =
        first.find("EMDATA_") != std::string::npos || first.find("EMRESP_") != std::string::npos;
    return known ? "MARE2DEM" : std::string();
  }
  bool j_marks = false;
  std::size_t words = 0;
  for (std::size_t begin = 0; begin < head.size();) {
    const std::size_t stop = std::min(head.find('\n', begin), head.size());
    const std::string_view line = trim(head.substr(begin, stop - begin));
    begin = stop + 1;
    if (line.empty()) continue;
    if (line.front() == '>') {
      const std::string name = upper(line.substr(1, line.find_first_of(" \t/", 1) - 1));
      for (const char* known :
           {"HEAD", "INFO", "=DEFINEMEAS", "=MTSECT", "=SPECTRASECT", "FREQ", "=EMAPSECT"})
        if (name == known) return "EDI";
      if (line.size() > 1 && line[1] == '!') continue;
      if (is_modem_type(trim(line.substr(1)))) return "ModEM";
      if (line.find('=') != std::string_view::npos) j_marks = true;
      continue;
    }
    if (line.front() == '#') {
      j_marks = true;
      continue;
    }
    const std::string u = upper(line);
    if (words < 12 &&
        (u.find("TRANSFER FUNCTIONS IN") != std::string::npos || u.starts_with("COORDINATE ") ||
         u.find("FULL ERROR COVARIANCE") != std::string::npos))
      return "EMTF Z";
    // A block header such as "ZXY S.I.", "RXY" or "TZX".
    const std::string first = u.substr(0, u.find_first_of(" \t"));
    if (words > 0 && first.size() == 3 &&
        std::string_view("ZRST").find(first[0]) != std::string_view::npos &&
        first.find_first_not_of("XYZRST") == std::string::npos)
      return "Jones J";
    if (++words > 40) break;
  }
  return j_marks && words > 0 ? "Jones J" : std::string();
}

Sounding read_sounding(const std::filesystem::path& file, const ReadOptions& options) {
  const data::TextFile text = data::read_text_file(file, limits());
  return only_one(read_text(text, options), text);
}

Sounding parse_sounding(std::string_view bytes, const std::string& name,
                        const ReadOptions& options) {
  const data::TextFile text = data::make_text_file(name, std::string(bytes), limits());
  return only_one(read_text(text, options), text);
}

std::vector<Sounding> read_stations_of(const std::filesystem::path& file,
                                       const ReadOptions& options) {
  return read_text(data::read_text_file(file, limits()), options);
}

std::vector<Sounding> parse_stations(std::string_view bytes, const std::string& name,
                                     const ReadOptions& options) {
  return read_text(data::make_text_file(name, std::string(bytes), limits()), options);
}

SoundingSet read_soundings(std::span<const std::filesystem::path> files,
                           const ReadOptions& options) {
  SoundingSet out;
  for (const auto& file : files) {
    try {
      for (Sounding& s : read_stations_of(file, options)) out.soundings.push_back(std::move(s));
    } catch (const data::InputError& e) {
      out.rejected_files.push_back(file.string());
      out.errors.insert(out.errors.end(), e.findings().begin(), e.findings().end());
    }
  }
  return out;
}

std::vector<std::filesystem::path> list_sounding_files(const std::filesystem::path& folder) {
  const auto refuse = [&](int number, std::string message, std::string hint = {}) {
    throw data::InputError(data::Diagnostic{.number = number,
                                            .place = {folder.string()},
                                            .message = std::move(message),
                                            .hint = std::move(hint)});
  };
  std::error_code ec;
  std::vector<std::filesystem::path> out;
  std::filesystem::directory_iterator it(folder, ec);
  if (ec) refuse(101, "the folder cannot be read: " + ec.message());
  for (const auto& entry : it) {
    if (entry.path().filename().string().starts_with('.')) continue;  // hidden, such as ._gv9.edi
    const std::string extension = upper(entry.path().extension().string());
    for (const char* known : {".EDI", ".XML", ".J", ".DAT", ".ZMM", ".ZRR", ".ZSS", ".EMDATA"})
      if (extension == known && !entry.is_directory(ec)) out.push_back(entry.path());
  }
  if (out.empty())
    refuse(355,
           "the folder holds no file ending in .edi, .xml, .j, .dat, .zmm, .zrr, .zss or .emdata");
  std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) {
    return natural_less(a.filename().string(), b.filename().string());
  });
  return out;
}

}  // namespace tessera::inversion
