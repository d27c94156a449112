// SPDX-License-Identifier: Apache-2.0
#include "time_domain/seams.h"

#include "tessera/autodiff/forall.h"
#include "tessera/parallel/communicator.h"
#include "time_domain/blocking.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <string>

namespace tessera::electromagnetics::time_domain {
namespace {

/// All rows of a component at one line or middle of the cut axis, with what lies across joined
/// faces.
template <class T>
void add_plane(const Tables<T>& t, int c, int at, std::vector<Stretch>& to) {
  if (t.cut == 2) {
    to.push_back({t.offset(c, -1, -1, at), t.plane});
    return;
  }
  for (int k = -1; k <= t.n[2]; ++k) to.push_back({t.offset(c, -1, at, k), t.n[0] + 2});
}

/// What the layer along the cut axis holds for a component there.
template <class T>
void add_layer(const Tables<T>& t, int c, int at, std::vector<Stretch>& to) {
  const LayerTable<T>& l = t.layer[c][t.cut];
  if (l.slabs == 0 || l.slab[static_cast<std::size_t>(at)] < 0) return;
  if (t.cut == 2) {
    to.push_back({t.psi_row(l, 2, 0, at), t.row * (t.n[1] + 1)});
    return;
  }
  for (int k = 0; k <= t.n[2]; ++k) to.push_back({t.psi_row(l, 1, at, k), t.row});
}

/// D of the nonlinear edges there.
template <class T>
void add_displaced(const Tables<T>& t, int at, std::vector<Stretch>& to) {
  for (int c = 0; c < 3; ++c) {
    const auto& special = t.component[c].special;
    if (special.empty()) continue;
    for (int k = 0; k <= t.n[2]; ++k)
      for (int j = 0; j <= t.n[1]; ++j) {
        const std::int32_t row = special[static_cast<std::size_t>(t.row_index(j, k))];
        if ((t.cut == 1 ? j : k) != at || row < 0) continue;
        for (const Nonlinear<T>& run : t.specials[static_cast<std::size_t>(row)].nonlinear)
          to.push_back({run.state, run.length});
      }
  }
}

std::int64_t length_of(const std::vector<Stretch>& all) {
  std::int64_t n = 0;
  for (const Stretch& s : all) n += s.length;
  return n;
}

}  // namespace

template <class T>
void agree(Tables<T>& t) {
  struct Told {
    bool nonlinear, coupled, one_thread;
    double coefficient_words;
    std::int64_t cache;
  };
  const std::vector<Told> mine{
      {t.nonlinear, t.coupled, num_threads() == 1, coefficient_words(t), cache_of_a_thread(1)}};
  t.agreed = {true, mine[0].coefficient_words, mine[0].cache};
  for (const parallel::Bytes& other : t.slab.ranks->all_gather(parallel::to_bytes(mine))) {
    const Told told = parallel::from_bytes<Told>(other).at(0);
    t.nonlinear |= told.nonlinear, t.coupled |= told.coupled;
    t.agreed.one_thread &= told.one_thread;
    t.agreed.coefficient_words = std::max(t.agreed.coefficient_words, told.coefficient_words);
    t.agreed.cache = std::min(t.agreed.cache, told.cache);
  }
}

template <class T>
void find_seams(Tables<T>& t) {
  const int first = t.slab.begin - t.origin[t.cut], end = t.slab.end - t.origin[t.cut];
  const bool below = t.slab.below >= 0, above = t.slab.above >= 0;
  const int b = t.cut % 3, tangential[2] = {(b + 1) % 3, (b + 2) % 3};
  for (const int a : tangential) {
    if (above) add_plane(t, 3 + a, end - 1, t.magnetic.to_above);
    if (below) add_plane(t, 3 + a, first - 1, t.magnetic.from_below);
    if (below) add_plane(t, a, first, t.electric.to_below);
    if (above) add_plane(t, a, end, t.electric.from_above);
    if (above) add_layer(t, 3 + a, end - 1, t.layers.to_above);
    if (below) add_layer(t, 3 + a, first - 1, t.layers.from_below);
    if (below) add_layer(t, a, first, t.layers.to_below);
    if (above) add_layer(t, a, end, t.layers.from_above);
  }
  for (int c = 0; t.coupled && c < 3; ++c) {
    if (below) add_plane(t, 3 + c, first, t.magnetic.to_below);
    if (above) add_plane(t, 3 + c, end, t.magnetic.from_above);
  }
  if (!t.nonlinear) return;
  for (int c = 0; c < 3; ++c) {
    if (above) add_plane(t, c, end - 1, t.displaced.to_above);
    if (below) add_plane(t, c, first - 1, t.displaced.from_below);
    if (below) add_plane(t, c, first, t.displaced.to_below);
    if (above) add_plane(t, c, end, t.displaced.from_above);
  }
  if (above) add_displaced(t, end - 1, t.displaced.to_above);
  if (below) add_displaced(t, first - 1, t.displaced.from_below);
  if (below) add_displaced(t, first, t.displaced.to_below);
  if (above) add_displaced(t, end, t.displaced.from_above);
}

template <class T>
SeamTraffic traffic_of_seams(const Tables<T>& t, int axis, std::int64_t n_steps) {
  const double steps = static_cast<double>(n_steps), parts = t.bloch ? 2 : 1,
               word = parts * sizeof(T);
  const auto plane = static_cast<double>(axis == 2 ? t.plane : (t.n[2] + 2) * (t.n[0] + 2));
  const bool waves =
      axis == 2 && !t.coupled && !t.nonlinear && !t.periodic[1] && !t.periodic[2] && !t.bloch;
  SeamTraffic s;
  if (waves) {
    const Blocking b = choose_blocking(t, n_steps, {}, true);
    const std::int64_t blocks = (n_steps + b.steps - 1) / b.steps;
    const int of_block = static_cast<int>(n_steps / blocks),
              tiles = (t.n[1] + of_block + b.rows - 1) / b.rows;
    double messages = 0;
    for (int tile = 0; tile < tiles; ++tile)
      for (int at = 0; at < of_block; ++at)
        messages +=
            std::max(tile * b.rows - at, 0) < std::min((tile + 1) * b.rows - at, t.n[1] + 1);
    s.bytes_up = 2.0 * static_cast<double>(t.row) * (t.n[1] + 1) * word;
    s.bytes_down = s.bytes_up + 2 * plane * word / steps;
    s.messages_up = messages / of_block;
    s.messages_down = s.messages_up + 1 / steps;
    return s;
  }
  double displaced = 0;  // D of nonlinear edges, in the mean over planes
  for (const auto& special : t.specials)
    for (const Nonlinear<T>& run : special.nonlinear)
      displaced += static_cast<double>(run.length) / t.n[axis];
  const double more = t.nonlinear ? 3 * plane + displaced : 0;
  s.bytes_up = (2 * plane + more) * word;
  s.bytes_down = (2 * plane * (1 + 1 / steps) + (t.coupled ? 3 * plane : 0) + more) * word;
  s.messages_up = t.nonlinear ? 2 : 1;
  s.messages_down = 1 + 1 / steps + (t.coupled ? 1 : 0) + (t.nonlinear ? 1 : 0);
  return s;
}

template <class T>
void Seams<T>::pack(const std::vector<Stretch>& from, Buffer& to) const {
  for (const T* state : states_)
    for (const Stretch& s : from)
      to.insert(to.end(), state + s.offset, state + s.offset + s.length);
}

/// `joined`: across faces that are, times e^{i phase} where fields have two parts.
template <class T>
const T* Seams<T>::unpack(const std::vector<Stretch>& to, const T* from, bool joined,
                          double phase) {
  if (states_.size() == 1 || !joined) {
    for (T* state : states_)
      for (const Stretch& s : to) {
        std::copy_n(from, s.length, state + s.offset);
        from += s.length;
      }
    return from;
  }
  const T cosine = static_cast<T>(std::cos(phase)), sine = static_cast<T>(std::sin(phase));
  const T *re = from, *im = from + length_of(to);
  for (const Stretch& s : to)
    for (std::int64_t i = 0; i < s.length; ++i, ++re, ++im) {
      states_[0][s.offset + i] = cosine * *re - sine * *im;
      states_[1][s.offset + i] = cosine * *im + sine * *re;
    }
  return im;
}

/// Where both neighbours are one rank, it gets first what goes down, then what goes up.
template <class T>
void Seams<T>::exchange(const char* what, const Seam& seam) {
  const int below = t_.slab.below, above = t_.slab.above;
  std::vector<parallel::Send> send;
  std::vector<parallel::Receive> receive;
  const auto next_to_it = [&](auto body) {
    if (below >= 0) body(0, below, true, below == above);
    if (above >= 0 && above != below) body(1, above, false, true);
  };
  next_to_it([&](int buffer, int rank, bool is_below, bool is_above) {
    Buffer &out = sent_[buffer], &in = received_[buffer];
    out.clear();
    if (is_below) pack(seam.to_below, out);
    if (is_above) pack(seam.to_above, out);
    const std::int64_t length =
        (is_above ? length_of(seam.from_above) : 0) + (is_below ? length_of(seam.from_below) : 0);
    in.resize(states_.size() * static_cast<std::size_t>(length));
    if (!out.empty()) send.push_back({rank, std::as_bytes(std::span(out))});
    if (!in.empty()) receive.push_back({rank, std::as_writable_bytes(std::span(in))});
  });
  t_.slab.ranks->exchange(what, send, receive);
  const double turn = t_.phase[t_.cut];
  next_to_it([&](int buffer, int, bool is_below, bool is_above) {
    const T* from = received_[buffer].data();
    if (is_above) from = unpack(seam.from_above, from, t_.slab.end == t_.grid.cells(t_.cut), -turn);
    if (is_below) unpack(seam.from_below, from, t_.slab.begin == 0, turn);
  });
}

/// To each neighbour, in this order, what goes down and what goes up: of edges beside the seam,
/// then of those at joined faces.
template <class T>
void Seams<T>::exchange_values(const char* what, bool beside, const Value& value) {
  const int below = t_.slab.below, above = t_.slab.above;
  const bool joined_below = t_.slab.begin == 0 && t_.periodic[t_.cut],
             joined_above = t_.slab.end == t_.grid.cells(t_.cut) && t_.periodic[t_.cut];
  const std::size_t parts = states_.size();
  const auto pack = [&](Buffer& out, const std::vector<BracketPlace>& places) {
    for (std::size_t part = 0; part < parts; ++part)
      for (const BracketPlace& place : places) out.push_back(value(part, place));
  };
  const auto next_to_it = [&](auto body) {
    if (below >= 0) body(0, below, true, below == above);
    if (above >= 0 && above != below) body(1, above, false, true);
  };
  const auto count = [&](bool is_below, bool is_above) {
    std::int64_t n = 0;
    if (beside) n += (is_below ? t_.beside.from_below : 0) + (is_above ? t_.beside.from_above : 0);
    if ((is_below && joined_below) || (is_above && joined_above)) n += t_.turned.from;
    return parts * static_cast<std::size_t>(n);
  };
  std::vector<parallel::Send> send;
  std::vector<parallel::Receive> receive;
  next_to_it([&](int buffer, int rank, bool is_below, bool is_above) {
    Buffer &out = sent_[buffer], &in = received_[buffer];
    out.clear();
    if (is_below && beside) pack(out, t_.beside.to_below);
    if (is_below && joined_below) pack(out, t_.turned.to);
    if (is_above && beside) pack(out, t_.beside.to_above);
    if (is_above && joined_above) pack(out, t_.turned.to);
    in.resize(count(is_below, is_above));
    if (!out.empty()) send.push_back({rank, std::as_bytes(std::span(out))});
    if (!in.empty()) receive.push_back({rank, std::as_writable_bytes(std::span(in))});
  });
  t_.slab.ranks->exchange(what, send, receive);
  next_to_it([&](int buffer, int, bool is_below, bool is_above) {
    auto from = received_[buffer].begin();
    const auto take_beside = [&](std::int64_t first, std::int64_t n) {
      for (std::size_t part = 0; beside && part < parts; ++part, from += n)
        std::copy_n(from, n,
                    beside_.begin() + static_cast<std::ptrdiff_t>(part * n_beside()) + first);
    };
    const auto take_turned = [&] {
      std::copy_n(from, turned_.size(), turned_.begin());
      from += std::ssize(turned_);
    };
    if (is_above) take_beside(t_.beside.from_below, t_.beside.from_above);
    if (is_above && joined_above) take_turned();
    if (is_below) take_beside(0, t_.beside.from_below);
    if (is_below && joined_below) take_turned();
  });
}

template void agree(Tables<float>&);
template void agree(Tables<double>&);
template void find_seams(Tables<float>&);
template void find_seams(Tables<double>&);
template SeamTraffic traffic_of_seams(const Tables<float>&, int, std::int64_t);
template SeamTraffic traffic_of_seams(const Tables<double>&, int, std::int64_t);
template class Seams<float>;
template class Seams<double>;

}  // namespace tessera::electromagnetics::time_domain
