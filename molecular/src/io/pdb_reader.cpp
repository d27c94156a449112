// SPDX-License-Identifier: Apache-2.0
//
// PDB, columns counted from 1 (wwPDB format 3.3):
//
//   ATOM/HETATM   7-11 serial, 13-16 name, 17 alternate location, 18-21 residue, 22 chain,
//                 23-26 number, 27 insertion code, 31-38, 39-46, 47-54 x y z, 55-60 occupancy,
//                 73-76 segment, 77-78 element
//                 (a serial of six digits: from 6 of ATOM, or to 12)
//   CRYST1        7-15, 16-24, 25-33 edges, 34-40, 41-47, 48-54 angles
//   CONECT        7-11 serial, then up to four of 5 columns each
//
// Fields are cut by columns and numbers are strict. A number that outgrows its columns moves all
// behind it: then the three places have different numbers of decimals, which is refused.
#include "base/units.h"
#include "io/structure_builder.h"
#include "structure/structure_parts.h"
#include "tessera/molecular/elements.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <optional>

namespace tessera::molecular {
namespace {

using data::shown, data::trim;

/// Columns first to last of a line, blanks cut off.
struct PdbField {
  std::string_view text;
  std::size_t offset = 0;
};
PdbField field(std::string_view line, std::size_t line_offset, std::size_t first,
               std::size_t last) {
  if (line.size() < first) return {{}, line_offset + line.size()};
  const std::string_view raw = line.substr(first - 1, last - first + 1), text = trim(raw);
  return {text, line_offset + first - 1 +
                    (text.empty() ? 0 : static_cast<std::size_t>(text.data() - raw.data()))};
}

bool all_of(std::string_view s, auto&& is) {
  return !s.empty() &&
         std::ranges::all_of(s, [&](char c) { return is(static_cast<unsigned char>(c)); });
}
bool is_decimal(std::string_view s) {
  if (s.starts_with('-')) s.remove_prefix(1);
  return all_of(s, [](int c) { return std::isdigit(c); });
}
template <class T>
std::optional<T> whole(std::string_view s, int base) {
  T v = 0;
  const auto [end, code] = std::from_chars(s.data(), s.data() + s.size(), v, base);
  if (code != std::errc{} || end != s.data() + s.size()) return std::nullopt;
  return v;
}

/// Hybrid-36 of w columns (cci.lbl.gov/hybrid_36): decimals up to 10^w - 1, then A0.. to ZZ.. in
/// base 36, then a0.. to zz..
std::optional<std::int64_t> hybrid_36(std::string_view s, std::size_t w) {
  if (is_decimal(s)) return whole<std::int64_t>(s, 10);
  if (s.size() != w || !all_of(s, [](int c) { return std::isalnum(c); }) ||
      std::isdigit(static_cast<unsigned char>(s[0])))
    return std::nullopt;
  const bool lower = std::islower(static_cast<unsigned char>(s[0]));
  for (const char c : s)
    if (std::isalpha(static_cast<unsigned char>(c)) &&
        static_cast<bool>(std::islower(static_cast<unsigned char>(c))) != lower)
      return std::nullopt;
  std::int64_t ten = 1, base = 1;
  for (std::size_t k = 0; k < w; ++k) ten *= 10;
  for (std::size_t k = 1; k < w; ++k) base *= 36;
  return *whole<std::int64_t>(s, 36) - 10 * base + ten + (lower ? 26 * base : 0);
}

/// 0: there is none.
char first_letter(std::string_view name) {
  const auto first = std::ranges::find_if(name, [](unsigned char c) { return std::isalpha(c); });
  return first == name.end() ? '\0' : *first;
}

/// The element of a name in columns 13-16, where 77-78 are blank: symbols of two letters begin in
/// column 13.
std::uint8_t element_of_name(std::string_view columns, const std::string& residue) {
  const std::string_view name = trim(columns);
  const char first = first_letter(name);
  if (first == '\0') return 0;
  if (is_water(residue) && std::string_view("MELV").find(first) != std::string_view::npos) return 0;
  // Ions that CHARMM does not name by their symbols.
  static const std::map<std::string_view, std::uint8_t> ions = {
      {"LIT", 3},  {"SOD", 11}, {"CLA", 17}, {"POT", 19},
      {"CAL", 20}, {"RUB", 37}, {"CES", 55}, {"BAR", 56}};
  if (const auto ion = ions.find(name); ion != ions.end() && name == residue) return ion->second;
  if (residue == "MSE" && name == "SE") return 34;
  const std::string one(1, first == 'D' ? 'H' : first);
  if (!is_water(residue) && !is_amino_acid(residue) && !is_nucleotide(residue)) {
    const auto letters_of = [](std::string_view s) {
      std::string out;
      for (const char c : s)
        if (std::isalpha(static_cast<unsigned char>(c))) out += c;
      return data::upper(out);
    };
    // HG, CD and the like are hydrogens and carbons unless the residue is that ion.
    static const std::array<std::string_view, 12> usual = {"CL", "BR", "SE", "FE", "ZN", "MG",
                                                           "MN", "NA", "LI", "SI", "CU", "NI"};
    const std::string letters = letters_of(name);
    const bool from_13 =
                   columns.starts_with(name) && !std::isdigit(static_cast<unsigned char>(name[0])),
               is_usual = std::ranges::find(usual, letters) != usual.end();
    if (letters.size() == 2 && element_of(letters) &&
        (letters == letters_of(residue) || (from_13 && (is_usual || element_of(one) == 0))))
      return element_of(letters);
  }
  return element_of(one);
}

bool is_metal(std::uint8_t element) {
  static constexpr std::array<std::uint8_t, 23> others = {
      1, 2, 5, 6, 7, 8, 9, 10, 14, 15, 16, 17, 18, 32, 33, 34, 35, 36, 52, 53, 54, 85, 86};
  return element > 0 && std::ranges::find(others, element) == others.end();
}

/// Serial numbers of six digits begin in column 6 (ATOM) or end in column 12.
bool serial_from_6(std::string_view line) {
  return line.size() > 5 && line.starts_with("ATOM ") && is_decimal(line.substr(5, 1));
}
bool serial_to_12(std::string_view line) {
  return line.size() > 11 && is_decimal(line.substr(6, 6));
}
std::string_view record_of(std::string_view line) {
  return serial_from_6(line) ? line.substr(0, 4) : trim(line.substr(0, 6));
}
bool is_atom(std::string_view record) { return record == "ATOM" || record == "HETATM"; }

class PdbReader {
 public:
  PdbReader(const data::TextFile& text, const StructureOptions& options, std::size_t first = 1,
            std::size_t last = std::numeric_limits<std::size_t>::max())
      : text_(text),
        options_(options),
        first_(first),
        last_(std::min(last, text.n_lines())),
        findings_(text),
        builder_(findings_, text) {}

