// SPDX-License-Identifier: Apache-2.0
#include "includes.h"

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>
#include <stdexcept>

namespace layers {
namespace fs = std::filesystem;
namespace {

/// The file with comments and the inside of raw strings blanked, so that an include named there is
/// not taken for one.
std::string without_comments(const std::string& text) {
  std::string out = text;
  const auto blank = [&](std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < std::min(to, out.size()); ++i)
      if (out[i] != '\n') out[i] = ' ';
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '/' && i + 1 < text.size() && text[i + 1] == '/') {
      const std::size_t end = std::min(text.find('\n', i), text.size());
      blank(i, end);
      i = end;
    } else if (text[i] == '/' && i + 1 < text.size() && text[i + 1] == '*') {
      const std::size_t close = text.find("*/", i + 2);
      const std::size_t end = close == std::string::npos ? text.size() : close + 2;
      blank(i, end);
      i = end - 1;
    } else if (text[i] == 'R' && i + 1 < text.size() && text[i + 1] == '"') {
      const std::size_t open = text.find('(', i);
      if (open == std::string::npos || open - i > 20) continue;
      std::string delimiter = ")";
      delimiter.append(text, i + 2, open - i - 2).push_back('"');
      const std::size_t close = text.find(delimiter, open);
      const std::size_t end = close == std::string::npos ? text.size() : close + delimiter.size();
      blank(open + 1, end);
      i = end - 1;
    } else if (text[i] == '"') {  // an ordinary string: skip it, so that "//" in it is no comment
      for (++i; i < text.size() && text[i] != '"' && text[i] != '\n'; ++i)
        if (text[i] == '\\') ++i;
    } else if (text[i] == '\'' && i + 2 < text.size() &&
               (text[i + 2] == '\'' || text[i + 1] == '\\')) {
      i += text[i + 1] == '\\'
               ? 3
               : 2;  // a character; a digit separator 1'000 has no quote two further
    }
  }
  return out;
}

}  // namespace

bool is_source(const fs::path& p) {
  static const std::set<std::string> kinds{".h", ".cpp", ".cu", ".cuh", ".inl"};
  return kinds.count(p.extension().string()) > 0;
}

std::vector<Include> includes_of(const std::string& text) {
  std::vector<Include> found;
  std::istringstream lines(without_comments(text));
  std::string line;
  for (int n = 1; std::getline(lines, line); ++n) {
    std::size_t at = line.find_first_not_of(" \t");
    if (at == std::string::npos || line[at] != '#') continue;
    at = line.find_first_not_of(" \t", at + 1);
    if (at == std::string::npos || line.compare(at, 7, "include") != 0) continue;
    const std::size_t open = line.find_first_of("<\"", at + 7);
    if (open == std::string::npos) continue;
    const std::size_t close = line.find(line[open] == '<' ? '>' : '"', open + 1);
    if (close == std::string::npos) continue;
    found.push_back({line.substr(open + 1, close - open - 1), line[open] == '"', n});
  }
  return found;
}

std::string slurp(const fs::path& p) {
  std::ifstream in(p, std::ios::binary);
  if (!in) throw std::runtime_error("cannot read " + p.string());
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace layers
