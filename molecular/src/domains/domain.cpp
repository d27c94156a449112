// SPDX-License-Identifier: Apache-2.0
#include "domains/domain.h"

#include "base/blocks.h"
#include "domains/box_cut.h"
#include "system/exact_fractions.h"
#include "system/furthest.h"
#include "system/strain.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>

namespace tessera::molecular {
namespace {

using parallel::Bytes;
using parallel::from_bytes;
using parallel::to_bytes;

std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }

template <class T>
void append(Bytes& to, const std::vector<T>& values) {
  const Bytes more = to_bytes(values);
  to.insert(to.end(), more.begin(), more.end());
}

}  // namespace

Domain::Domain(const System& all, parallel::Communicator& c,
               std::function<ListReach(const Box&)> reach, const Box& box,
               const std::vector<Vec3>& x, const std::vector<double>& weights)
    : c_(c),
      others_(c),
      me_(static_cast<std::size_t>(c.rank())),
      reach_(std::move(reach)),
      joined_(joined_atoms(all)),
      partners_(partners_of(all)),
      regions_(cut_box(box, x, weights)) {
  const Vec3 over = over_edges(box);
  home_.resize(all.n_atoms());
  for (std::size_t i = 0; i < home_.size(); ++i) {
    const Vec3 s = exact_fractions(box, over, x[at(joined_[i])].data());
    const bool is_number = std::isfinite(s[0] + s[1] + s[2]);  // else forces tell of it
    const Units p = is_number ? Units{in_units(s[0]), in_units(s[1]), in_units(s[2])} : Units{};
    const auto holds = [&](const Region& r) { return r.contains(p); };
    home_[i] = static_cast<std::int32_t>(std::ranges::find_if(regions_, holds) - regions_.begin());
    if (at(home_[i]) == regions_.size()) home_[i] = 0;
    if (at(home_[i]) == me_) own_.push_back(static_cast<std::int32_t>(i));
  }
}

bool Domain::take_places(const Box& box, const std::vector<Vec3>& x) {
  fractions_.resize(std::max(x.size(), numbers_.size()));
  for (auto& a : now_.along) a.resize(x.size());
  std::atomic<bool> fine = true;
  over_blocks(x.size(), [&](std::size_t begin, std::size_t end) {
    if (!exact_fractions(box, x.data() + begin, end - begin, fractions_.data() + begin))
      return fine.store(false, std::memory_order_relaxed);
    for (std::size_t a = 0; a < 3; ++a)
      for (std::size_t i = begin; i < end; ++i)
        now_.along[a][i] = static_cast<std::int32_t>(in_units(fractions_[i][a]));
  });
  return fine;
}