  /// `cell_line`: that of a CRYST1 before the lines read, or 0.
  StructureFile read(std::size_t cell_line = 0) {
    if (cell_line > 0) line(text_.line(cell_line), text_.line_starts[cell_line - 1]);
    std::size_t n = first_;
    for (; n <= last_ && !ended_; ++n) line(text_.line(n), text_.line_starts[n - 1]);
    for (; n <= last_; ++n)
      if (is_atom(record_of(text_.line(n)))) {
        findings_.note(730, text_.line_starts[n - 1], "the atoms after END were not read");
        break;
      }
    if (in_model_)
      findings_.error(701, model_offset_, "a MODEL without the ENDMDL that closes it",
                      "the file was cut off, or ENDMDL is missing");
    if (n_models_ > 1 && n_models_ >= options_.model)
      findings_.note(
          730, model_offset_,
          fmt::format("the file has {} models, model {} was read", n_models_, options_.model));
    if (n_models_ > 0 && n_models_ < options_.model)
      findings_.error(
          702, 0,
          fmt::format("model {} was asked for, the file has {}", options_.model, n_models_));
    Structure s = builder_.finish();
    findings_.throw_if_errors();
    if (s.n_atoms() == 0) {
      findings_.error(701, text_.line_starts[first_ - 1],
                      "expected ATOM or HETATM records of a PDB file, found none");
      findings_.throw_if_errors();
    }
    connect(s);
    findings_.throw_if_errors();
    if (n_guessed_ > 0)
      findings_.note(
          730, guessed_offset_,
          fmt::format(
              "the elements of {} atoms were taken from their names: columns 77-78 are blank",
              n_guessed_));
    s.box = box_;
    s.title = title_;
    if (options_.standard_bonds) add_standard_bonds(s);
    return {std::move(s), findings_.take_remarks()};
  }

