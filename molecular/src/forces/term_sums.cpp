// SPDX-License-Identifier: Apache-2.0
#include "forces/term_sums.h"

#include "tessera/autodiff/forall.h"
#include "tessera/autodiff/shares.h"

#include <algorithm>
#include <memory>

namespace tessera::molecular {

TermSums::TermSums(const ForcePart& part, const Nonbonded& o, const TermChoice& choice) {
  std::size_t kind = 0;
  each_bonded(
      [&](const BondedKind& of, const auto&) {
        const std::size_t counted = part.counted[kind++];
        for (const Term term : bonded_terms) {
          if (!choice.bonded || !of.gives(term) || !acts(term, o)) continue;
          const BondedTermPtr t = bonded_term(part.system, term, o.epsilon_r);
          if (t)
            lists_.push_back({t->size(), counted, false,
                              [t](const Vec3* x, const Box& box, std::size_t begin, std::size_t end,
                                  bool, Sums& sums) { t->add(x, box, begin, end, sums); }});
        }
      },
      part.system);
  if (choice.ewald_excluded) {
    const auto e = std::make_shared<ExcludedRun>(part.system, o, *choice.ewald_excluded,
                                                 part.counted_exclusions);
    lists_.push_back(
        {e->size(), e->counted(), true,
         [e](const Vec3* x, const Box& box, std::size_t begin, std::size_t end, bool energies,
             Sums& sums) { e->add(x, box, begin, end, energies, sums); }});
  }
  if (choice.field_excluded) {
    const auto e = std::make_shared<ExcludedField>(part.system, o);
    lists_.push_back({e->size(), part.counted_exclusions, false,
                      [e](const Vec3* x, const Box& box, std::size_t begin, std::size_t end, bool,
                          Sums& sums) { e->add(x, box, begin, end, sums); }});
  }
}

Sums TermSums::add(const std::vector<Vec3>& x, const Box& box, bool energies,
                   const FixedScale& scale) {
  constexpr std::size_t most = 512;
  struct Piece {
    const List* list;
    std::size_t begin, end;
    bool counted;
  };
  std::vector<Piece> pieces;
  for (const List& list : lists_) {
    if (list.needs_box && !is_periodic(box)) continue;
    for (std::size_t k = 0; k < list.size;) {
      const bool counted = k < list.counted;
      const std::size_t end = std::min(k + most, counted ? list.counted : list.size);
      pieces.push_back({&list, k, end, counted});
      k = end;
    }
  }
  // A thread's share of every kind of term is about the same atoms.
  std::ranges::stable_sort(pieces, {}, [](const Piece& p) {
    return static_cast<double>(p.begin) / static_cast<double>(p.list->size);
  });
  const auto threads =
      std::clamp<std::size_t>(pieces.size(), 1, static_cast<std::size_t>(num_threads()));
  Sums none;
  none.scale = scale;
  none.wants_energies = energies;
  std::vector<Sums> sums(threads, none);
  force_.begin(pieces.empty() ? 0 : threads, 3 * x.size());
  Shares shares(static_cast<std::int64_t>(pieces.size()), static_cast<int>(threads));
  if (!pieces.empty())
    parallel_chunks(static_cast<std::int64_t>(threads), [&](std::int64_t thread) {
      const auto t = static_cast<std::size_t>(thread);
      Sums own = none;
      own.force = force_.open(t);
      shares.take(thread, [&](std::int64_t k) {
        const Piece& p = pieces[static_cast<std::size_t>(k)];
        own.wants_energies = energies && p.counted;
        p.list->add(x.data(), box, p.begin, p.end, own.wants_energies, own);
        return true;
      });
      own.wants_energies = energies;
      sums[t] = own;
    });
  Sums total = sums[0];
  for (std::size_t t = 1; t < threads; ++t) total.add(sums[t]);
  return total;
}

}  // namespace tessera::molecular
