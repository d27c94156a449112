// SPDX-License-Identifier: Apache-2.0
#include "tessera/data/config.h"

#include "config_readers.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>

namespace tessera::data {
namespace fs = std::filesystem;
namespace {

constexpr TextLimits kLimits{.max_bytes = std::size_t{1} << 19,
                             .encoding = Encoding::utf8,
                             .code = ExitCode::config_invalid};
constexpr int kMaxIncludeDepth = 8;
constexpr std::size_t kMaxSources = 64;

[[noreturn]] void refuse(Diagnostic d) { throw InputError(std::move(d), ExitCode::config_invalid); }

/// `over` wins; tables are merged member by member, everything else is replaced. Linear in the
/// number of members.
Table merge(Table base, Table over) {
  Table out;
  out.reserve(base.size() + over.size());
  auto b = base.begin();
  for (Member& m : over) {
    while (b != base.end() && b->key < m.key) out.push_back(std::move(*b++));
    if (b != base.end() && b->key == m.key) {
      Table* below = std::get_if<Table>(&b->value.data);
      Table* above = std::get_if<Table>(&m.value.data);
      if (below && above) m.value.data = merge(std::move(*below), std::move(*above));
      ++b;
    }
    out.push_back(std::move(m));
  }
  std::move(b, base.end(), std::back_inserter(out));
  return out;
}

Table& members(Value& v) { return std::get<Table>(v.data); }

/// True where `path` lies in `folder` or below it; both canonical.
bool inside(const fs::path& folder, const fs::path& path) {
  const auto [f, p] = std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
  return f == folder.end() && p != path.end();
}

class Reader {
 public:
  explicit Reader(Config& config) : config_(config) {}

  void read_main(const fs::path& path) {
    TextFile text = read_text_file(path, kLimits);
    config_.folder = fs::absolute(path).parent_path();
    root_folder_ = fs::canonical(config_.folder);
    chain_.push_back(fs::canonical(path));
    config_.root = read(std::move(text),
                        path.extension() == ".json" ? ConfigFormat::json : ConfigFormat::toml, 0);
  }

  void read_memory(std::string name, std::string bytes, ConfigFormat format) {
    config_.folder = fs::current_path();
    config_.root = read(make_text_file(std::move(name), std::move(bytes), kLimits), format, 0);
  }

  void override_with(const std::string& text) {
    const auto bad = [&](std::string message) {
      refuse({.number = 217,
              .place = {"--set " + detail::in_quotes(text)},
              .message = std::move(message),
              .hint = "write --set section.key=value"});
    };
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
      bad("expected KEY=VALUE");
    if (text.size() > 65536) bad("is too long");
    for (const char c : text)
      if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
        bad("control character in an override");
    const auto source = static_cast<std::uint32_t>(config_.sources.size());
    config_.sources.push_back({.path = "--set " + text, .text = text, .line_starts = {}});

    Value value;
    value.origin = {source, 0, 0};
    value.data = override_value(text.substr(equals + 1), source, bad);
    std::vector<std::string> parts(1);
    for (const char c : text.substr(0, equals)) {
      if (c == '.')
        parts.emplace_back();
      else
        parts.back() += c;
    }
    if (parts.size() > detail::kMaxDepth) bad("key has too many parts");
    for (const std::string& part : parts)
      if (part.empty() || part.find_first_not_of(
                              "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") !=
                              std::string::npos)
        bad("key is misspelt");
    if (parts[0] == "include") bad("'include' cannot be overridden");
    for (std::size_t i = parts.size(); i-- > 0;) {
      Value table;
      table.origin = {source, 0, 0};
      Table one;
      one.push_back({parts[i], {source, 0, 0}, std::move(value)});
      table.data = std::move(one);
      value = std::move(table);
    }
    config_.root.data = merge(std::move(members(config_.root)), std::move(members(value)));
  }

 private:
  Value read(TextFile text, ConfigFormat format, int depth) {
    const auto source = static_cast<std::uint32_t>(config_.sources.size());
    config_.sources.push_back(std::move(text));
    const TextFile& file = config_.sources.back();
    Value own = format == ConfigFormat::json ? detail::read_json(file, source, config_.findings)
                                             : detail::read_toml(file, source, config_.findings);
    Table& table = std::get<Table>(own.data);
    const auto at = std::find_if(table.begin(), table.end(),
                                 [](const Member& m) { return m.key == "include"; });
    if (at == table.end()) return own;
    const Member include = std::move(*at);
    table.erase(at);

    Table merged;
    const Array* list = include.value.get<Array>();
    if (!list)
      refuse(config_.error(
          210, include.value.origin,
          std::string("'include' must be a list of strings, got ") + include.value.kind()));
    for (const Value& item : *list) {
      const auto* name = item.get<std::string>();
      if (!name)
        refuse(
            config_.error(210, item.origin,
                          std::string("'include' must be a list of strings, got ") + item.kind()));
      Value below = included(*name, item.origin, depth);
      merged = merge(std::move(merged), std::move(members(below)));
    }
    own.data = merge(std::move(merged), std::move(table));
    return own;
  }