void Domain::deal(const std::vector<std::vector<Vec3>*>& values) {
  const std::size_t ranks = regions_.size(), rows = values.size();
  // Own atoms that leave: their numbers and new ranks to all, their rows to those.
  std::vector<std::int32_t> leave, to;
  std::vector<std::vector<Vec3>> sent(ranks);
  std::int32_t first = -1, home = 0;
  for (std::size_t i = 0; i < own_.size(); ++i) {
    if (const std::int32_t head = joined_[at(own_[i])]; head != first) {
      first = head;
      const std::size_t of_first =
          own_[i] == head
              ? i
              : static_cast<std::size_t>(std::ranges::lower_bound(own_, head) - own_.begin());
      const Units p = now_.of(of_first);
      home = static_cast<std::int32_t>(me_);
      for (std::size_t r = 0; r < ranks; ++r)
        if (regions_[r].contains(p)) home = static_cast<std::int32_t>(r);
    }
    if (at(home) == me_) continue;
    leave.push_back(own_[i]);
    to.push_back(home);
    for (const auto* v : values) sent[at(home)].push_back((*v)[i]);
  }
  Bytes told = to_bytes(leave);
  append(told, to);
  const std::vector<Bytes> all = c_.all_gather(told);
  std::vector<Bytes> out(ranks);
  for (std::size_t r = 0; r < ranks; ++r) out[r] = to_bytes(sent[r]);
  const std::vector<Bytes> in = c_.all_to_all(std::move(out));

  struct Arrived {
    std::int32_t number;
    std::size_t rank, row;
  };
  std::vector<Arrived> arrived;
  std::vector<std::vector<Vec3>> of(ranks);
  for (std::size_t r = 0; r < ranks; ++r) {
    const auto words = from_bytes<std::int32_t>(all[r]);
    of[r] = from_bytes<Vec3>(in[r]);
    const std::size_t many = words.size() / 2;
    std::size_t row = 0;
    for (std::size_t k = 0; k < many; ++k) {
      home_[at(words[k])] = words[many + k];
      if (at(words[many + k]) == me_) arrived.push_back({words[k], r, rows * row++});
    }
  }
  std::vector<std::size_t> stay;
  for (std::size_t i = 0; i < own_.size(); ++i)
    if (at(home_[at(own_[i])]) == me_) stay.push_back(i);
  std::ranges::sort(arrived, {}, &Arrived::number);
  std::vector<std::int32_t> now;
  std::vector<std::vector<Vec3>> kept(rows);
  for (std::size_t s = 0, a = 0; s < stay.size() || a < arrived.size();) {
    const bool is_old =
        a == arrived.size() || (s < stay.size() && own_[stay[s]] < arrived[a].number);
    now.push_back(is_old ? own_[stay[s]] : arrived[a].number);
    for (std::size_t v = 0; v < rows; ++v)
      kept[v].push_back(is_old ? (*values[v])[stay[s]] : of[arrived[a].rank][arrived[a].row + v]);
    ++(is_old ? s : a);
  }
  for (std::size_t v = 0; v < rows; ++v) *values[v] = std::move(kept[v]);
  own_ = std::move(now);
  dealt_ = true;
  wants_dealing_ = false;
}

bool Domain::bring(const Box& box, const std::vector<Vec3>& x) {
  const ListReach reach = reach_(box);
  enum { holds, soon_over, over_now, no_number };
  int state = dealt_ ? over_now : holds;
  if (!take_places(box, x)) {
    state = no_number;
  } else if (!dealt_) {
    std::vector<float> most((x.size() + block - 1) / block, 0.0F);
    over_blocks(x.size(), [&](std::size_t begin, std::size_t end) {
      most[begin / block] = furthest(box, now_.rows(), then_.rows(), begin, end);
    });
    const double square = most.empty() ? 0.0 : static_cast<double>(*std::ranges::max_element(most)),
                 stretch = strain(then_box_, box) * reach.radius_nm + slip(reach.radius_nm),
                 way = 2 * std::sqrt(square), steps = static_cast<double>(steps_ + 1);
    constexpr double faster = 1.1;  // than so far
    if (!(way + stretch <= reach.buffer_nm))
      state = over_now;
    else if (!((way + stretch) * (1 + faster / steps) <= reach.buffer_nm))
      state = soon_over;
  }
  const auto agreed = static_cast<int>(others_.largest(state));
  if (agreed == no_number) return false;
  const bool unforeseen = agreed == over_now && !dealt_;
  if (agreed == over_now) {
    renew(box, reach);
    then_ = now_;
    then_box_ = box;
    steps_ = 0;
    dealt_ = false;
  }
  ++steps_;
  wants_dealing_ = agreed == soon_over || unforeseen;
  push(box, x);
  return true;
}

