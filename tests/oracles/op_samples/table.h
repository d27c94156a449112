// SPDX-License-Identifier: Apache-2.0
//
// Torch's operations by the names of its database, each written with ours as a user would write it.
#pragma once
#include "call.h"

#include <map>
#include <string>
#include <vector>

namespace tessera::oracle {

using Outputs = std::vector<Tensor>;

/// A function of a call that gives a tensor, or several.
class Op {
 public:
  Op() = default;
  template <class F>
  Op(F f) {
    if constexpr (std::is_same_v<decltype(f(std::declval<const Call&>())), Tensor>)
      one_ = f;
    else
      several_ = f;
  }
  Outputs operator()(const Call& c) const { return one_ ? Outputs{one_(c)} : several_(c); }

 private:
  Tensor (*one_)(const Call&) = nullptr;
  Outputs (*several_)(const Call&) = nullptr;
};
using Table = std::map<std::string, Op>;

void unary_rows(Table& table);
void activation_rows(Table& table);
void binary_rows(Table& table);
void reduction_rows(Table& table);
void statistics_rows(Table& table);
void masked_rows(Table& table);
void shape_rows(Table& table);
void rearranging_rows(Table& table);
void index_rows(Table& table);
void order_rows(Table& table);
void product_rows(Table& table);
void factor_rows(Table& table);
void spectrum_rows(Table& table);
void fourier_rows(Table& table);
void loss_rows(Table& table);
void normalisation_rows(Table& table);
void window_rows(Table& table);
void making_rows(Table& table);

inline Table all_rows() {
  Table t;
  for (auto* add :
       {unary_rows, activation_rows, binary_rows, reduction_rows, statistics_rows, masked_rows,
        shape_rows, rearranging_rows, index_rows, order_rows, product_rows, factor_rows,
        spectrum_rows, fourier_rows, loss_rows, normalisation_rows, window_rows, making_rows})
    add(t);
  return t;
}

}  // namespace tessera::oracle
