# SPDX-License-Identifier: Apache-2.0
"""Faults that tests of .ci/run must find: (what, file, right, wrong, program, tests)."""
SLABS, EXCHANGES = ("electromagnetics_tests", "Slabs.*"), ("parallel_tests", "Exchange*:Ghosts*:PartSums*:Communicator*:Channel*")
TRANSPOSED = ("electromagnetics_tests", "TransposedSlabs.*")
LAYOUTS, ROWS = ("parallel_tests", "Layouts.*:Exchanges.*"), ("parallel_tests", "RowMatrix.*-*.SolvesHave*")
MOLECULES = ("molecular_tests", "DividedDynamics.*")
DOMAIN = "molecular/src/domains/domain.cpp"
SEAMS = "electromagnetics/src/time_domain/seams.cpp"
ADVANCE = "electromagnetics/src/time_domain/advance.cpp"
WAVES = "electromagnetics/src/time_domain/slab_waves.cpp"
FAULTS = [
    ("a slab sends e of another line", SEAMS, "add_plane(t, a, first, t.electric.to_below)", "add_plane(t, a, first + 1, t.electric.to_below)", *SLABS),
    ("a slab sends h of another plane", SEAMS, "add_plane(t, 3 + a, end - 1, t.magnetic.to_above)", "add_plane(t, 3 + a, end - 2, t.magnetic.to_above)", *SLABS),
    ("tensors see stale h above the slab", SEAMS, "add_plane(t, 3 + c, first, t.magnetic.to_below)", "add_plane(t, 3 + c, first - 1, t.magnetic.to_below)", *SLABS),
    ("D of a nonlinear medium beside the slab is stale", SEAMS, "  if (above) add_displaced(t, end, t.displaced.from_above);",
     "  if (above) add_displaced(t, end - 1, t.displaced.from_above);", *SLABS),
    ("joined faces at the lower end are not turned", SEAMS, "t_.slab.begin == 0, turn)", "t_.slab.begin == 0, 0.0)", *SLABS),
    ("brackets across joined faces are those of the first step", ADVANCE, "if (values && !electric)\n", "if (values && !electric && n == 0)\n", *SLABS),
    ("a tile passes on e of another plane", WAVES, "send(*below_, Ex, first_, {first, end})", "send(*below_, Ex, first_ + 1, {first, end})", *SLABS),
    ("a tile begins before the one before has ended above", WAVES, "*std::max_element(ends_before_.begin() + first,", "*std::min_element(ends_before_.begin() + first,", *SLABS),
    ("what layers hold beside the slab is not sent before transposed steps", ADVANCE, "if (t.cut >= 0) seams.exchange(\"layers", "if (t.cut >= 9) seams.exchange(\"layers",
     *TRANSPOSED),
    ("cotangents of e beside the slab are left out", ADVANCE, "return states[part][place.offset];", "return 0 * states[part][place.offset];", *TRANSPOSED),
    ("layers below the slab miss a step of the tile", ADVANCE, "if (layers_below && k == first_plane)", "if (layers_below && k == first_plane && s > 0)", *TRANSPOSED),
    ("rows of energies come together in another order", "electromagnetics/src/time_domain/time_domain.cpp",
     "rows[static_cast<std::size_t>(k * ny + j)] = *next++;", "rows[static_cast<std::size_t>(j * nz + k)] = *next++;", *SLABS),
    ("a ghost row is dropped", "parallel/src/ghosts.cpp", "std::min(n, end + mine.high[d])", "std::min(n, end + mine.high[d] - (mine.high[d] > 1))", *EXCHANGES),
    ("a corner across the ends is another point", "parallel/src/ghosts.cpp", "(p < 0 ? p + n : p)", "(p < 0 ? 0 : p)", *EXCHANGES),
    ("copies are not added", "parallel/src/exchanges.cpp", "k == 0 ? copy_rows : add_rows", "k == 0 ? copy_rows : copy_rows", *EXCHANGES),
    ("a transpose is another", "parallel/src/exchanges.cpp", "  using Transposed = ReduceScatter;", "  using Transposed = AllGather;", *EXCHANGES),
    ("the tree of a sum is another", "parallel/src/exchanges.cpp", "for (std::size_t k = 0; k + step < n; k += 2 * step)",
     "for (std::size_t k = step == 1 ? n % 2 : 0; k + step < n; k += 2 * step)", *EXCHANGES),
    ("a part is left out of a sum", "parallel/src/part_sums.cpp", "if (right.begin() >= parts) return;", "if (right.begin() >= parts - 1) return;", *EXCHANGES),
    ("a rank asks for what it holds", "parallel/src/layout.cpp", "(puts ? from.owned : from.held)", "(true ? from.owned : from.held)", *LAYOUTS),
    ("of what overlaps the last is kept, not the sum", "parallel/src/layout.cpp", "add(part, true);", "add(part, false);", *LAYOUTS),
    ("a dot product is that of one rank", "autodiff/src/solve/krylov.cpp", "    if (ranks) {", "    if (ranks && parts < 0) {", *ROWS),
    ("a rank alone decides whether squares overflow", "autodiff/src/solve/krylov.cpp", "ranks ? ranks->max(mine) : mine", "ranks && mine < 0 ? ranks->max(mine) : mine", *ROWS),
    ("other exchanges are taken for the one expected", "parallel/src/communicator.cpp", "|| std::strcmp(e.what, here.what) != 0)", "|| false)", *EXCHANGES),
    ("what is the same is not cast", "parallel/src/on_ranks.cpp", "cast_[v] = number[g.outputs[0]];", "cast_[v] = v;", "parallel_tests", "OnRanksCasts.*"),
    ("copies do not reach far enough", DOMAIN, "const double half = 0.5 * reach.radius_nm", "const double half = 0.4 * reach.radius_nm", *MOLECULES),
    ("forces on copies do not come back", "molecular/src/domains/domain.h", "static_cast<Bits>(from[p][3 * k + a])", "static_cast<Bits>(0 * from[p][3 * k + a])", *MOLECULES),
    ("atoms of a rigid group part", DOMAIN, "head = joined_[at(own_[i])]", "head = own_[i]", *MOLECULES),
    ("an atom arrives with the wrong velocity", DOMAIN, "of[arrived[a].rank][arrived[a].row + v]", "of[arrived[a].rank][arrived[a].row + v / 2]", *MOLECULES),
    ("lists are kept too long", DOMAIN, "way = 2 * std::sqrt(square)", "way = 0.2 * std::sqrt(square)", *MOLECULES),
    ("pairs across a face are counted on both sides", "molecular/src/nonbonded/pair_list.cpp", "e.mask = within(cuts, positions, i, e);", "e.mask += 0;", *MOLECULES),
    ("charges of rows beside a region are lost", "molecular/src/nonbonded/pme_ranks.cpp", "to[z] += from[z];\n          }", "to[z] += 0 * from[z];\n          }", *MOLECULES),
    ("waves of other ranks' planes are left out of the virial", "molecular/src/nonbonded/pme_engine.cpp", "if (ranks_ && moments)", "if (ranks_ && !moments)", *MOLECULES),
    ("terms whose first atom is elsewhere are left out", "molecular/src/system/moving_part.cpp", "std::ranges::any_of(atoms, is_own) ? 1 : 2", "std::ranges::any_of(atoms, is_own) ? 2 : 2", *MOLECULES),
    ("terms are counted on every rank", "molecular/src/forces/term_sums.cpp", "energies && p.counted", "energies || p.counted", *MOLECULES),
    ("a sum over atoms is that of one rank", "molecular/src/base/whole_sums.cpp", "    others.add(sum);\n", "", *MOLECULES),
    ("noise counts by places, not by numbers", "molecular/src/dynamics/moves.cpp", "bodies.number.data() + start, many", "bodies.number.data(), many", *MOLECULES),
    ("a rank that gives up does not say so", "molecular/src/base/others.cpp", "meet(*c_, Said::gave_up,", "meet(*c_, Said::value,", *MOLECULES),
]

if __name__ == "__main__":  # each fault has its place: the row of acceptance that plants them takes hours
    import pathlib
    import sys

    root = pathlib.Path(__file__).resolve().parents[2]
    lost = [f"{what}: its place in {file} is there {count} times" for what, file, right, *_ in FAULTS if (count := (root / file).read_text().count(right)) != 1]
    sys.exit("\n".join(lost) or 0)
