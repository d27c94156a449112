// SPDX-License-Identifier: Apache-2.0
#include "info_formats.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "regular_file.h"
#include "tessera/data/checkpoint.h"
#include "tessera/data/config.h"
#include "tessera/data/diagnostic.h"
#include "tessera/data/file_io.h"
#include "tessera/data/hdf5.h"
#include "tessera/data/manifest.h"
#include "tessera/data/metrics.h"
#include "tessera/data/text_reader.h"

namespace tessera::data {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kMaxListed = 1000;  // entries of one list; the rest is counted

InfoNode file_node(const fs::path& path) {
  InfoNode node{path.filename().string(), {}, {}};
  node.add("bytes", static_cast<std::int64_t>(RegularFile(path).size()));
  return node;
}

std::string_view after_blanks(std::string_view text) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  const std::size_t at = text.find_first_not_of(" \t\r\n");
  return at == std::string_view::npos ? std::string_view{} : text.substr(at);
}

// --- HDF5 --------------------------------------------------------------------------------------------------------

InfoNode hdf5_info(const fs::path& path) {
  InfoNode node = file_node(path);
  InfoNode& tree = node.add("objects");
  for (const H5Object& o : list_h5(path)) {
    const std::string shape = shape_text(o.shape);
    std::string what;
    switch (o.kind) {
      case H5Object::Kind::group: what = "group"; break;
      case H5Object::Kind::dataset: what = o.type + ", " + shape + ", stored in " + std::to_string(o.stored_bytes) + " bytes"; break;
      case H5Object::Kind::named_type: what = "type"; break;
      case H5Object::Kind::soft_link: what = "link to " + o.type; break;
      case H5Object::Kind::repeated: what = "an object that stands above already"; break;
    }
    InfoNode& child = tree.add(o.path, what);
    for (const auto& [name, value] : o.attributes) child.add(name, value);
  }
  return node;
}

// --- checkpoints, manifests, run folders ----------------------------------------------------------------------------

InfoNode checkpoint_info(const fs::path& path) {
  const Checkpoint c = read_checkpoint(path);
  InfoNode node = file_node(path);
  node.add("app", c.app);
  node.add("step", static_cast<std::int64_t>(c.step));
  node.add("config_sha256", c.config_sha256);
  InfoNode& inputs = node.add("inputs", static_cast<std::int64_t>(c.inputs.size()));
  for (std::size_t i = 0; i < std::min(c.inputs.size(), kMaxListed); ++i) inputs.add(c.inputs[i].path, c.inputs[i].sha256);
  static constexpr const char* kTypes[] = {"float64", "float32", "int64", "uint64", "uint8", "complex128", "text"};
  InfoNode& values = node.add("values", static_cast<std::int64_t>(c.values.size()));
  for (const auto& [name, value] : c.values) {
    if (values.children.size() == kMaxListed) break;
    const std::string type = kTypes[value.data.index()];
    const auto* text = std::get_if<std::string>(&value.data);
    values.add(name, type + ", " + (text ? std::to_string(text->size()) + " bytes" : shape_text(value.shape)));
  }
  return node;
}

void put_manifest(InfoNode& node, const Manifest& m) {
  node.add("app", m.app);
  node.add("tessera", m.tessera_version + (m.git_hash.empty() ? "" : " " + m.git_hash) + (m.git_dirty ? " (changed)" : ""));
  node.add("host", m.host);
  node.add("cpu", m.cpu);
  node.add("threads", std::int64_t{m.threads});
  node.add("started", m.started);
  node.add("ended", m.ended);
  node.add("resumed", std::int64_t{m.resumed});
  node.add("wall_s", m.wall_s);
  node.add("cpu_s", m.cpu_s);
  node.add("peak_rss_bytes", static_cast<std::int64_t>(m.peak_rss_bytes));
  node.add("exit_code", std::int64_t{m.exit_code});
  node.add("exit_reason", m.exit_reason);
  InfoNode& metrics = node.add("metrics");
  for (const auto& [name, value] : m.metrics) metrics.add(name, value);
  InfoNode& inputs = node.add("inputs", static_cast<std::int64_t>(m.inputs.size()));
  for (std::size_t i = 0; i < std::min(m.inputs.size(), kMaxListed); ++i) inputs.add(m.inputs[i].path, m.inputs[i].sha256);
}

InfoNode manifest_info(const fs::path& path) {
  InfoNode node = file_node(path);
  put_manifest(node, manifest_from_json(read_file(path, 64 << 20), path.string()));
  return node;
}

