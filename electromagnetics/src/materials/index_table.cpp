// SPDX-License-Identifier: Apache-2.0
#include "tessera/electromagnetics/index_table.h"

#include "base/numbers.h"
#include "tessera/electromagnetics/constants.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <numeric>
#include <optional>
#include <string_view>

namespace tessera::electromagnetics {
namespace {

using data::InputError;
using data::TextFile;

enum class ColumnKind { wavelength, frequency, n, k, eps1, eps2 };

struct Column {
  ColumnKind kind;
  double si = 1;  // SI units per unit of the file
};

struct TableCell {
  std::string_view text;
  std::size_t offset = 0;
};

/// One table of the file: its columns and their numbers, [column][row].
struct TableBlock {
  std::vector<Column> columns;
  std::vector<std::vector<double>> values;
  std::vector<std::size_t> offsets;  // of the rows, for messages

  const std::vector<double>* find(ColumnKind kind) const {
    for (std::size_t c = 0; c < columns.size(); ++c)
      if (columns[c].kind == kind) return &values[c];
    return nullptr;
  }
};

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\f'; }

/// The cells of one line; a separator other than blanks makes empty cells count.
std::vector<TableCell> split(std::string_view line, std::size_t offset) {
  const std::size_t mark = line.find_first_of(",;");
  std::vector<TableCell> cells;
  std::size_t at = 0;
  while (at <= line.size()) {
    std::size_t end = at;
    if (mark != std::string_view::npos) {
      end = std::min(line.find(line[mark], at), line.size());
    } else {
      while (at < line.size() && is_blank(line[at])) ++at;
      if (at == line.size()) break;
      // `wavelength (nm)` and `wavelength [nm]` are one cell
      end = at;
      while (end < line.size()) {
        if (is_blank(line[end])) {
          std::size_t next = end;
          while (next < line.size() && is_blank(line[next])) ++next;
          if (next == line.size() || (line[next] != '(' && line[next] != '[')) break;
          end = next;
        }
        ++end;
      }
    }
    std::size_t a = at, b = end;
    while (a < b && is_blank(line[a])) ++a;
    while (b > a && is_blank(line[b - 1])) --b;
    cells.push_back({line.substr(a, b - a), offset + a});
    at = end + 1;
  }
  return cells;
}

std::optional<double> unit_of(ColumnKind kind, std::string_view unit, bool energy) {
  struct Unit {
    std::string_view name;
    double si;
  };
  static constexpr Unit lengths[] = {
      {"", 1e-6},   {"um", 1e-6}, {"\xC2\xB5m", 1e-6}, {"\xCE\xBCm", 1e-6}, {"nm", 1e-9},
      {"mm", 1e-3}, {"m", 1},     {"a", 1e-10},        {"angstrom", 1e-10}};
  static constexpr Unit frequencies[] = {{"hz", 1}, {"mhz", 1e6}, {"ghz", 1e9}, {"thz", 1e12}};
  static constexpr Unit energies[] = {{"ev", kHzPerEv}, {"mev", kHzPerEv * 1e-3}};
  const auto look = [&](const auto& list) -> std::optional<double> {
    for (const Unit& u : list)
      if (u.name == unit) return u.si;
    return std::nullopt;
  };
  if (kind == ColumnKind::wavelength) return look(lengths);
  return energy ? look(energies) : look(frequencies);
}

/// `wavelength_nm`, `f (THz)`, `n`; nothing if it names no column that is known.
std::optional<Column> column_of(std::string_view text) {
  std::string name;
  for (char c : text)
    if (c != '"' && c != '\'')
      name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  const auto plain = [](std::string_view s) {
    std::string out;
    for (char c : s)
      if (!is_blank(c) && c != '(' && c != ')' && c != '[' && c != ']' && c != '_') out += c;
    return out;
  };
  const std::string whole = plain(name);
  if (whole == "n") return Column{ColumnKind::n};
  if (whole == "k") return Column{ColumnKind::k};
  for (std::string_view s : {"eps1", "epsre", "e1", "epsilon1"})
    if (whole == s) return Column{ColumnKind::eps1};
  for (std::string_view s : {"eps2", "epsim", "e2", "epsilon2"})
    if (whole == s) return Column{ColumnKind::eps2};

  struct Axis {
    std::string_view name;
    ColumnKind kind;
    bool energy;
  };
  static constexpr Axis axes[] = {
      {"wavelength", ColumnKind::wavelength, false}, {"lambda", ColumnKind::wavelength, false},
      {"wl", ColumnKind::wavelength, false},         {"frequency", ColumnKind::frequency, false},
      {"freq", ColumnKind::frequency, false},        {"f", ColumnKind::frequency, false},
      {"energy", ColumnKind::frequency, true},       {"e", ColumnKind::frequency, true}};
  for (const Axis& axis : axes) {
    if (!whole.starts_with(axis.name)) continue;
    const auto unit =
        unit_of(axis.kind, std::string_view(whole).substr(axis.name.size()), axis.energy);
    if (unit) return Column{axis.kind, *unit};
  }
  return std::nullopt;
}

double number_in(const TableCell& cell, const TextFile& text) {
  std::string_view s = cell.text;
  if (s.starts_with('+')) s.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), value);
  if (s.empty() || error != std::errc{} || end != s.data() + s.size() || !std::isfinite(value))
    throw InputError(text.error(303, cell.offset,
                                fmt::format("expected a number, got '{}'", cell.text.substr(0, 40)),
                                "write decimal numbers with a point; leave incomplete rows out"));
  return value;
}

