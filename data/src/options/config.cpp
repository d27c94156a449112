// SPDX-License-Identifier: Apache-2.0
#include "tessera/data/config.h"

#include "files/utf8.h"
#include "options/config_readers.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <span>

namespace tessera::data {
namespace fs = std::filesystem;
namespace {

constexpr TextLimits kLimits{.max_bytes = kMostConfigBytes,
                             .max_line_bytes = kMostConfigBytes,
                             .encoding = Encoding::utf8,
                             .code = ExitCode::config_invalid};
constexpr int kMaxIncludeDepth = 8;
constexpr std::size_t kMaxSources = 64;

[[noreturn]] void refuse(Diagnostic d) { throw InputError(std::move(d), ExitCode::config_invalid); }

bool list_of_tables(const Array& list) {
  return !list.empty() &&
         std::all_of(list.begin(), list.end(), [](const Value& v) { return v.get<Table>(); });
}

/// `over` wins; tables are merged member by member, lists of tables are joined, everything else is
/// replaced. Linear in the number of members.
Table merge(Table base, Table over) {
  Table out;
  out.reserve(base.size() + over.size());
  auto b = base.begin();
  for (Member& m : over) {
    while (b != base.end() && b->key < m.key) out.push_back(std::move(*b++));
    if (b != base.end() && b->key == m.key) {
      Table* below = std::get_if<Table>(&b->value.data);
      Table* above = std::get_if<Table>(&m.value.data);
      Array* first = std::get_if<Array>(&b->value.data);
      Array* second = std::get_if<Array>(&m.value.data);
      if (below && above) {
        m.value.data = merge(std::move(*below), std::move(*above));
      } else if (first && second && list_of_tables(*first) && list_of_tables(*second)) {
        std::move(second->begin(), second->end(), std::back_inserter(*first));
        m.value.data = std::move(*first);
      }
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

class TomlReader {
 public:
  explicit TomlReader(Config& config) : config_(config) {}

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
    if (text.size() > kMostConfigBytes) bad("is too long");
    for (const char c : text)
      if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
        bad("control character in an override");
    for (std::size_t i = 0, n = 0; i < text.size(); i += n)
      if ((n = detail::utf8_length(text, i)) == 0) bad("is not UTF-8");
    const auto source = static_cast<std::uint32_t>(config_.sources.size());
    config_.sources.push_back({.path = "--set " + text, .text = text, .line_starts = {}});

    Value value;
    value.origin = {source, 0, 0};
    value.data = override_value(text.substr(equals + 1), source, bad);
    const std::vector<Step> steps = parse_steps(text.substr(0, equals), bad);
    if (steps[0].name == "include") bad("'include' cannot be overridden");
    put(config_.root, steps, "", std::move(value), bad);
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

  /// One step into the tree: to the member `name`, or to item `index` where the name is empty.
  struct Step {
    std::string name;
    std::size_t index = 0;
  };

  /// "structure[2].radius": three steps.
  template <class Bad>
  static std::vector<Step> parse_steps(std::string_view key, const Bad& bad) {
    std::vector<Step> steps;
    while (!key.empty() || steps.empty()) {
      const std::size_t end = std::min(key.find_first_of(".["), key.size());
      steps.push_back({std::string(key.substr(0, end))});
      if (end == 0 || steps.back().name.find_first_not_of(
                          "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") !=
                          std::string::npos)
        bad("key is misspelt");
      key.remove_prefix(end);
      while (!key.empty() && key[0] == '[') {
        Step step;
        const char* last = key.data() + key.size();
        const auto [stop, ec] = std::from_chars(key.data() + 1, last, step.index);
        if (ec != std::errc() || stop == last || *stop != ']')
          bad("expected the number of an item between brackets, such as structure[0]");
        steps.push_back(std::move(step));
        key.remove_prefix(static_cast<std::size_t>(stop - key.data()) + 1);
      }
      if (steps.size() > detail::kMaxDepth) bad("key has too many parts");
      if (key.empty()) break;
      if (key[0] != '.' || key.size() == 1) bad("key is misspelt");
      key.remove_prefix(1);
    }
    return steps;
  }

  /// Puts `value` where the steps lead, in place of what is there, making the tables on the way.
  /// `path` is what was walked.
  template <class Bad>
  static void put(Value& at, std::span<const Step> steps, const std::string& path, Value value,
                  const Bad& bad) {
    if (steps.empty()) {
      at = std::move(value);
      return;
    }
    const auto& [name, index] = steps[0];
    Array* list = std::get_if<Array>(&at.data);
    if (name.empty()) {
      if (!list) bad("'" + path + "' is no list");
      if (index >= list->size())
        bad("there is no " + path + "[" + std::to_string(index) + "]: '" + path + "' has " +
            std::to_string(list->size()) + " items, counted from 0");
      return put(list->at(index), steps.subspan(1), path + "[" + std::to_string(index) + "]",
                 std::move(value), bad);
    }
    if (list)
      bad("'" + path + "' is a list: name one of its items, such as " + path + "[0]." + name);
    if (!std::holds_alternative<Table>(at.data)) at = {Table(), value.origin};
    Table& table = members(at);
    auto m = std::lower_bound(table.begin(), table.end(), name,
                              [](const Member& a, const std::string& b) { return a.key < b; });
    if (m == table.end() || m->key != name)
      m = table.insert(m, {name, value.origin, {Table(), value.origin}});
    if (steps.size() == 1) m->origin = value.origin;
    put(m->value, steps.subspan(1), path.empty() ? name : path + "." + name, std::move(value), bad);
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

Origin Config::origin(std::string_view key) const {
  const Value* at = &root;
  Origin origin;
  while (!key.empty()) {
    if (key[0] == '[') {
      std::size_t index = 0;
      const char* last = key.data() + key.size();
      const auto [stop, ec] = std::from_chars(key.data() + 1, last, index);
      const Array* list = at->get<Array>();
      if (ec != std::errc() || stop == last || !list || index >= list->size()) break;
      at = &(*list)[index];
      origin = at->origin;
      key.remove_prefix(static_cast<std::size_t>(stop - key.data()) + 1);
      if (!key.empty() && key[0] == '.') key.remove_prefix(1);
      continue;
    }
    const std::size_t end = std::min(key.find_first_of(".["), key.size());
    const Table* table = at->get<Table>();
    const Member* m = table ? find(*table, key.substr(0, end)) : nullptr;
    if (!m) break;
    at = &m->value;
    origin = m->origin;
    key.remove_prefix(end < key.size() && key[end] == '.' ? end + 1 : end);
  }
  return origin;
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
  TomlReader reader(config);
  reader.read_main(path);
  for (const std::string& text : overrides) reader.override_with(text);
  return config;
}

Config parse_config(std::string name, std::string text, ConfigFormat format,
                    const std::vector<std::string>& overrides) {
  Config config;
  TomlReader reader(config);
  reader.read_memory(std::move(name), std::move(text), format);
  for (const std::string& item : overrides) reader.override_with(item);
  return config;
}

}  // namespace tessera::data