  Value included(const std::string& name, const Origin& at, int depth) {
    if (chain_.empty())
      refuse(config_.error(120, at, "text that is not a file cannot include files"));
    if (depth + 1 > kMaxIncludeDepth || config_.sources.size() >= kMaxSources)
      refuse(config_.error(122, at, "too many included files", "at most 8 levels and 64 files"));
    const fs::path given(name);
    const bool climbs =
        std::any_of(given.begin(), given.end(), [](const fs::path& part) { return part == ".."; });
    if (name.empty() || given.is_absolute() || climbs || name.find('\0') != std::string::npos)
      refuse(config_.error(
          120, at,
          "include " + detail::in_quotes(name) + " leads out of the folder of the configuration",
          "name a file in this folder or below it, without '..'"));
    const fs::path shown = fs::path(config_.sources[at.source].path).parent_path() / given;
    std::error_code ec;
    const fs::path real = fs::canonical(shown, ec);
    if (ec)
      refuse(config_.error(
          101, at, "include " + detail::in_quotes(name) + " cannot be opened: " + ec.message()));
    if (!inside(root_folder_, real))
      refuse(config_.error(120, at,
                           "include " + detail::in_quotes(name) +
                               " is a link that leads out of the folder of the configuration"));
    if (std::find(chain_.begin(), chain_.end(), real) != chain_.end())
      refuse(config_.error(121, at, "include " + detail::in_quotes(name) + " closes a circle"));
    chain_.push_back(real);
    TextFile text = read_text_file(real, kLimits);
    text.path = shown.string();
    Value v =
        read(std::move(text),
             given.extension() == ".json" ? ConfigFormat::json : ConfigFormat::toml, depth + 1);
    chain_.pop_back();
    return v;
  }

  /// `true`, `5`, `2.5`, TOML strings and lists are what they look like; anything else is a string
  /// (`2fs`).
  template <class Bad>
  decltype(Value::data) override_value(const std::string& text, std::uint32_t source,
                                       const Bad& bad) {
    if (text == "true" || text == "false") return text == "true";
    const char* end = text.data() + text.size();
    std::int64_t i = 0;
    if (const auto r = std::from_chars(text.data(), end, i); r.ec == std::errc() && r.ptr == end)
      return i;
    const bool numeric = text.find_first_not_of("0123456789+-.eE") == std::string::npos;
    double d = 0;
    if (const auto r = std::from_chars(text.data(), end, d); numeric && r.ptr == end) {
      if (r.ec != std::errc() || !std::isfinite(d)) bad("the number is out of range");
      return d;
    }
    if (text.find_first_of("\"'[{") != 0) return text;
    const TextFile line = make_text_file("--set", "v = " + text, kLimits);
    Value tree;
    try {
      tree = detail::read_toml(line, source, config_.findings);
    } catch (const InputError& e) {
      bad("the value is no TOML: " + e.findings().at(0).message);
    }
    const Member* v = find(*tree.get<Table>(), "v");
    Value out = v->value;
    clear_places(out);
    return std::move(out.data);
  }

  static void clear_places(Value& v) {
    v.origin.line = v.origin.column = 0;
    if (auto* list = std::get_if<Array>(&v.data))
      for (Value& item : *list) clear_places(item);
    if (auto* table = std::get_if<Table>(&v.data)) {
      for (Member& m : *table) {
        m.origin.line = m.origin.column = 0;
        clear_places(m.value);
      }
    }
  }

  Config& config_;
  fs::path root_folder_;
  std::vector<fs::path> chain_;
};

}  // namespace

const char* Value::kind() const {
  static constexpr const char* names[] = {"a boolean", "an integer", "a number", "a string",
                                          "a date",    "a list",     "a table"};
  return names[data.index()];
}

const Member* find(const Table& table, std::string_view key) {
  const auto at = std::lower_bound(table.begin(), table.end(), key,
                                   [](const Member& m, std::string_view k) { return m.key < k; });
  return at != table.end() && at->key == key ? &*at : nullptr;
}

std::string Config::app() const {
  const Member* m = find(table(), "app");
  if (!m) {
    Diagnostic d = error(201, {0, 1, 1}, "the key 'app' is missing: which app is this for?",
                         "e.g. app = \"inversion.mt1d\"; `tessera list apps`");
    d.source_line.clear();
    refuse(std::move(d));
  }
  const auto* name = m->value.get<std::string>();
  if (!name)
    refuse(
        error(201, m->value.origin, std::string("'app' must be a string, got ") + m->value.kind()));
  return *name;
}

Diagnostic Config::error(int number, const Origin& at, std::string message,
                         std::string hint) const {
  const TextFile& file = sources.at(at.source);
  return {.number = number,
          .place = {file.path, at.line, at.column, {}},
          .message = std::move(message),
          .hint = std::move(hint),
          .source_line = std::string(file.line(at.line).substr(0, std::size_t{1} << 16))};
}

namespace detail {

const Member* sort_members(Table& table) {
  std::stable_sort(table.begin(), table.end(),
                   [](const Member& a, const Member& b) { return a.key < b.key; });
  const auto twice = std::adjacent_find(
      table.begin(), table.end(), [](const Member& a, const Member& b) { return a.key == b.key; });
  return twice == table.end() ? nullptr : &*(twice + 1);
}

std::string in_quotes(std::string_view text) {
  std::string out = "'";
  std::size_t n = std::min<std::size_t>(text.size(), 80);
  while (n > 0 && n < text.size() && (static_cast<unsigned char>(text[n]) & 0xc0u) == 0x80u) --n;
  for (const char c : text.substr(0, n))
    out += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
  return out + (n < text.size() ? "..." : "") + "'";
}

}  // namespace detail

Config read_config(const fs::path& path, const std::vector<std::string>& overrides) {
  Config config;
  Reader reader(config);
  reader.read_main(path);
  for (const std::string& text : overrides) reader.override_with(text);
  return config;
}

Config parse_config(std::string name, std::string text, ConfigFormat format,
                    const std::vector<std::string>& overrides) {
  Config config;
  Reader reader(config);
  reader.read_memory(std::move(name), std::move(text), format);
  for (const std::string& item : overrides) reader.override_with(item);
  return config;
}

}  // namespace tessera::data