InfoNode pointer_info(const fs::path& path) {
  InfoNode node = file_node(path);
  node.add("checkpoint", std::string(trim(read_file(path, 4096))));
  return node;
}

// --- configurations ---------------------------------------------------------------------------------------------

void put_value(InfoNode& parent, const std::string& name, const Value& v) {
  InfoNode& node = parent.add(name);
  if (const auto* table = v.get<Table>()) {
    for (const Member& m : *table) put_value(node, m.key, m.value);
  } else if (const auto* list = v.get<Array>()) {
    node.value = "list of " + std::to_string(list->size());
  } else if (const auto* s = v.get<std::string>()) {
    node.value = *s;
  } else if (const auto* d = v.get<double>()) {
    node.value = *d;
  } else if (const auto* i = v.get<std::int64_t>()) {
    node.value = *i;
  } else if (const auto* b = v.get<bool>()) {
    node.value = *b;
  } else if (const auto* t = v.get<Date>()) {
    node.value = t->text;
  }
}

/// What `info` cannot take is a bad input file, even where `run` would call it a bad configuration.
InfoNode toml_info(const fs::path& path) {
  try {
    const Config c = path.extension() == ".toml" ? read_config(path) : parse_config(path.string(), read_text_file(path).text, ConfigFormat::toml);
    if (!c.findings.empty()) throw InputError(ExitCode::input_invalid, c.findings);
    InfoNode node = file_node(path);
    for (const Member& m : c.table()) put_value(node, m.key, m.value);
    return node;
  } catch (const InputError& e) {
    throw InputError(ExitCode::input_invalid, e.findings());
  }
}

// --- CSV --------------------------------------------------------------------------------------------------------

/// Splits one record (RFC 4180) that begins at `at`; moves `at` behind it.
std::vector<std::string> csv_record(const TextFile& file, std::size_t& at) {
  const std::string& text = file.text;
  std::vector<std::string> fields(1);
  const std::size_t begin = at;
  bool quoted = false;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (quoted) {
      if (c != '"') fields.back() += c;
      else if (at + 1 < text.size() && text[at + 1] == '"') fields.back() += text[++at];
      else quoted = false;
    } else if (c == '"' && fields.back().empty()) {
      quoted = true;
    } else if (c == ',') {
      fields.emplace_back();
    } else if (c == '\n') {
      ++at;
      return fields;
    } else {
      fields.back() += c;
    }
  }
  if (quoted) throw InputError(file.error(433, begin, "a quoted field of this record has no end"));
  return fields;
}

struct Range {
  double low = std::numeric_limits<double>::infinity(), high = -std::numeric_limits<double>::infinity();
  bool numbers = true;
  void take(std::string_view field) {
    if (field.starts_with('+')) field.remove_prefix(1);
    double v = 0;
    const auto [end, wrong] = std::from_chars(field.data(), field.data() + field.size(), v);
    numbers &= wrong == std::errc{} && end == field.data() + field.size();
    low = std::min(low, v);
    high = std::max(high, v);
  }
};
void add_columns(InfoNode& node, std::size_t rows, const std::vector<std::string>& names, const std::vector<Range>& ranges) {
  node.add("rows", static_cast<std::int64_t>(rows));
  InfoNode& list = node.add("columns", static_cast<std::int64_t>(names.size()));
  for (std::size_t i = 0; i < std::min(names.size(), kMaxListed); ++i) {
    const Range& r = ranges[i];
    if (r.numbers && r.low <= r.high) list.add(names[i], number_text(r.low) + " to " + number_text(r.high));
    else list.add(names[i]);
  }
}

/// Comments, then a table, and behind a blank line perhaps another (refractiveindex.info writes n and k so).
InfoNode csv_info(const fs::path& path) {
  const TextFile file = read_text_file(path);
  InfoNode node = file_node(path);
  std::size_t at = 0;
  const auto is_blank = [&] { return file.text[at] == '\n'; };
  const auto more = [&] { return at < file.text.size(); };
  while (more() && file.text[at] == '#') {
    const std::size_t end = std::min(file.text.find('\n', at), file.text.size());
    node.add("comment", std::string(trim(std::string_view(file.text).substr(at + 1, end - at - 1))));
    at = end + 1;
  }
  if (!more()) throw InputError(file.error(433, 0, "expected a line with the names of the columns"));
  while (more()) {
    const std::vector<std::string> columns = csv_record(file, at);
    std::vector<Range> ranges(columns.size());
    std::size_t rows = 0;
    while (more() && (columns.size() == 1 || !is_blank())) {
      const std::size_t begin = at;
      const std::vector<std::string> fields = csv_record(file, at);
      if (fields.size() != columns.size())
        throw InputError(file.error(433, begin, "has " + std::to_string(fields.size()) + " fields, the header has " +
                                                    std::to_string(columns.size())));
      for (std::size_t i = 0; i < columns.size(); ++i)
        if (const std::string_view field = trim(fields[i]); !field.empty()) ranges[i].take(field);
      ++rows;
    }
    while (more() && is_blank()) ++at;
    add_columns(node, rows, columns, ranges);
  }
  return node;
}