/// Which own atoms others need, and which copies they send.
void Domain::renew(const Box& box, const ListReach& reach) {
  const Vec3 width = widths_nm(box);
  const bool rectangular = box.edge[1][0] == 0 && box.edge[2][0] == 0 && box.edge[2][1] == 0;
  const double half = 0.5 * reach.radius_nm * (1 + 1e-4);
  const std::size_t ranks = regions_.size();
  std::vector<std::vector<std::int32_t>> sent(ranks);
  std::vector<std::uint32_t> wanted(own_.size(), 0);  // by the rank with this number, less one
  for (std::size_t r = 0; r < ranks; ++r) {
    if (r == me_) continue;
    const Region& region = regions_[r];
    const auto mark = static_cast<std::uint32_t>(r + 1);
    for (std::size_t i = 0; i < own_.size(); ++i) {
      double sum = 0, most = 0;
      for (std::size_t a = 0; a < 3; ++a) {
        if (!region.is_cut(a)) continue;
        const double g = region.gap(a, static_cast<std::uint32_t>(now_.along[a][i])) * width[a];
        sum += g * g;
        most = std::max(most, g);
      }
      bool needed = !reach.by_atoms || (rectangular ? sum <= half * half : most <= half);
      const auto number = at(own_[i]);
      for (std::size_t k = partners_.first[number]; !needed && k < partners_.first[number + 1]; ++k)
        needed = at(home_[at(partners_.atom[k])]) == r;
      if (needed && wanted[i] != mark) {
        wanted[i] = mark;
        sent[r].push_back(static_cast<std::int32_t>(i));
      }
    }
  }
  std::vector<Bytes> told(ranks);
  for (std::size_t r = 0; r < ranks; ++r) {
    std::vector<std::int32_t> numbers;
    for (const std::int32_t i : sent[r]) numbers.push_back(own_[at(i)]);
    told[r] = to_bytes(numbers);
  }
  const std::vector<Bytes> come = c_.all_to_all(std::move(told));
  numbers_ = own_;
  peers_.clear();
  for (std::size_t r = 0; r < ranks; ++r) {
    const auto numbers = from_bytes<std::int32_t>(come[r]);
    if (r == me_ || (numbers.empty() && sent[r].empty())) continue;
    peers_.push_back({static_cast<int>(r), std::move(sent[r]), numbers_.size(), numbers.size()});
    numbers_.insert(numbers_.end(), numbers.begin(), numbers.end());
  }
  x_.resize(numbers_.size());
  fractions_.resize(numbers_.size());
  ++version_;

  // Fractions of own atoms from the middle of the region, which none is half an edge away from.
  std::array<Extent, 3> mine;
  for (std::size_t a = 0; a < 3; ++a) {
    const Region& region = regions_[me_];
    const auto centre = region.low[a] + static_cast<std::uint32_t>(region.size[a] / 2);
    std::int64_t low = std::int64_t{1} << 32, high = -low;
    for (std::size_t i = 0; i < own_.size(); ++i) {
      const std::int64_t from =
          static_cast<std::int32_t>(static_cast<std::uint32_t>(now_.along[a][i]) - centre);
      low = std::min(low, from);
      high = std::max(high, from);
    }
    if (own_.empty()) continue;
    const double room = 0.5 * reach.buffer_nm / width[a];  // that they may move
    mine[a] = {0x1p-32 * (static_cast<double>(centre) + static_cast<double>(low)) - room,
               0x1p-32 * static_cast<double>(high - low) + 2 * room};
  }
  extents_.clear();
  Bytes bytes(sizeof mine);
  std::copy_n(reinterpret_cast<const std::byte*>(mine.data()), sizeof mine, bytes.begin());
  for (const Bytes& b : c_.all_gather(bytes)) {
    std::array<Extent, 3> of;
    parallel::copy_values(b, sizeof of, of.data());
    extents_.push_back(of);
  }
}

void Domain::push(const Box& box, const std::vector<Vec3>& x) {
  std::ranges::copy(x, x_.begin());
  std::vector<std::vector<Vec3>> to(peers_.size());
  std::vector<parallel::Send> send;
  std::vector<parallel::Receive> receive;
  for (std::size_t p = 0; p < peers_.size(); ++p) {
    const Peer& peer = peers_[p];
    to[p].reserve(peer.sent.size());
    for (const std::int32_t i : peer.sent) to[p].push_back(x[at(i)]);
    if (!to[p].empty()) send.push_back({peer.rank, std::as_bytes(std::span(to[p]))});
    if (peer.copies > 0)
      receive.push_back(
          {peer.rank, std::as_writable_bytes(std::span(x_).subspan(peer.first_copy, peer.copies))});
  }
  c_.exchange("positions of copies", send, receive);
  const std::size_t own = own_.size();
  over_blocks(x_.size() - own, [&](std::size_t begin, std::size_t end) {
    exact_fractions(box, x_.data() + own + begin, end - begin, fractions_.data() + own + begin);
  });
}

}  // namespace tessera::molecular
