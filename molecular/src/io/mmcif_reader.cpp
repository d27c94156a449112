// SPDX-License-Identifier: Apache-2.0
//
// Categories of the PDBx/mmCIF dictionary (mmcif.wwpdb.org): _atom_site, _cell, _struct_conn,
// _struct.title. Names, numbers and chains are those of the authors (auth_*) where they are given,
// as in the PDB file of the same entry.
#include "base/units.h"
#include "io/cif_tokens.h"
#include "io/structure_builder.h"
#include "structure/structure_parts.h"
#include "tessera/molecular/elements.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

namespace tessera::molecular {
namespace {

/// Columns of a loop by name; -1: absent.
class Columns {
 public:
  explicit Columns(const std::vector<std::string>& tags) : tags_(tags) {}
  int operator()(const char* tag) const {
    const auto at = std::ranges::find(tags_, tag);
    return at == tags_.end() ? -1 : static_cast<int>(at - tags_.begin());
  }

 private:
  const std::vector<std::string>& tags_;
};

std::string text_of(const std::vector<CifValue>& row, int first, int second = -1) {
  for (const int k : {first, second})
    if (k >= 0 && row[static_cast<std::size_t>(k)].given())
      return std::string(row[static_cast<std::size_t>(k)].text);
  return {};
}

class MmcifReader {
 public:
  MmcifReader(const data::TextFile& text, const StructureOptions& options)
      : options_(options), findings_(text), builder_(findings_, text) {}

  StructureFile read() {
    const int more = read_cif(findings_,
                              [&](const std::string& category, const std::vector<std::string>& tags,
                                  std::size_t offset) -> CifRow {
                                const Columns column(tags);
                                if (category == "_atom_site") return atoms(column, offset);
                                if (category == "_cell") return cell(column, offset);
                                if (category == "_struct_conn") return connections(column);
                                if (category == "_struct")
                                  if (const int k = column("title"); k >= 0)
                                    return [this, k](const std::vector<CifValue>& row) {
                                      title_ = std::string(data::trim(text_of(row, k)));
                                    };
                                return {};
                              });
    Structure s = builder_.finish();
    if (more > 0) findings_.note(730, fmt::format("{} more data blocks were not read", more));
    if (models_.size() > 1 && static_cast<int>(models_.size()) >= options_.model)
      findings_.note(730, fmt::format("the file has {} models, model {} was read", models_.size(),
                                      options_.model));
    findings_.throw_if_errors();
    if (s.n_atoms() == 0) {
      if (static_cast<int>(models_.size()) < options_.model && !models_.empty())
        findings_.error(
            702, 0,
            fmt::format("model {} was asked for, the file has {}", options_.model, models_.size()));
      else
        findings_.error(701, 0, "expected a loop _atom_site with atoms, found none");
      findings_.throw_if_errors();
    }
    connect(s);
    set_cell(s);
    findings_.throw_if_errors();
    s.title = title_;
    if (options_.standard_bonds) add_standard_bonds(s);
    return {std::move(s), findings_.take_remarks()};
  }

 private:
  double number(const CifValue& v) {
    std::string_view t = v.text;
    if (const std::size_t bracket = t.find('(');
        bracket != std::string_view::npos && t.size() > bracket + 2 &&
        t.find_first_not_of("0123456789", bracket + 1) == t.size() - 1 && t.ends_with(')'))
      t = t.substr(0, bracket);  // 1.234(5)
    return data::parse_number({t, v.offset}, data::Exponent::e_only, findings_).value_or(0);
  }

  CifRow atoms(const Columns& c, std::size_t offset) {
    const std::array<int, 3> xyz = {c("cartn_x"), c("cartn_y"), c("cartn_z")};
    const int name = c("auth_atom_id"), label_name = c("label_atom_id"),
              residue = c("auth_comp_id"), label_residue = c("label_comp_id"),
              chain = c("auth_asym_id"), label_chain = c("label_asym_id"), seq = c("auth_seq_id"),
              label_seq = c("label_seq_id"), insertion = c("pdbx_pdb_ins_code"),
              alternate = c("label_alt_id"), symbol = c("type_symbol"), occupancy = c("occupancy"),
              model = c("pdbx_pdb_model_num");
    if (std::ranges::min(xyz) < 0 || symbol < 0 || (name < 0 && label_name < 0)) {
      findings_.error(701, offset,
                      "the loop _atom_site needs the tags Cartn_x, Cartn_y, Cartn_z, type_symbol "
                      "and label_atom_id");
      findings_.throw_if_errors();
    }
    return [=, this](const std::vector<CifValue>& row) {
      const auto at = [&](int k) -> const CifValue& { return row[static_cast<std::size_t>(k)]; };
      if (model >= 0) {
        if (models_.empty() || models_.back() != at(model).text) {
          if (!known_models_.insert(at(model).text).second)
            findings_.error(
                702, at(model).offset,
                "the atoms of model " + data::shown(at(model).text) + " do not stand together");
          if (models_.size() >= 100000) findings_.throw_if_errors();
          models_.push_back(at(model).text);
        }
        if (static_cast<int>(models_.size()) != options_.model) return;
      }
      AtomRecord r;
      r.offset = at(xyz[0]).offset;
      r.name = text_of(row, name, label_name);
      r.residue_name = text_of(row, residue, label_residue);
      r.chain = text_of(row, chain, label_chain);
      r.segment = text_of(row, label_chain);
      if (const std::string of = r.segment.empty() ? r.chain : r.segment; last_chain_ != of) {
        chain_ += last_chain_.has_value();
        last_chain_ = of;
      }
      r.chain_index = chain_;
      r.number = text_of(row, seq, label_seq) + text_of(row, insertion);
      r.alternate = text_of(row, alternate);
      for (std::size_t k = 0; k < 3; ++k) r.x_nm[k] = number(at(xyz[k])) * angstrom;
      if (occupancy >= 0 && at(occupancy).given() && !r.alternate.empty())
        r.occupancy = number(at(occupancy));
      const std::string_view element = at(symbol).text;
      r.isotope_amu = mass_of_isotope(element);
      r.element = r.isotope_amu > 0 ? std::uint8_t{1} : element_of(element);
      if (r.element == 0 && at(symbol).given() && data::upper(element) != "X" &&
          data::upper(element) != "EP")
        findings_.error(702, at(symbol).offset,
                        "there is no element called " + data::shown(element));
      if (r.name.empty()) findings_.error(701, r.offset, "an atom without a name");
      for (const std::string* text : {&r.name, &r.residue_name, &r.chain, &r.segment, &r.number})
        if (text->find('\n') != std::string::npos)
          findings_.error(701, r.offset, "a name of more than one line: " + data::shown(*text));
      if (!r.alternate.empty()) alternates_.insert({r.chain, r.number, r.residue_name, r.name});
      builder_.add(std::move(r));
    };
  }