std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> words;
  for (std::size_t at = 0; (at = line.find_first_not_of(" \t,;", at)) != std::string_view::npos;) {
    const std::size_t end = std::min(line.find_first_of(" \t,;", at), line.size());
    words.emplace_back(line.substr(at, end - at));
    at = end;
  }
  return words;
}
/// A .dat file may be anything: its first row tells.
bool is_columns(std::string_view head, const fs::path& path) {
  if (path.extension() != ".dat") return false;
  for (std::size_t begin = 0; begin < head.size();) {
    const std::size_t end = std::min(head.find('\n', begin), head.size());
    const std::string_view line = trim(head.substr(begin, end - begin));
    begin = end + 1;
    if (line.empty() || line.front() == '#') continue;
    return std::ranges::all_of(words_of(line), [](const std::string& word) {
      Range r;
      r.take(word);
      return r.numbers;
    });
  }
  return false;
}

/// Rows of numbers between blanks, commas or semicolons, with lines of names or comments before them.
InfoNode columns_info(const fs::path& path) {
  const TextFile file = read_text_file(path);
  InfoNode node = file_node(path);
  std::vector<std::string> names;
  std::vector<Range> ranges;
  std::size_t rows = 0;
  for (std::size_t n = 1; n <= file.n_lines(); ++n) {
    const std::string_view line = trim(file.line(n));
    if (line.empty()) continue;
    if (line.front() == '#') {
      node.add("comment", std::string(trim(line.substr(1))));
      continue;
    }
    const std::vector<std::string> words = words_of(line);
    std::vector<Range> of(words.size());
    for (std::size_t i = 0; i < words.size(); ++i) of[i].take(words[i]);
    if (rows == 0 && !std::ranges::all_of(of, &Range::numbers)) {
      names = words;
      continue;
    }
    if (rows++ == 0) ranges.resize(words.size());
    if (words.size() != ranges.size())
      throw InputError(file.error(433, file.line_starts[n - 1], "has " + std::to_string(words.size()) + " columns, the first row has " + std::to_string(ranges.size())));
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (!of[i].numbers) throw InputError(file.error(433, file.line_starts[n - 1], "'" + words[i] + "' is no number"));
      ranges[i].take(words[i]);
    }
  }
  if (rows == 0) throw InputError(file.error(433, 0, "expected rows of numbers"));
  names.resize(ranges.size());
  for (std::size_t i = 0; i < names.size(); ++i)
    if (names[i].empty()) names[i] = "column " + std::to_string(i + 1);
  add_columns(node, rows, names, ranges);
  return node;
}

// --- logs -------------------------------------------------------------------------------------------------------

/// "2026-01-31T12:00:00.000Z warning" and what it says.
bool is_record(std::string_view line) {
  constexpr std::string_view pattern = "0000-00-00T00:00:00.000Z ";
  if (line.size() < pattern.size()) return false;
  for (std::size_t k = 0; k < pattern.size(); ++k)
    if (pattern[k] == '0' ? line[k] < '0' || line[k] > '9' : line[k] != pattern[k]) return false;
  return true;
}
bool is_log(std::string_view head, const fs::path&) { return is_record(head); }

InfoNode log_info(const fs::path& path) {
  const TextFile file = read_text_file(path);
  InfoNode node = file_node(path);
  std::vector<std::pair<std::string, std::int64_t>> levels;
  std::string first, last;
  for (std::size_t n = 1; n <= file.n_lines(); ++n) {
    const std::string_view line = file.line(n);
    if (!is_record(line)) continue;  // a message goes on
    last = std::string(line.substr(0, 24));
    if (first.empty()) first = last;
    const std::string_view rest = trim(line.substr(25));
    const std::string level(rest.substr(0, rest.find(' ')));
    auto at = std::ranges::find(levels, level, &std::pair<std::string, std::int64_t>::first);
    if (at == levels.end()) at = levels.insert(at, {level, 0});
    ++at->second;
  }
  node.add("first", first);
  node.add("last", last);
  for (const auto& [level, n] : levels) node.add(level, n);
  return node;
}

}  // namespace