 private:
  void line(std::string_view l, std::size_t offset) {
    const std::string_view record = record_of(l);
    if (is_atom(record)) {
      if (skipping()) return;
      atom(l, offset);
    } else if (record == "TER") {
      ++chain_;
    } else if (record == "MODEL") {
      if (in_model_)
        findings_.error(701, offset, "a MODEL within a MODEL", "close the one before by ENDMDL");
      in_model_ = true;
      model_offset_ = offset;
      ++n_models_;
    } else if (record == "ENDMDL") {
      if (!in_model_) findings_.error(701, offset, "an ENDMDL without its MODEL");
      in_model_ = false;
      ++chain_;
    } else if (record == "CRYST1") {
      if (!is_behind() || !is_periodic(box_)) cell(l, offset);  // each model may have its own
    } else if (record == "CONECT") {
      conect_.push_back(offset);
    } else if (record == "TITLE" && title_.empty()) {
      title_ = std::string(field(l, offset, 11, 80).text);
    } else if (record == "END") {
      ended_ = true;
    }
  }
  bool skipping() const { return n_models_ > 0 && (!in_model_ || n_models_ != options_.model); }
  /// Whether the model that is read has ended.
  bool is_behind() const {
    return n_models_ > options_.model || (n_models_ == options_.model && !in_model_);
  }

  double number(const PdbField& f, const char* what) {
    if (f.text.empty()) {
      findings_.error(303, f.offset,
                      fmt::format("expected {} in these columns, found blanks", what));
      return 0;
    }
    return data::parse_number({f.text, f.offset}, data::Exponent::e_only, findings_).value_or(0);
  }

  void atom(std::string_view l, std::size_t offset) {
    AtomRecord r;
    r.offset = offset;
    r.chain_index = chain_;
    r.name = std::string(field(l, offset, 13, 16).text);
    r.alternate = std::string(field(l, offset, 17, 17).text);
    r.residue_name = std::string(field(l, offset, 18, 21).text);
    r.chain = std::string(field(l, offset, 22, 22).text);
    if (last_chain_ && *last_chain_ != r.chain) r.chain_index = ++chain_;
    last_chain_ = r.chain;
    r.segment = std::string(field(l, offset, 73, 76).text);
    if (r.name.empty()) findings_.error(701, offset, "an atom without a name in columns 13-16");

    const PdbField n = field(l, offset, 23, 26);
    const auto number_of = hybrid_36(n.text, 4);
    if (!number_of && !all_of(n.text, [](int c) { return c == '*'; }))
      findings_.error(
          303, n.offset,
          "expected the number of a residue (decimal or hybrid-36), got " + shown(n.text));
    r.number = number_of ? std::to_string(*number_of) : std::string(n.text);
    r.number += field(l, offset, 27, 27).text;

    r.serial = serial(field(l, offset, serial_from_6(l) ? 6 : 7, serial_to_12(l) ? 12 : 11));
    std::size_t decimals = 0;
    for (std::size_t c = 0; c < 3; ++c) {
      const PdbField f = field(l, offset, 31 + 8 * c, 38 + 8 * c);
      r.x_nm[c] = number(f, "a coordinate") * angstrom;
      const std::size_t point = f.text.find('.'),
                        digits = point == std::string_view::npos ? 0 : f.text.size() - point - 1;
      if (c == 0)
        decimals = digits;
      else if (digits != decimals && !f.text.empty())
        findings_.error(
            303, f.offset,
            "coordinates have moved out of their columns 31-38, 39-46, 47-54: " +
                shown(l.substr(30, 24)),
            "a number too wide for PDB; write mmCIF, or move the structure nearer to the origin");
    }
    if (!r.alternate.empty())
      if (const PdbField f = field(l, offset, 55, 60); !f.text.empty())
        r.occupancy = number(f, "an occupancy");
    r.element = element(l, offset, r);
    builder_.add(std::move(r));
  }