bool names_columns(const std::vector<TableCell>& cells) {
  const char c = cells[0].text.empty() ? '?' : cells[0].text[0];
  return !(std::isdigit(static_cast<unsigned char>(c)) || c == '.' || c == '-' || c == '+');
}

TableBlock start_block(const std::vector<TableCell>& cells, const TextFile& text) {
  TableBlock block;
  const char* how =
      "name the columns in the first line, such as `wavelength_um,n,k` or "
      "`f_thz,eps1,eps2`";
  for (const TableCell& cell : cells) {
    const auto column = column_of(cell.text);
    if (!column)
      throw InputError(text.error(
          360, cell.offset,
          fmt::format("'{}' is no column of an optical table", cell.text.substr(0, 40)), how));
    if (block.find(column->kind))
      throw InputError(text.error(360, cell.offset, "this column is there already", how));
    block.columns.push_back(*column);
    block.values.emplace_back();
  }
  if (bool(block.find(ColumnKind::wavelength)) == bool(block.find(ColumnKind::frequency)))
    throw InputError(text.error(360, cells[0].offset,
                                "expected one column of wavelengths or of frequencies", how));
  return block;
}

void add_row(TableBlock& block, const std::vector<TableCell>& cells, const TextFile& text) {
  if (cells.size() != block.columns.size())
    throw InputError(text.error(433, cells[0].offset,
                                fmt::format("expected {} columns as in the line that names them, "
                                            "got {}",
                                            block.columns.size(), cells.size())));
  for (std::size_t c = 0; c < cells.size(); ++c) {
    const double value = number_in(cells[c], text);
    const ColumnKind kind = block.columns[c].kind;
    if ((kind == ColumnKind::wavelength || kind == ColumnKind::frequency) && !(value > 0))
      throw InputError(
          text.error(305, cells[c].offset,
                     fmt::format("a wavelength or frequency must be > 0, got {}", value)));
    if ((kind == ColumnKind::k || kind == ColumnKind::eps2) && value < 0)
      throw InputError(
          text.error(361, cells[c].offset, fmt::format("the loss is negative: {}", value),
                     "k and eps2 are counts of loss, >= 0 under both time signs; change their sign "
                     "if the file means Im, and clip noise about zero"));
    block.values[c].push_back(value * block.columns[c].si);
  }
  block.offsets.push_back(cells[0].offset);
}

