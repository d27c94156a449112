// SPDX-License-Identifier: Apache-2.0
#include "io/top_preprocessor.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

namespace tessera::molecular {
namespace {

namespace fs = std::filesystem;
using data::shown;

constexpr std::size_t most_levels = 32, most_files = 1000;  // of includes
constexpr std::size_t
    free_bytes = std::size_t{64} << 20,
    most_times =
        4;  // of files that are included again and again: so much, and so often all of them
constexpr std::size_t most_depth = 16,
                      most_grown = 1000;  // of macros in macros, their words in one line
constexpr std::size_t most_grown_in_all = 10'000'000;
constexpr std::size_t most_errors = 50, most_remarks = 200;

/// "included from topol.top:7, from main.top:3"
std::string chain(const TopSource* source) {
  std::string out;
  for (; source && source->parent; source = source->parent)
    out += fmt::format("{}{}:{}", out.empty() ? "included from " : ", from ",
                       source->parent->text->path,
                       source->parent->text->place(source->include_offset).line);
  return out;
}

bool is_beneath(const fs::path& path, const fs::path& folder) {
  // A folder that could not be made out (links in a circle) is an empty path, and nothing lies
  // beneath it.
  return !folder.empty() &&
         std::mismatch(folder.begin(), folder.end(), path.begin(), path.end()).first ==
             folder.end();
}

}  // namespace

void TopFindings::error(int number, const TopWord& at, std::string message, std::string hint) {
  const std::string from = chain(at.source);
  if (!from.empty()) hint += (hint.empty() ? "" : "; ") + from;
  errors_.push_back(at.source->text->error(number, at.offset, std::move(message), std::move(hint)));
  if (errors_.size() >= most_errors) throw_if_errors();
}
void TopFindings::remark(data::Severity severity, int number, const TopWord& at,
                         std::string message, std::string hint) {
  if (remarks_.size() >= most_remarks) return;
  remarks_.push_back(
      at.source->text->error(number, at.offset, std::move(message), std::move(hint)));
  remarks_.back().severity = severity;
}
void TopFindings::warn(int number, const TopWord& at, std::string message, std::string hint) {
  remark(data::Severity::warning, number, at, std::move(message), std::move(hint));
}
void TopFindings::note(int number, const TopWord& at, std::string message, std::string hint) {
  remark(data::Severity::note, number, at, std::move(message), std::move(hint));
}
void TopFindings::throw_if_errors() {
  if (!errors_.empty()) throw data::InputError(data::ExitCode::input_invalid, std::move(errors_));
}

std::optional<double> TopFindings::number(const TopWord& word) {
  data::Findings one(*word.source->text);
  const std::optional<double> v =
      data::parse_number({word.text, word.offset}, data::Exponent::e_only, one);
  if (v) return v;
  try {
    one.throw_if_errors();
  } catch (const data::InputError& e) {
    error(e.findings().front().number, word, e.findings().front().message,
          e.findings().front().hint);
  }
  return std::nullopt;
}

std::optional<std::int64_t> TopFindings::integer(const TopWord& word, std::int64_t least,
                                                 std::int64_t most, std::string_view what) {
  std::int64_t v = 0;
  const std::string_view s =
      word.text.starts_with('+') && !word.text.starts_with("+-") ? word.text.substr(1) : word.text;
  const auto [end, code] = std::from_chars(s.data(), s.data() + s.size(), v);
  if (s.empty() || end != s.data() + s.size() || code == std::errc::invalid_argument) {
    error(303, word, fmt::format("expected {} (a whole number), got {}", what, shown(word.text)));
    return std::nullopt;
  }
  if (code != std::errc{} || v < least || v > most) {
    error(702, word,
          fmt::format("{} must lie in {} to {}, got {}", what, least, most, shown(word.text)));
    return std::nullopt;
  }
  return v;
}

bool TopFindings::parameters(const TopLine& line, std::size_t first, const TopCounts& counts,
                             double* out) {
  const auto a = static_cast<std::size_t>(counts.a), both = a + static_cast<std::size_t>(counts.b);
  std::size_t got = line.size() - std::min(first, line.size());
  if (counts.ends_in_0 && got == a + 1) {
    const std::optional<double> last = number(line.back());
    if (last && *last != 0) error(703, line.back(), counts.ends_in_0);
    if (!last || *last != 0) return false;
    got = a;
  }
  if (got != a && got != both) {
    error(701, got < a ? line.back() : line[first + (got < both ? a : both)],
          fmt::format("expected {} parameters{}, got {}", a,
                      both > a ? fmt::format(", or {} with those of a B state", both) : "", got));
    return false;
  }
  bool good = true;
  for (std::size_t k = 0; k < got; ++k) {
    const std::optional<double> v = number(line[first + k]);
    good = good && v;
    if (k < a)
      out[k] = v.value_or(0);
    else if (v && *v != out[k - a])
      b_state(line[first + k]);
  }
  return good;
}

void TopFindings::b_state(const TopWord& at) {
  if (std::exchange(told_b_state_, true)) return;
  warn(703, at,
       "parameters of a B state differ from those of A; the system is that of state A, here and "
       "wherever else");
}

TopPreprocessor::TopPreprocessor(data::TextFile root, const std::vector<fs::path>& folders,
                                 const std::vector<std::string>& defines, TopFindings& findings)
    : findings_(findings), folders_(folders) {
  const fs::path path = root.path,
                 beside = path.has_parent_path() ? path.parent_path() : fs::path(".");
  std::error_code ignored;
  allowed_.push_back(fs::weakly_canonical(beside, ignored));
  for (const fs::path& f : folders) allowed_.push_back(fs::weakly_canonical(f, ignored));
  sources_.push_back({std::make_shared<const data::TextFile>(std::move(root)),
                      fs::weakly_canonical(path, ignored), nullptr, 0});
  levels_.push_back({&sources_.back(), 1, {}});
  for (const std::string& d : defines) {
    const std::size_t equals = d.find('=');
    define(d.substr(0, equals), equals == std::string::npos ? "" : d.substr(equals + 1), true);
  }
}

bool TopPreprocessor::active() const {
  const std::vector<Condition>& c = levels_.back().conditions;
  return c.empty() || (c.back().outer && c.back().taken);
}

TopWord TopPreprocessor::end() const {
  const TopSource& root = sources_.front();
  return {"", &root, root.text->text.empty() ? 0 : root.text->text.size() - 1};
}

std::vector<fs::path> TopPreprocessor::files() const {
  std::vector<fs::path> out;
  for (const TopSource& s : sources_)
    if (std::ranges::find(out, fs::path(s.text->path)) == out.end()) out.push_back(s.text->path);
  return out;
}

std::vector<std::string> TopPreprocessor::unused_defines() const {
  std::vector<std::string> out;
  for (const auto& [name, m] : macros_)
    if (m.from_outside && !m.used) out.push_back(name);
  std::ranges::sort(out);
  return out;
}

/// Words of the next line; those that a backslash joins are one.
void TopPreprocessor::read_words(TopLine& out) {
  Level& level = levels_.back();
  const data::TextFile& text = *level.source->text;
  out.clear();
  bool comment = false;
  while (level.next_line <= text.n_lines()) {
    const std::size_t begin = text.line_starts[level.next_line - 1];
    std::string_view line = text.line(level.next_line++);
    const std::size_t last = line.find_last_not_of(" \t\f");
    const bool goes_on = last != std::string_view::npos && line[last] == '\\';
    if (goes_on) line = line.substr(0, last);
    if (!comment) {
      const std::size_t semicolon = line.find(';');
      comment = semicolon != std::string_view::npos;
      const std::vector<data::Token> words =
          data::split_tokens(text.text, begin, begin + std::min(semicolon, line.size()));
      for (const data::Token& t : words) out.push_back({t.text, level.source, t.offset});
      if (words.size() > data::kMostItems) {
        findings_.error(701, out.back(),
                        fmt::format("more than {} words in one line", data::kMostItems),
                        "break the line; one that ends in a backslash goes on in the next");
        findings_.throw_if_errors();
      }
    }
    if (!goes_on) return;
  }
}

bool TopPreprocessor::next(TopLine& line) {
  TopLine raw;
  while (!levels_.empty()) {
    Level& level = levels_.back();
    if (level.next_line > level.source->text->n_lines()) {
      for (const Condition& c : level.conditions)
        findings_.error(721, c.at, fmt::format("#{} has no #endif in this file", c.at.text));
      levels_.pop_back();
      continue;
    }
    read_words(raw);
    if (raw.empty()) continue;
    if (raw.front().text.front() == '#') {
      if (raw.front().text == "#" && raw.size() > 1) {  // "# define"
        raw.erase(raw.begin());
      } else {
        raw.front().text.remove_prefix(1);
      }
      directive(raw);
      continue;
    }
    if (!active()) continue;
    if (macros_.empty())
      line.swap(raw);
    else if (!expand(raw, line))
      continue;
    return true;
  }
  return false;
}

void TopPreprocessor::directive(const TopLine& line) {
  const std::string_view name = line.front().text;
  std::vector<Condition>& conditions = levels_.back().conditions;
  const auto needs_a_name = [&] {
    if (line.size() >= 2) return true;
    findings_.error(721, line.front(), fmt::format("expected a name after #{}", name));
    return false;
  };
  const TopWord& at = line.front();
  if (name == "ifdef" || name == "ifndef") {
    Macro* const m = line.size() >= 2 ? find(line[1].text) : nullptr;
    if (active() && !needs_a_name()) return conditions.push_back({false, false, false, at});
    conditions.push_back({(m != nullptr) == (name == "ifdef"), active(), false, at});
  } else if (name == "else") {
    if (conditions.empty() || conditions.back().in_else) {
      findings_.error(721, at,
                      conditions.empty() ? "#else without #ifdef" : "a second #else of one #ifdef");
      return;
    }
    conditions.back().in_else = true;
    conditions.back().taken = !conditions.back().taken;
  } else if (name == "endif") {
    if (conditions.empty())
      findings_.error(721, at, "#endif without #ifdef");
    else
      conditions.pop_back();
  } else if (!active()) {
    return;
  } else if (name == "include") {
    include(line);
  } else if (name == "define") {
    if (!needs_a_name()) return;
    std::string value;
    for (std::size_t k = 2; k < line.size(); ++k)
      value.append(k > 2 ? " " : "").append(line[k].text);
    define(std::string(line[1].text), std::move(value), false);
  } else if (name == "undef") {
    if (!needs_a_name()) return;
    macros_.erase(std::string(line[1].text));
  } else if (name == "error") {
    std::string what;
    for (std::size_t k = 1; k < line.size(); ++k)
      what.append(k > 1 ? " " : "").append(line[k].text);
    findings_.error(721, at, "the topology says: " + shown(what));
  } else {
    findings_.error(721, at, "unknown directive " + shown("#" + std::string(name)),
                    "GROMACS knows #include, #define, #undef, #ifdef, #ifndef, #else and #endif");
  }
}

void TopPreprocessor::define(const std::string& name, std::string value, bool from_outside) {
  const std::string& kept = values_.emplace_back(std::move(value));
  Macro m{{}, from_outside, false};
  for (const data::Token& t : data::split_tokens(kept, 0, kept.size())) m.words.push_back(t.text);
  macros_[name] = std::move(m);
}

TopPreprocessor::Macro* TopPreprocessor::find(std::string_view name) {
  const auto at = macros_.find(std::string(name));
  if (at == macros_.end()) return nullptr;
  at->second.used = true;
  return &at->second;
}

/// Whether the line can be read: a fault of a macro is told, and what it leaves is no line.
bool TopPreprocessor::expand(const TopLine& line, TopLine& out) {
  out.clear();
  std::vector<const Macro*> inside;
  const std::size_t most = line.size() + most_grown;
  return std::ranges::all_of(line, [&](const TopWord& w) { return expand(w, most, inside, out); });
}

bool TopPreprocessor::expand(const TopWord& word, std::size_t most,
                             std::vector<const Macro*>& inside, TopLine& out) {
  const auto fault = [&](const std::string& what) {
    findings_.error(721, word, fmt::format("the macro {} {}", shown(word.text), what));
    return false;
  };
  const Macro* const m = find(word.text);
  if (!m || m->words.empty()) {  // what has no value is there to be asked for, and stays as it is
    if (!inside.empty() && ++grown_ > most_grown_in_all) {
      fault(fmt::format("and others make more than {} words", most_grown_in_all));
      findings_.throw_if_errors();
    }
    if (out.size() >= most)
      return fault(fmt::format("makes more than {} words of this line", most_grown));
    out.push_back(word);
    return true;
  }
  if (std::ranges::find(inside, m) != inside.end()) return fault("leads back to itself");
  if (inside.size() >= most_depth)
    return fault(fmt::format("lies more than {} macros deep", most_depth));
  inside.push_back(m);
  for (const std::string_view w : m->words)
    if (!expand({w, word.source, word.offset}, most, inside, out)) return false;
  inside.pop_back();
  return true;
}

void TopPreprocessor::include(const TopLine& line) {
  const TopWord& at = line.size() > 1 ? line[1] : line[0];
  std::string name;
  for (std::size_t k = 1; k < line.size(); ++k) name.append(k > 1 ? " " : "").append(line[k].text);
  const bool quoted = name.size() > 2 && ((name.front() == '"' && name.back() == '"') ||
                                          (name.front() == '<' && name.back() == '>'));
  if (!quoted) {
    findings_.error(721, at, "expected #include \"file\", got " + shown(name));
    return;
  }
  const fs::path wanted = name.substr(1, name.size() - 2);
  if (wanted.is_absolute()) {
    findings_.error(720, at, "an #include may not name an absolute path: " + shown(wanted.string()),
                    "give its folder as an include folder, and the file relative to it");
    return;
  }
  const fs::path self = at.source->text->path;
  std::vector<fs::path> folders = {self.has_parent_path() ? self.parent_path() : fs::path(".")};
  folders.insert(folders.end(), folders_.begin(), folders_.end());
  std::string looked;
  for (const fs::path& folder : folders) {
    std::error_code failed;
    const fs::path path = folder / wanted, real = fs::weakly_canonical(path, failed);
    looked += (looked.empty() ? "" : ", ") + shown(folder.string());
    if (failed || !fs::exists(real, failed)) continue;
    if (std::ranges::none_of(allowed_,
                             [&](const fs::path& folder) { return is_beneath(real, folder); })) {
      findings_.error(720, at,
                      shown(wanted.string()) +
                          " leads out of the folder of the topology and of the include folders",
                      "give its folder as an include folder, if it is to be trusted");
      return;
    }
    open(at, path);
    return;
  }
  findings_.error(720, at, "there is no file " + shown(wanted.string()),
                  "looked in " + looked + "; other folders are given as include folders");
}

void TopPreprocessor::open(const TopWord& at, const fs::path& path) {
  std::error_code ignored;
  const fs::path real = fs::weakly_canonical(path, ignored);
  for (const Level& level : levels_)
    if (level.source->real == real) {
      findings_.error(720, at, shown(path.string()) + " includes itself");
      return;
    }
  if (levels_.size() >= most_levels || sources_.size() >= most_files) {
    findings_.error(720, at,
                    levels_.size() >= most_levels
                        ? fmt::format("more than {} files include each other", most_levels)
                        : fmt::format("more than {} files are included", most_files));
    findings_.throw_if_errors();
  }
  std::shared_ptr<const data::TextFile>& text = cache_[real];
  const bool fresh = !text;
  if (fresh) try {
      text = std::make_shared<const data::TextFile>(data::read_text_file(path.lexically_normal()));
    } catch (const data::InputError& e) {
      if (e.findings().front().number == 107) return;  // an empty file says nothing
      findings_.error(e.findings().front().number, at,
                      path.string() + ": " + e.findings().front().message);
      return;
    }
  included_ += text->text.size();
  if (fresh) distinct_ += text->text.size();
  if (included_ > free_bytes + most_times * distinct_) {
    findings_.error(720, at,
                    fmt::format("files are included again and again: {} MiB so far, of {} KiB",
                                included_ >> 20, (distinct_ >> 10) + 1));
    findings_.throw_if_errors();
  }
  sources_.push_back({text, real, at.source, at.offset});
  levels_.push_back({&sources_.back(), 1, {}});
}

}  // namespace tessera::molecular