  /// -1: the file says none.
  std::int64_t serial(const PdbField& f) {
    if (all_of(f.text, [](int c) { return c == '*'; }) || f.text.empty()) return -1;
    const bool digit_first = std::isdigit(static_cast<unsigned char>(f.text[0]));
    if (digit_first && all_of(f.text, [](int c) { return std::isxdigit(c); }) &&
        !is_decimal(f.text))
      hexadecimal_ = true;
    if (hexadecimal_)
      if (const auto v = whole<std::int64_t>(f.text, 16)) return *v;
    if (const auto v = hybrid_36(f.text, 5)) return *v;
    findings_.error(
        303, f.offset,
        "expected a serial number (decimal, hybrid-36 or hexadecimal), got " + shown(f.text));
    return -1;
  }

  /// The element of `r`, and its mass where that is an isotope.
  std::uint8_t element(std::string_view l, std::size_t offset, AtomRecord& r) {
    const PdbField f = field(l, offset, 77, 78);
    if (f.text.empty() || std::isdigit(static_cast<unsigned char>(f.text[0]))) {
      if (n_guessed_++ == 0) guessed_offset_ = offset;
      const std::string_view columns = l.size() >= 13 ? l.substr(12, 4) : std::string_view{};
      const std::uint8_t z = element_of_name(columns, r.residue_name);
      if (z == 1 && first_letter(r.name) == 'D') r.isotope_amu = mass_of_isotope("D");
      return z;
    }
    const std::string up = data::upper(f.text);
    r.isotope_amu = mass_of_isotope(up);
    if (r.isotope_amu > 0) return 1;
    const std::uint8_t z = element_of(f.text);
    static const std::array<std::string_view, 5> sites = {"EP", "LP", "M", "X", "XX"};
    if (z == 0 && std::ranges::find(sites, up) == sites.end())
      findings_.error(702, f.offset, "there is no element called " + shown(f.text),
                      "columns 77-78 hold the symbol, as in ' C' or 'ZN'");
    return z;
  }

  void cell(std::string_view l, std::size_t offset) {
    Vec3 edges, angles;
    const bool failed = findings_.has_errors();
    for (std::size_t c = 0; c < 3; ++c)
      edges[c] = number(field(l, offset, 7 + 9 * c, 15 + 9 * c), "an edge of the cell");
    for (std::size_t c = 0; c < 3; ++c)
      angles[c] = number(field(l, offset, 34 + 7 * c, 40 + 7 * c), "an angle of the cell");
    if (!failed && findings_.has_errors()) return;
    box_ = cell_of(edges, angles, offset, findings_);
  }

