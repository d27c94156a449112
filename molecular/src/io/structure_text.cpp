// SPDX-License-Identifier: Apache-2.0
#include "io/structure_builder.h"
#include "structure/structure_parts.h"
#include "tessera/molecular/elements.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <iterator>
#include <map>

namespace tessera::molecular {
namespace {

constexpr double per_nm = 10;  // Angstrom

std::string element_text(std::uint8_t z, const char* none) {
  return z == 0 ? none : data::upper(symbol_of(z));
}

/// v in `width` columns: decimals, then hybrid-36.
std::string hybrid_36(std::int64_t v, std::size_t width) {
  std::int64_t ten = 1, base = 1;
  for (std::size_t k = 0; k < width; ++k) ten *= 10;
  for (std::size_t k = 1; k < width; ++k) base *= 36;
  if (v < ten) return std::to_string(v);
  const bool lower = v - ten >= 26 * base;
  std::int64_t rest = v - ten - (lower ? 26 * base : 0) + 10 * base;
  if (rest >= 36 * base)
    throw Error(fmt::format("[pdb_text] {} is more than PDB can count in {} columns; write mmCIF",
                            v, width));
  std::string out;
  for (std::size_t k = 0; k < width; ++k, rest /= 36)
    out += (lower ? "0123456789abcdefghijklmnopqrstuvwxyz"
                  : "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ")[rest % 36];
  std::ranges::reverse(out);
  return out;
}

/// Number and insertion code of "12A".
std::pair<std::string, std::string> number_parts(const std::string& number) {
  const std::size_t end = number.find_first_not_of("-0123456789");
  return end == std::string::npos ? std::pair{number, std::string()}
                                  : std::pair{number.substr(0, end), number.substr(end)};
}

/// A residue's number in the four columns of PDB; 1 for what is no number.
std::string pdb_number(const std::string& number) {
  std::int64_t v = 0;
  const char* const end = number.data() + number.size();
  if (const auto [at, error] = std::from_chars(number.data(), end, v);
      error != std::errc{} || at != end)
    return "1";
  if (v < -999)
    throw Error(fmt::format(
        "[pdb_text] residue number {} has no room in the columns of PDB; write mmCIF", v));
  return hybrid_36(v, 4);
}

/// What a file must say of bonds: those that reading it would not add.
std::vector<std::array<std::int32_t, 2>> special_bonds(const Structure& s) {
  Structure standard = s;
  standard.bonds.clear();
  add_standard_bonds(standard);
  std::vector<std::array<std::int32_t, 2>> out;
  std::ranges::set_difference(s.bonds, standard.bonds, std::back_inserter(out));
  return out;
}

/// The text in one line.
std::string one_line(std::string text) {
  std::ranges::replace_if(
      text, [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
  return text;
}

/// A value as CIF writes it.
std::string cif(const std::string& value) {
  if (value.empty()) return "?";
  const std::string upper = data::upper(value);
  const bool keyword = upper.starts_with("DATA_") || upper.starts_with("SAVE_") ||
                       upper == "LOOP_" || upper == "STOP_" || upper == "GLOBAL_";
  const bool plain = !keyword && value.find_first_of(" \t\f'\"") == std::string::npos &&
                     std::string_view("_#$[];").find(value[0]) == std::string_view::npos &&
                     value != "." && value != "?";
  if (plain) return value;
  return value.find('\'') == std::string::npos ? "'" + value + "'" : "\"" + value + "\"";
}

}  // namespace

std::string pdb_text(const Structure& s) {
  std::string out;
  const auto to = std::back_inserter(out);
  if (!s.title.empty()) fmt::format_to(to, "TITLE     {:.70}\n", one_line(s.title));
  if (is_periodic(s.box)) {
    const Vec3 l = lengths_nm(s.box), a = angles_deg(s.box);
    fmt::format_to(to, "CRYST1{:9.3f}{:9.3f}{:9.3f}{:7.2f}{:7.2f}{:7.2f} P 1           1\n",
                   l[0] * per_nm, l[1] * per_nm, l[2] * per_nm, a[0], a[1], a[2]);
  }
  std::vector<std::int64_t> serial(s.n_atoms());
  std::int64_t count = 0;
  for (std::size_t i = 0; i < s.n_atoms(); ++i) {
    const auto row = static_cast<std::size_t>(s.residue[i]);
    const Residue& r = s.residues[row];
    const auto [number, insertion] = number_parts(r.number);
    const std::string& n = s.name[i];
    const std::string residue = r.name.size() < 4 ? fmt::format("{:>3}", r.name) : r.name;
    if (n.size() > 4 || r.name.size() > 4)
      throw Error(fmt::format(
          "[pdb_text] the names of atom {} ({}, {}) have more than four letters; write mmCIF",
          i + 1, n, r.name));
    // Symbols of one letter leave column 13 blank.
    const bool shifted = n.size() < 4 && symbol_of(s.element[i]).size() == 1;
    serial[i] = ++count;
    std::string line =
        fmt::format("{:6}{:>5} {:4} {:<4}{:1}{:>4}{:1}   ", is_polymer(r) ? "ATOM" : "HETATM",
                    hybrid_36(count, 5), (shifted ? " " : "") + n, residue, r.chain.substr(0, 1),
                    pdb_number(number), insertion.substr(0, 1));
    for (std::size_t c = 0; c < 3; ++c) {
      const std::string field = fmt::format("{:8.3f}", s.x_nm[i][c] * per_nm);
      if (field.size() > 8 || !std::isfinite(s.x_nm[i][c]))
        throw Error(
            fmt::format("[pdb_text] atom {} lies at {} Angstrom, which has no room in the columns "
                        "of PDB; write mmCIF",
                        i + 1, s.x_nm[i][c] * per_nm));
      line += field;
    }
    out += line;
    fmt::format_to(to, "{:6.2f}{:6.2f}      {:<4}{:>2}\n", 1.0, 0.0, r.segment.substr(0, 4),
                   element_text(s.element[i], "EP"));
    const bool last = i + 1 == s.n_atoms();
    const auto next = last ? row : static_cast<std::size_t>(s.residue[i + 1]);
    if (last || s.chain[next] != s.chain[row])
      fmt::format_to(to, "TER   {:>5}      {:<4}{:1}{:>4}{:1}\n", hybrid_36(++count, 5), residue,
                     r.chain.substr(0, 1), pdb_number(number), insertion.substr(0, 1));
  }
  std::map<std::int32_t, std::vector<std::int32_t>> special;
  for (const auto& [i, j] : special_bonds(s)) {
    special[i].push_back(j);
    special[j].push_back(i);
  }
  for (const auto& [i, others] : special)
    for (std::size_t k = 0; k < others.size(); ++k) {
      if (k % 4 == 0)
        fmt::format_to(to, "{}CONECT{:>5}", k ? "\n" : "",
                       hybrid_36(serial[static_cast<std::size_t>(i)], 5));
      fmt::format_to(to, "{:>5}{}", hybrid_36(serial[static_cast<std::size_t>(others[k])], 5),
                     k + 1 == others.size() ? "\n" : "");
    }
  return out + "END\n";
}

std::string mmcif_text(const Structure& s) {
  std::string out = "data_structure\n";
  const auto to = std::back_inserter(out);
  std::string title = one_line(s.title);
  std::ranges::replace_if(
      title, [](char c) { return c == '\'' || c == '"'; }, ' ');
  if (!title.empty()) fmt::format_to(to, "_struct.title '{}'\n", title);
  if (is_periodic(s.box)) {
    const Vec3 l = lengths_nm(s.box), a = angles_deg(s.box);
    fmt::format_to(
        to,
        "_cell.length_a {:.6f}\n_cell.length_b {:.6f}\n_cell.length_c {:.6f}\n_cell.angle_alpha "
        "{:.6f}\n_cell.angle_beta {:.6f}\n_cell.angle_gamma {:.6f}\n",
        l[0] * per_nm, l[1] * per_nm, l[2] * per_nm, a[0], a[1], a[2]);
  }
  out += "loop_\n";
  for (const char* tag : {"group_PDB",      "id",
                          "type_symbol",    "label_atom_id",
                          "label_alt_id",   "label_comp_id",
                          "label_asym_id",  "label_entity_id",
                          "label_seq_id",   "pdbx_PDB_ins_code",
                          "Cartn_x",        "Cartn_y",
                          "Cartn_z",        "occupancy",
                          "B_iso_or_equiv", "auth_seq_id",
                          "auth_comp_id",   "auth_asym_id",
                          "auth_atom_id",   "pdbx_PDB_model_num"})
    fmt::format_to(to, "_atom_site.{}\n", tag);
  const auto asym = [&](std::size_t row) {
    return fmt::format("C{}", s.chain[row] + 1);
  };  // one of its own for each chain
  for (std::size_t i = 0; i < s.n_atoms(); ++i) {
    const auto row = static_cast<std::size_t>(s.residue[i]);
    const Residue& r = s.residues[row];
    const auto [number, insertion] = number_parts(r.number);
    const std::string name = cif(s.name[i]), residue = cif(r.name);
    fmt::format_to(to, "{} {} {} {} . {} {} 1 {} {} {:.6f} {:.6f} {:.6f} 1.00 0.00 {} {} {} {} 1\n",
                   is_polymer(r) ? "ATOM" : "HETATM", i + 1, element_text(s.element[i], "X"), name,
                   residue, asym(row), row + 1, cif(insertion), s.x_nm[i][0] * per_nm,
                   s.x_nm[i][1] * per_nm, s.x_nm[i][2] * per_nm, cif(number), residue, cif(r.chain),
                   name);
  }
  const auto special = special_bonds(s);
  if (special.empty()) return out;
  out += "loop_\n_struct_conn.id\n_struct_conn.conn_type_id\n";
  for (const int p : {1, 2})
    for (const char* tag : {"label_asym_id", "label_seq_id", "label_comp_id", "label_atom_id",
                            "auth_asym_id", "auth_seq_id", "auth_comp_id"})
      fmt::format_to(to, "_struct_conn.ptnr{}_{}\n", p, tag);
  for (const int p : {1, 2}) fmt::format_to(to, "_struct_conn.pdbx_ptnr{}_PDB_ins_code\n", p);
  std::size_t id = 0;
  for (const auto& bond : special) {
    fmt::format_to(to, "covale{} covale", ++id);
    for (const std::int32_t i : bond) {
      const auto row = static_cast<std::size_t>(s.residue[static_cast<std::size_t>(i)]);
      const Residue& r = s.residues[row];
      fmt::format_to(to, " {} {} {} {} {} {} {}", asym(row), row + 1, cif(r.name),
                     cif(s.name[static_cast<std::size_t>(i)]), cif(r.chain),
                     cif(number_parts(r.number).first), cif(r.name));
    }
    for (const std::int32_t i : bond)
      fmt::format_to(
          to, " {}",
          cif(number_parts(
                  s.residues[static_cast<std::size_t>(s.residue[static_cast<std::size_t>(i)])]
                      .number)
                  .second));
    out += "\n";
  }
  return out;
}

StructureFile read_structure(const std::filesystem::path& path, const StructureOptions& options) {
  const data::TextFile text = data::read_text_file(path);
  for (std::size_t n = 1; n <= text.n_lines(); ++n) {
    const std::string_view line = data::trim(text.line(n));
    if (line.empty() || line.starts_with('#')) continue;
    return data::upper(line.substr(0, 5)) == "DATA_" ? read_mmcif(text, options)
                                                     : read_pdb(text, options);
  }
  return read_pdb(text, options);
}

}  // namespace tessera::molecular
