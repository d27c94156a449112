// SPDX-License-Identifier: Apache-2.0
#include "ldlt/order.h"
#include "tessera/autodiff/error.h"
#include "tessera/autodiff/own_signals.h"

#include <metis.h>

#include <new>
#include <string>

namespace tessera::solvers::ldlt_detail {

std::vector<std::int32_t> fill_reducing_order(const Neighbours& g) {
  constexpr std::int32_t small = 128;  // cutting pays for more than this
  if (g.size() <= small || g.next.empty()) return minimum_degree_order(g);
  std::vector<idx_t> first(g.first.begin(), g.first.end()), next(g.next.begin(), g.next.end()),
      order(static_cast<std::size_t>(g.size())), place(order.size());
  idx_t options[METIS_NOPTIONS];
  METIS_SetDefaultOptions(options);
  options[METIS_OPTION_SEED] = 1;
  options[METIS_OPTION_PFACTOR] = 200;  // rows twenty times as dense as the mean come last
  idx_t n = static_cast<idx_t>(g.size());
  // One call at a time: it draws from rand().
  const int code = with_own_signals(METIS_ERROR, [&] {
    return METIS_NodeND(&n, first.data(), next.data(), nullptr, options, order.data(),
                        place.data());
  });
  if (code == METIS_ERROR_MEMORY) throw std::bad_alloc();
  if (code != METIS_OK)
    throw Error("[ldlt] METIS refuses the graph (code " + std::to_string(code) + ")");
  return {order.begin(), order.end()};
}

}  // namespace tessera::solvers::ldlt_detail
