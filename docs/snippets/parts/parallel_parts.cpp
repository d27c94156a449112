// SPDX-License-Identifier: Apache-2.0
// What stands around derivatives through an exchange, and from one layout to another.
#include <tessera/autodiff/grad.h>
#include <tessera/autodiff/ops.h>
#include <tessera/parallel/exchanges.h>
#include <tessera/parallel/layout.h>
#include <tessera/parallel/on_ranks.h>

#include <atomic>

using namespace tessera;

int main() {
  std::atomic<int> right{0};
  parallel::run_ranks(4, [&](parallel::Communicator& c) {
    // Each rank owns two values and reads all that are smaller.
    const Index first = 2 * c.rank();
    std::vector<Index> my_rows{first, first + 1}, rows_that_i_read(static_cast<std::size_t>(first));
    for (Index k = 0; k < first; ++k) rows_that_i_read[static_cast<std::size_t>(k)] = k;
    const Tensor w(0.5), x = ones({2});

    const auto plan =
        parallel::ExchangePlan::make(c, {.owned = my_rows, .wanted = rows_that_i_read});
    const auto of_rows = [&](const Tensor& w, const Tensor& x) {
      return parallel::sum_over_ranks(c, sum(square(parallel::push(plan, x) * w)));
    };
    const auto loss =
        parallel::on_ranks(c, of_rows, {parallel::OnRanks::same, parallel::OnRanks::varies});
    const Tensor dw = grad(loss)(w, x);  // the same on all ranks, too

    right += dw.item() == 12;  // 12 values are read: d/dw of 12 w^2
  });
  parallel::run_ranks(6, [&](parallel::Communicator& c) {
    const Shape w_shape{4, 6};
    const Tensor w = ones({2, 2}), x = ones({1, 4});

    const parallel::RankMesh mesh(c, {{"data", 2}, {"model", 3}});
    const parallel::Layout tiles{{parallel::cut_over("data"), parallel::cut_over("model")}},
        columns{{parallel::whole(), parallel::cut_over("model")}};
    const auto to_columns = parallel::redistribution(mesh, w_shape, tiles, columns);
    const auto loss = [&](Tensor w, Tensor x) {  // w: this rank's tile, x: its rows
      const Tensor y = matmul(x, parallel::redistribute(to_columns, w));
      return parallel::sum_over_ranks(c, sum(square(y)));
    };
    const Tensor dw = grad(loss)(w, x);  // this rank's tile

    right += sum(dw).item() == 64;  // 2 rows, y = 4: each of four elements has 2 * 2 * 4
  });
  return right == 10 ? 0 : 1;
}