std::string shape_text(const std::vector<std::uint64_t>& shape) {
  std::string out;
  for (std::uint64_t s : shape) out += (out.empty() ? "" : " x ") + std::to_string(s);
  return out.empty() ? "one value" : out;
}

InfoNode run_folder_info(const fs::path& run) {
  std::error_code ignored;
  if (!fs::is_regular_file(run / "manifest.json", ignored))
    throw InputError(Diagnostic{.number = 402, .place = {run.string()},
                                .message = "a folder without manifest.json: neither a file nor a run folder"});
  InfoNode node{run.filename().empty() ? run.string() : run.filename().string(), {}, {}};
  node.add("format", std::string("run folder"));
  const fs::path file = run / "manifest.json";
  put_manifest(node, manifest_from_json(read_file(file, 64 << 20), file.string()));
  std::vector<std::pair<std::string, std::int64_t>> files;
  for (fs::recursive_directory_iterator it(run, ignored), end; !ignored && it != end && files.size() < kMaxListed; it.increment(ignored))
    if (it->is_regular_file(ignored))
      files.emplace_back(it->path().lexically_relative(run).string(), static_cast<std::int64_t>(it->file_size(ignored)));
  std::sort(files.begin(), files.end());
  InfoNode& list = node.add("files", static_cast<std::int64_t>(files.size()));
  for (const auto& [name, bytes] : files) list.add(name, bytes);
  return node;
}

std::vector<FileFormat> own_formats() {
  return {
      {.name = "HDF5", .summary = "results.h5 and other HDF5 files", .extensions = {".h5", ".hdf5", ".hdf", ".vtkhdf"},
       .sniff = [](std::string_view head, const fs::path&) { return head.starts_with("\x89HDF\r\n\x1a\n"); },
       .summarize = hdf5_info, .priority = 10},
      {.name = "checkpoint", .summary = "state of a run (RUN/ckpt)", .extensions = {".ckpt"},
       .sniff = [](std::string_view head, const fs::path&) { return head.starts_with("Tessera ckpt"); },
       .summarize = checkpoint_info, .priority = 10},
      {.name = "npy", .summary = "NumPy array", .extensions = {".npy"},
       .sniff = [](std::string_view head, const fs::path&) { return head.starts_with("\x93NUMPY"); },
       .summarize = npy_info, .priority = 10},
      {.name = "PNG", .summary = "plots and pictures", .extensions = {".png"},
       .sniff = [](std::string_view head, const fs::path&) { return head.starts_with("\x89PNG\r\n\x1a\n"); },
       .summarize = png_info, .priority = 10},
      {.name = "SVG", .summary = "plots and drawings", .extensions = {".svg"},
       .sniff = [](std::string_view head, const fs::path&) { return head.find("<svg") != std::string_view::npos; },
       .summarize = svg_info, .priority = 20},
      {.name = "log", .summary = "log.txt of a run", .extensions = {},
       .sniff = is_log, .summarize = log_info, .priority = 20},
      {.name = "VTK XML", .summary = "VTK XML grids", .extensions = {".vti", ".vtr", ".vtu", ".vtp", ".vts", ".pvd"},
       .sniff = [](std::string_view head, const fs::path&) { return head.find("<VTKFile") != std::string_view::npos; },
       .summarize = vtk_xml_info, .priority = 20},
      {.name = "manifest", .summary = "manifest.json of a run", .extensions = {},
       .sniff = [](std::string_view, const fs::path& path) { return path.filename() == "manifest.json"; },
       .summarize = manifest_info, .priority = 20},
      {.name = "pointer", .summary = "name of the newest checkpoint (RUN/ckpt/LATEST)", .extensions = {},
       .sniff = [](std::string_view head, const fs::path& path) { return path.filename() == "LATEST" && trim(head).ends_with(".ckpt"); },
       .summarize = pointer_info, .priority = 20},
      {.name = "JSON", .summary = "configuration or other JSON", .extensions = {".json"},
       .sniff = [](std::string_view head, const fs::path&) { return after_blanks(head).starts_with("{"); },
       .summarize = json_info, .priority = 90},
      {.name = "TOML", .summary = "configuration", .extensions = {".toml"}, .summarize = toml_info, .priority = 90},
      {.name = "CSV", .summary = "comma-separated table", .extensions = {".csv"}, .summarize = csv_info, .priority = 90},
      {.name = "columns", .summary = "numbers in columns", .extensions = {".txt"}, .sniff = is_columns, .summarize = columns_info, .priority = 90},
  };
}

}  // namespace tessera::data