  void connect(Structure& s) {
    std::map<std::int64_t, std::vector<std::int32_t>> atoms;
    if (!conect_.empty())
      for (std::size_t i = 0; i < s.n_atoms(); ++i)
        if (auto& of = atoms[builder_.serials()[i]]; of.size() < 2)
          of.push_back(static_cast<std::int32_t>(i));
    for (const std::size_t offset : conect_) {
      const std::string_view l = text_.line(text_.place(offset).line);
      std::int32_t from = -1;
      for (std::size_t k = 0; k < 5; ++k) {
        const PdbField f = field(l, offset, 7 + 5 * k, 11 + 5 * k);
        if (f.text.empty()) {
          if (k == 0) break;
          continue;
        }
        const std::int32_t to = atom_of(atoms, f);
        if (to < 0 && k == 0) break;
        if (to < 0) continue;
        if (k == 0)
          from = to;
        else if (from == to)
          findings_.error(702, f.offset, "an atom bound to itself");
        else if (is_coordination(s, from, to) || is_coordination(s, to, from))
          coordinated_.push_back(f.offset);
        else
          s.bonds.push_back({from, to});
      }
    }
    if (!coordinated_.empty())
      findings_.note(730, coordinated_[0],
                     "bonds of CONECT between metals and amino acids, nucleotides or water are "
                     "coordination and were left out");
    tidy_bonds(s.bonds);
  }
  /// A metal beside a residue of a polymer or water, which force fields bind to no metal.
  static bool is_coordination(const Structure& s, std::int32_t metal, std::int32_t other) {
    const Residue& r =
        s.residues[static_cast<std::size_t>(s.residue[static_cast<std::size_t>(other)])];
    return is_metal(s.element[static_cast<std::size_t>(metal)]) &&
           (is_polymer(r) || is_water(r.name));
  }
  std::int32_t atom_of(const std::map<std::int64_t, std::vector<std::int32_t>>& atoms,
                       const PdbField& f) {
    std::vector<std::int32_t> all;
    const auto take = [&](const std::optional<std::int64_t>& serial) {
      if (!serial) return;
      if (const auto at = atoms.find(*serial); at != atoms.end())
        all.insert(all.end(), at->second.begin(), at->second.end());
    };
    take(hybrid_36(f.text, 5));
    if (hexadecimal_) {  // 18700 may be either
      const auto as_hex = whole<std::int64_t>(f.text, 16);
      if (as_hex && *as_hex > 99999) take(as_hex);
    }
    if (all.size() == 1) return all[0];
    if (const auto serial = hybrid_36(f.text, 5);
        all.empty() && serial && builder_.left_out().count(*serial))
      return -1;
    if (all.empty())
      findings_.error(702, f.offset,
                      "CONECT names the serial number " + shown(f.text) + ", which no atom has" +
                          (n_models_ > 1 ? " in the model read" : ""));
    else
      findings_.error(
          702, f.offset,
          "CONECT names the serial number " + shown(f.text) + ", which several atoms have",
          "give the atoms serial numbers of their own, or take the CONECT records out");
    return -1;
  }

  const data::TextFile& text_;
  StructureOptions options_;
  std::size_t first_, last_;  ///< lines
  data::Findings findings_;
  StructureBuilder builder_;
  std::vector<std::size_t> conect_, coordinated_;  ///< where they stand
  std::string title_;
  std::optional<std::string> last_chain_;
  Box box_;
  std::int32_t chain_ = 0;
  int n_models_ = 0;
  bool in_model_ = false, ended_ = false, hexadecimal_ = false;
  std::size_t model_offset_ = 0, n_guessed_ = 0, guessed_offset_ = 0;
};

}  // namespace

StructureFile read_pdb(const data::TextFile& text, const StructureOptions& options) {
  return PdbReader(text, options).read();
}

std::vector<PdbModel> pdb_models(const data::TextFile& text) {
  std::vector<PdbModel> models, parts;
  std::size_t cell = 0, first = 1, cell_before = 0;
  bool open = false, has_atoms = false;
  const auto part = [&](std::size_t last) {
    if (has_atoms) parts.push_back({first, last, cell_before});
    first = last + 1, cell_before = cell, has_atoms = false;
  };
  for (std::size_t n = 1; n <= text.n_lines(); ++n) {
    const std::string_view record = record_of(text.line(n));
    if (record == "CRYST1") cell = n;
    if (record == "MODEL") models.push_back({n, n, cell}), open = true;
    if (open) models.back().last = n;
    if (record == "ENDMDL") open = false;
    has_atoms = has_atoms || is_atom(record);
    if (record == "END") part(n);
  }
  part(text.n_lines());
  return models.empty() ? parts : models;
}

Structure read_pdb_model(const data::TextFile& text, const PdbModel& model) {
  return PdbReader(text, {.model = 1, .standard_bonds = false}, model.first, model.last)
      .read(model.cell)
      .structure;
}

}  // namespace tessera::molecular