  CifRow cell(const Columns& c, std::size_t offset) {
    const std::array<int, 6> k = {c("length_a"),    c("length_b"),   c("length_c"),
                                  c("angle_alpha"), c("angle_beta"), c("angle_gamma")};
    if (std::ranges::min(k) < 0) return {};
    return [=, this](const std::vector<CifValue>& row) {
      for (const int i : k)
        if (!row[static_cast<std::size_t>(i)].given()) return;
      for (std::size_t i = 0; i < 6; ++i) cell_[i] = number(row[static_cast<std::size_t>(k[i])]);
      cell_offset_ = offset;
    };
  }
  void set_cell(Structure& s) {
    if (cell_offset_)
      s.box = cell_of({cell_[0], cell_[1], cell_[2]}, {cell_[3], cell_[4], cell_[5]}, *cell_offset_,
                      findings_);
  }

  struct Partner {
    std::string chain, number, residue, atom;
    auto operator<=>(const Partner&) const = default;
  };
  CifRow connections(const Columns& c) {
    const int type = c("conn_type_id");
    std::array<std::array<int, 9>, 2> k;
    for (std::size_t p = 0; p < 2; ++p) {
      const std::string one = "ptnr" + std::to_string(p + 1) + "_", pdbx = "pdbx_" + one;
      k[p] = {c((one + "auth_asym_id").c_str()),  c((one + "label_asym_id").c_str()),
              c((one + "auth_seq_id").c_str()),   c((one + "label_seq_id").c_str()),
              c((one + "auth_comp_id").c_str()),  c((one + "label_comp_id").c_str()),
              c((one + "label_atom_id").c_str()), c((pdbx + "pdb_ins_code").c_str()),
              c((one + "symmetry").c_str())};
    }
    return [=, this](const std::vector<CifValue>& row) {
      const std::string kind = text_of(row, type);
      if (!kind.starts_with("covale") && kind != "disulf") return;
      if (text_of(row, k[0][8]) != text_of(row, k[1][8])) return;  // to an image of the crystal
      std::array<Partner, 2> ends;
      for (std::size_t p = 0; p < 2; ++p)
        ends[p] = {text_of(row, k[p][0], k[p][1]),
                   text_of(row, k[p][2], k[p][3]) + text_of(row, k[p][7]),
                   text_of(row, k[p][4], k[p][5]), text_of(row, k[p][6])};
      connections_.push_back({ends, row[0].offset});
    };
  }
  void connect(Structure& s) {
    if (connections_.empty()) return;
    std::map<Partner, std::int32_t> atoms;
    for (std::size_t i = 0; i < s.n_atoms(); ++i) {
      const Residue& r = s.residues[static_cast<std::size_t>(s.residue[i])];
      atoms.try_emplace({r.chain, r.number, r.name, s.name[i]}, static_cast<std::int32_t>(i));
    }
    for (const auto& [ends, offset] : connections_) {
      std::array<std::int32_t, 2> bond{};
      bool found = true;
      for (std::size_t p = 0; p < 2; ++p) {
        const auto at = atoms.find(ends[p]);
        found = found && at != atoms.end();
        if (at == atoms.end() && alternates_.contains(ends[p])) continue;  // and was left out
        if (at == atoms.end())
          findings_.error(
              702, offset,
              fmt::format("_struct_conn binds atom {} of {} {} in chain {}, which is not there",
                          ends[p].atom, ends[p].residue, ends[p].number, ends[p].chain));
        else
          bond[p] = at->second;
      }
      if (found && bond[0] != bond[1]) s.bonds.push_back(bond);
    }
    tidy_bonds(s.bonds);
  }

  StructureOptions options_;
  data::Findings findings_;
  StructureBuilder builder_;
  std::vector<std::string_view> models_;
  std::set<std::string_view> known_models_;
  std::optional<std::string> last_chain_;
  std::int32_t chain_ = 0;
  std::string title_;
  std::array<double, 6> cell_{};
  std::optional<std::size_t> cell_offset_;
  std::vector<std::pair<std::array<Partner, 2>, std::size_t>> connections_;
  std::set<Partner> alternates_;  ///< all atoms of alternate locations
};

}  // namespace

StructureFile read_mmcif(const data::TextFile& text, const StructureOptions& options) {
  return MmcifReader(text, options).read();
}

}  // namespace tessera::molecular
