// SPDX-License-Identifier: Apache-2.0
//
// Atom records of either format, one after the other, become a Structure: residues by what changes
// between records, one of several alternate locations. Only the residue at hand is kept as records.
#pragma once
#include "tessera/data/text_reader.h"
#include "tessera/molecular/structure_file.h"

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace tessera::molecular {

struct AtomRecord {
  std::string name, residue_name, chain, segment, number;  ///< number with insertion code
  std::string alternate;                                   ///< empty: none
  std::uint8_t element = 0;
  double isotope_amu = 0;
  Vec3 x_nm{};
  double occupancy = 1;
  std::int32_t chain_index = 0;
  std::int64_t serial = 0;
  std::size_t offset = 0;
};

class StructureBuilder {
 public:
  StructureBuilder(data::Findings& findings, const data::TextFile& text)
      : findings_(findings), text_(text) {
    out_.source = text.path;
  }
  void add(AtomRecord record);
  /// Bonds are the caller's.
  Structure finish();
  /// Serial number of each atom kept so far; complete after finish().
  const std::vector<std::int64_t>& serials() const { return serials_; }
  /// Serial numbers of alternate locations that were not kept.
  const std::set<std::int64_t>& left_out() const { return left_out_; }

 private:
  void flush();
  data::Findings& findings_;
  const data::TextFile& text_;
  std::vector<AtomRecord> residue_;
  std::vector<std::int64_t> serials_;
  std::set<std::int64_t> left_out_;
  std::size_t n_alternate_ = 0, first_alternate_ = 0;
  Structure out_;
};

/// The cell of edges [Angstrom] and angles [degree]; none for 1 x 1 x 1 and 0 x 0 x 0. Reports
/// E0702 for what is no cell.
Box cell_of(const Vec3& edges, const Vec3& angles, std::size_t offset, data::Findings& findings);

/// Lines of a PDB file, counted from 1: the first and the last of a model, and its CRYST1 where
/// that stands before them (0: none does).
struct PdbModel {
  std::size_t first, last, cell;
};
/// The models of a file, each with the cell that holds for it, and what is in them: frames are read
/// one by one in one pass. Without MODEL records, what END records part (VMD).
std::vector<PdbModel> pdb_models(const data::TextFile& text);
Structure read_pdb_model(const data::TextFile& text, const PdbModel& model);

}  // namespace tessera::molecular
