// SPDX-License-Identifier: Apache-2.0
//
// A topology's lines as its sections see them: includes followed, conditions decided, macros
// replaced by their values. Every word keeps its place in the file that it came from.
#pragma once
#include "tessera/data/text_reader.h"

#include <cstdint>
#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tessera::molecular {

/// A file as one #include reached it.
struct TopSource {
  std::shared_ptr<const data::TextFile> text;
  std::filesystem::path real;         ///< without links
  const TopSource* parent = nullptr;  ///< the including file
  std::size_t include_offset = 0;     ///< in the parent
};

struct TopWord {
  std::string_view text;  ///< what a macro stands for, where it is one
  const TopSource* source = nullptr;
  std::size_t offset = 0;
};
using TopLine = std::vector<TopWord>;

/// How many numbers a line has: those of state A, and behind them none or those of state B.
struct TopCounts {
  int a, b;
  const char* ends_in_0 =
      nullptr;  ///< a further number of A, if it is there, is 0; else this is said
};

/// Findings of many files.
class TopFindings {
 public:
  void error(int number, const TopWord& at, std::string message, std::string hint = {});
  void warn(int number, const TopWord& at, std::string message, std::string hint = {});
  void note(int number, const TopWord& at, std::string message, std::string hint = {});
  bool has_errors() const { return !errors_.empty(); }
  void throw_if_errors();
  std::vector<data::Diagnostic> take_remarks() { return std::move(remarks_); }

  /// A finite number; reports E0303.
  std::optional<double> number(const TopWord& word);
  /// A whole number from `least` to `most`; reports E0303 or E0702. `what` names it.
  std::optional<std::int64_t> integer(const TopWord& word, std::int64_t least, std::int64_t most,
                                      std::string_view what);
  /// The numbers of a line from word `first` on, those of state A into `out`. False: there are
  /// others than `counts` (E0701), or something else is wrong with them, which is reported.
  bool parameters(const TopLine& line, std::size_t first, const TopCounts& counts, double* out);
  /// Warns, once, of parameters of a B state that differ from those of A.
  void b_state(const TopWord& at);

 private:
  void remark(data::Severity severity, int number, const TopWord& at, std::string message,
              std::string hint);
  std::vector<data::Diagnostic> errors_, remarks_;
  bool told_b_state_ = false;
};

class TopPreprocessor {
 public:
  TopPreprocessor(data::TextFile root, const std::vector<std::filesystem::path>& folders,
                  const std::vector<std::string>& defines, TopFindings& findings);

  /// The next line that is not empty; false at the end. What is wrong goes to the findings.
  bool next(TopLine& line);
  /// Macros that were given from outside and never asked for.
  std::vector<std::string> unused_defines() const;
  /// The end of the topology, for what is missing.
  TopWord end() const;
  std::vector<std::filesystem::path> files() const;

 private:
  struct Macro {
    std::vector<std::string_view> words;
    bool from_outside = false, used = false;
  };
  struct Condition {
    bool taken, outer, in_else = false;
    TopWord at;
  };
  struct Level {
    const TopSource* source;
    std::size_t next_line = 1;
    std::vector<Condition> conditions;
  };

  bool active() const;
  void read_words(TopLine& out);
  void directive(const TopLine& line);
  void include(const TopLine& line);
  void define(const std::string& name, std::string value, bool from_outside);
  Macro* find(std::string_view name);
  bool expand(const TopLine& line, TopLine& out);
  bool expand(const TopWord& word, std::size_t most, std::vector<const Macro*>& inside,
              TopLine& out);
  void open(const TopWord& at, const std::filesystem::path& path);

  TopFindings& findings_;
  std::deque<TopSource> sources_;
  std::vector<Level> levels_;
  std::vector<std::filesystem::path> folders_;  ///< to look in, after that of the including file
  std::vector<std::filesystem::path> allowed_;  ///< real folders that nothing leads out of
  std::unordered_map<std::string, Macro> macros_;
  std::deque<std::string> values_;  ///< of all macros ever defined: words point there
  std::size_t grown_ = 0;           ///< words that came from macros
  std::size_t included_ = 0,
              distinct_ = 0;  ///< bytes of all files included, as often as they are, and once each
  std::map<std::filesystem::path, std::shared_ptr<const data::TextFile>> cache_;
};

}  // namespace tessera::molecular