std::vector<double> frequencies(const TableBlock& block) {
  if (const auto* f = block.find(ColumnKind::frequency)) return *f;
  std::vector<double> f = *block.find(ColumnKind::wavelength);
  for (double& x : f) x = speed_of_light / x;
  return f;
}

/// The second table, of k alone, joined to the first, of n alone.
void join(TableBlock& first, TableBlock& second, const TextFile& text) {
  const auto* k = second.find(ColumnKind::k);
  if (!k || second.columns.size() != 2 || !first.find(ColumnKind::n) || first.find(ColumnKind::k))
    throw InputError(text.error(360, second.offsets.empty() ? 0 : second.offsets[0],
                                "a second table may only give k for the n of the first"));
  if (frequencies(first) != frequencies(second))
    throw InputError(text.error(360, second.offsets.empty() ? 0 : second.offsets[0],
                                "the tables of n and of k have different wavelengths",
                                "put n and k on the same wavelengths, in one table"));
  first.columns.push_back({ColumnKind::k});
  first.values.push_back(*k);
}

}  // namespace

IndexTable parse_index_table(const TextFile& text) {
  std::vector<TableBlock> blocks;
  for (std::size_t line = 1; line <= text.n_lines(); ++line) {
    const std::string_view s = text.line(line);
    const std::size_t first = s.find_first_not_of(" \t\f");
    if (first == std::string_view::npos || s[first] == '#') continue;
    const auto cells = split(s, text.line_starts[line - 1]);
    if (names_columns(cells)) {
      blocks.push_back(start_block(cells, text));
    } else if (blocks.empty()) {
      throw InputError(text.error(360, cells[0].offset, "the first line names no columns",
                                  "add one such as `wavelength_um,n,k`"));
    } else {
      add_row(blocks.back(), cells, text);
    }
  }
  if (blocks.empty() || blocks[0].offsets.empty())
    throw InputError(text.error(360, 0, "the optical table has no rows"));
  if (blocks.size() > 2)
    throw InputError(text.error(360, 0, "expected one table, or one of n and one of k"));
  TableBlock& block = blocks[0];
  if (blocks.size() == 2) join(block, blocks[1], text);

  const auto* n = block.find(ColumnKind::n);
  const auto* k = block.find(ColumnKind::k);
  const auto* eps1 = block.find(ColumnKind::eps1);
  const auto* eps2 = block.find(ColumnKind::eps2);
  if (bool(n) == bool(eps1) || (k && !n) || (eps2 && !eps1))
    throw InputError(text.error(360, block.offsets[0],
                                "expected n, with or without k, or eps1, with or without eps2"));

  const std::vector<double> f = frequencies(block);
  std::vector<std::size_t> order(f.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return f[a] < f[b]; });
  IndexTable table;
  table.name = std::filesystem::path(text.path).stem().string();
  for (std::size_t row : order) {
    if (!table.f_hz.empty() && f[row] == table.f_hz.back())
      throw InputError(
          text.error(306, block.offsets[row], "this wavelength or frequency is given twice"));
    table.f_hz.push_back(f[row]);
    if (n) {
      const std::complex<double> index((*n)[row], k ? -(*k)[row] : 0.0);
      table.eps.push_back(index * index);
    } else {
      table.eps.emplace_back((*eps1)[row], eps2 ? -(*eps2)[row] : 0.0);
    }
    if (!(f[row] > 0 && std::isfinite(f[row]) && std::isfinite(std::abs(table.eps.back()))))
      throw InputError(
          text.error(303, block.offsets[row],
                     "the frequency or permittivity of this row is beyond the range of "
                     "double precision"));
  }
  return table;
}

IndexTable read_index_table(const std::filesystem::path& path) {
  return parse_index_table(data::read_text_file(path));
}

}  // namespace tessera::electromagnetics
