// SPDX-License-Identifier: Apache-2.0
#include "time_domain/slab_waves.h"

#include <algorithm>
#include <cstring>
#include <span>

namespace tessera::electromagnetics::time_domain {

template <class T>
SlabWaves<T>::SlabWaves(const Tables<T>& t, T* state)
    : t_(t),
      state_(state),
      first_(t.slab.begin - t.origin[2]),
      last_(t.slab.end - 1 - t.origin[2]),
      ends_before_(static_cast<std::size_t>(t.n[1]) + 1, -1) {
  const char* what = "rows of a tile beside the slabs";
  if (t.slab.below >= 0) below_.emplace(*t.slab.ranks, t.slab.below, what);
  if (t.slab.above >= 0) above_.emplace(*t.slab.ranks, t.slab.above, what);
}

template <class T>
std::pair<int, int> SlabWaves<T>::rows(int tile, int s) const {
  const int first = std::max(tile * tile_rows_ - s, 0),
            end = std::min((tile + 1) * tile_rows_ - s, t_.n[1] + 1);
  return {first, std::max(first, end)};
}

template <class T>
void SlabWaves<T>::begin(int tiles, int tile_rows, int steps) {
  if (steps_ > 0)
    for (int tile = 0; tile < tiles_; ++tile)
      for (int j = rows(tile, steps_ - 1).first; j < rows(tile, steps_ - 1).second; ++j)
        ends_before_[static_cast<std::size_t>(j)] =
            number_[static_cast<std::size_t>((tile + 1) * steps_ - 1)];
  tiles_ = tiles, tile_rows_ = tile_rows, steps_ = steps;
  number_.clear();
  for (int tile = 0; tile < tiles; ++tile)
    for (int s = 0; s < steps; ++s) {
      const auto [first, end] = rows(tile, s);
      if (first < end) expected_.push_back({first, end});
      number_.push_back(static_cast<std::int64_t>(expected_.size()) - 1);
    }
}

/// Of two tangential components: E_x, E_y or H_x, H_y.
template <class T>
void SlabWaves<T>::send(parallel::Channel& to, int component, int k, Message m) {
  const auto bytes = static_cast<std::size_t>((m.end - m.first) * t_.row) * sizeof(T);
  parallel::Bytes b = to.buffer(2 * bytes);
  for (std::size_t c = 0; c < 2; ++c)
    std::memcpy(b.data() + c * bytes,
                state_ + t_.offset(component + static_cast<int>(c), -1, m.first, k), bytes);
  to.send(std::move(b));
}
template <class T>
void SlabWaves<T>::receive(parallel::Channel& from, int component, int k, Message m) {
  const auto bytes = static_cast<std::size_t>((m.end - m.first) * t_.row) * sizeof(T);
  parallel::Bytes b = from.buffer(2 * bytes);
  from.receive(b);
  for (std::size_t c = 0; c < 2; ++c)
    std::memcpy(state_ + t_.offset(component + static_cast<int>(c), -1, m.first, k),
                b.data() + c * bytes, bytes);
  from.keep(std::move(b));
}

template <class T>
void SlabWaves<T>::receive_up_to(std::int64_t message) {
  for (; next_ <= message; ++next_)
    receive(*above_, Ex, last_ + 1, expected_[static_cast<std::size_t>(next_)]);
}

template <class T>
void SlabWaves<T>::before(int tile, int s, int k) {
  const auto [first, end] = rows(tile, s);
  if (above_ && k == last_)
    receive_up_to(
        s > 0 ? number_[static_cast<std::size_t>(tile * steps_ + s - 1)]
              : *std::max_element(ends_before_.begin() + first, ends_before_.begin() + end));
  if (below_ && k == first_) receive(*below_, Hx, first_ - 1, {first, end});
}

template <class T>
void SlabWaves<T>::after(int tile, int s, int k) {
  const auto [first, end] = rows(tile, s);
  if (above_ && k == last_) send(*above_, Hx, last_, {first, end});
  if (below_ && k == first_) send(*below_, Ex, first_, {first, end});
}

template <class T>
void SlabWaves<T>::finish() {
  if (above_) receive_up_to(static_cast<std::int64_t>(expected_.size()) - 1);
  if (above_) above_->finish();
  if (below_) below_->finish();
}

template class SlabWaves<float>;
template class SlabWaves<double>;

}  // namespace tessera::electromagnetics::time_domain
