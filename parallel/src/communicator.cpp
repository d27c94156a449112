// SPDX-License-Identifier: Apache-2.0
#include "tessera/parallel/communicator.h"

#include "tessera/autodiff/error.h"
#include "transport.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <map>
#include <utility>

namespace tessera::parallel {
namespace {

/// The end of a text counts: of a path its file.
void put(std::string_view text, std::span<char> to) {
  const std::size_t most = to.size() - 1, n = std::min(most, text.size());
  std::memcpy(to.data(), text.data() + (text.size() - n), n);
}

Envelope envelope_of(const std::string& what, std::uint64_t number, SourceLine line) {
  Envelope e;
  e.number = number;
  e.line = line.number;
  put(what, e.what);
  put(line.file, e.file);
  return e;
}

std::string place_of(const Envelope& e) {
  return std::string(e.what) + ", " + to_string(SourceLine{e.file, e.line, false});
}
std::string nth(std::uint64_t number) { return "exchange " + std::to_string(number); }
std::string rank_of(int r) { return "rank " + std::to_string(r); }

void require_same(const Envelope& here, int me, const Envelope& e, int from) {
  if (e.number != here.number || std::strcmp(e.what, here.what) != 0)
    throw Error("[parallel] ranks are at different exchanges: " + rank_of(me) + " at " +
                nth(here.number) + ", " + place_of(here) + "; " + rank_of(from) + " at " +
                nth(e.number) + ", " + place_of(e));
}
void require_size(const Envelope& here, int me, std::size_t expected, const Envelope& e, int from) {
  if (expected != e.bytes)
    throw Error("[parallel] " + place_of(here) + ": " + rank_of(me) + " expects " +
                std::to_string(expected) + " bytes from " + rank_of(from) + ", which sends " +
                std::to_string(e.bytes) + " at " + to_string(SourceLine{e.file, e.line, false}));
}

std::string seconds_text(double s) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g s", s);
  return text;
}

}  // namespace

/// A message of an exchange that is not done, and the rank at its other end.
struct Communicator::Open {
  std::unique_ptr<Pending> message;
  int rank;
  bool receives;
};

namespace {

template <class Opens>
std::vector<int> ranks_of(const Opens& open) {
  std::vector<int> ranks;
  for (const auto& o : open) ranks.push_back(o.rank);
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  return ranks;
}

std::string names_of(const std::vector<int>& ranks) {
  std::string text = ranks.size() > 1 ? "ranks" : "rank";
  for (std::size_t k = 0; k < ranks.size(); ++k)
    text += (k == 0 ? " " : k + 1 == ranks.size() ? " and " : ", ") + std::to_string(ranks[k]);
  return text;
}

}  // namespace

Communicator::Communicator(std::unique_ptr<Transport> transport)
    : transport_(std::move(transport)),
      sent_to_(static_cast<std::size_t>(transport_->size())),
      got_from_(sent_to_.size()) {}
Communicator::Communicator(Communicator&&) noexcept = default;
Communicator& Communicator::operator=(Communicator&&) noexcept = default;
Communicator::~Communicator() = default;

// Two ranks that wait for each other at different exchanges see no message that would tell: each
// says where it waits, and who reads it, and waits too, judges. Messages between two ranks keep
// their order, so the counts of both say exactly what is still to come.
void Communicator::judge(const std::vector<Open>& open, const Envelope& here, std::uint64_t place,
                         int from, const Notice& n) const {
  const auto other = static_cast<std::size_t>(from);
  bool from_it = false;  // this rank waits for a message of that one
  for (const Open& o : open) from_it = from_it || (o.rank == from && o.receives);
  // What it waits for is a message that this rank has not sent, or one that this rank has not
  // asked for. In its own exchange a rank has sent and asked all before it waits; between
  // exchanges, in channels, it may be about to, but for one that waits for the other.
  const bool in_exchange = place % 2 == 0;
  const bool is_past = place > n.place || (place == n.place && in_exchange);
  const bool none_is_sent = n.wants_more && n.got == sent_to_[other];
  const bool none_is_asked = !n.wants_more && !from_it && n.sent > got_from_[other];
  const bool both_wait =
      place == n.place && !in_exchange && none_is_sent && from_it && n.sent == got_from_[other];
  if ((is_past && (none_is_sent || none_is_asked)) || both_wait)
    throw Error("[parallel] " + rank_of(from) + " waits for " + rank_of(rank()) +
                " in vain: " + rank_of(from) + " at " + nth(n.at.number) + ", " + place_of(n.at) +
                "; " + rank_of(rank()) + " at " + nth(here.number) + ", " + place_of(here));
}

// A rank is silent from the notice on that it has not answered: the first, which goes out a while
// after the wait began, counts from there.
// Time in which this rank did not run itself, stopped and let go on again, is not held against the
// others.
struct Communicator::Wait {
  using Time = std::chrono::steady_clock::time_point;
  std::vector<Open>& open;
  const Envelope& here;
  const std::uint64_t place;
  const Time begin = std::chrono::steady_clock::now();
  Time looked = begin;
  Time::duration stopped{};
  Time awake() {
    const Time now = std::chrono::steady_clock::now();
    if (now - looked > std::chrono::milliseconds(500)) stopped += now - looked;
    looked = now;
    return now - stopped;
  }
  struct Other {
    Time noted, answered;  ///< when the last notice went out, when it was answered
    bool waits_for_answer = false, is_named = false;
  };
  std::map<int, Other> others = {};
};

void Communicator::send_notice(const Wait& w, int other, bool is_answer) {
  const auto k = static_cast<std::size_t>(other);
  Notice n{w.here, w.place, sent_to_[k], got_from_[k], false, is_answer};
  for (const Open& o : w.open) n.wants_more = n.wants_more || (o.rank == other && o.receives);
  transport_->tell_waiting(other, n);
}

void Communicator::read_notices(Wait& w) {
  const auto now = w.awake();
  transport_->read_notices([&](int from, const Notice& n) {
    if (n.is_answer) {
      const auto other = w.others.find(from);
      if (other == w.others.end()) return;  // to one of an earlier wait
      other->second.waits_for_answer = false;
      other->second.answered = now;
    } else {
      judge(w.open, w.here, w.place, from, n);
      send_notice(w, from, true);
    }
  });
  notices_read_ = w.looked;
}

void Communicator::look_at_others(Wait& w) {
  constexpr double kFirst = 0.3, kNext = 0.5;  // s, of notices
  const auto now = w.awake();
  const auto since = [&](Wait::Time t) { return std::chrono::duration<double>(now - t).count(); };
  if (since(w.begin) < std::min(kFirst, patience.tell)) return;
  std::vector<int> silent, gone;
  for (const int r : ranks_of(w.open)) {
    const bool is_first = !w.others.contains(r);
    Wait::Other& o = w.others[r];
    if (is_first || (!o.waits_for_answer && since(o.answered) > kNext)) {
      o.noted = is_first ? w.begin : now;
      o.waits_for_answer = true;
      send_notice(w, r, false);
    }
    if (!o.waits_for_answer) continue;
    if (since(o.noted) > patience.end) gone.push_back(r);
    if (since(o.noted) > patience.tell && !std::exchange(o.is_named, true)) silent.push_back(r);
  }
  read_notices(w);
  const auto text = [&](const char* verb, const std::vector<int>& ranks) {
    return rank_of(rank()) + verb + names_of(ranks) + " in " + place_of(w.here);
  };
  if (!gone.empty())
    throw WaitedInVain("[parallel] " + text(" waited in vain for ", gone) + ": not there after " +
                           seconds_text(patience.end),
                       gone);
  if (silent.empty()) return;
  if (patience.say)
    patience.say(text(" waits for ", silent));
  else
    std::fprintf(stderr, "%s\n", text(" waits for ", silent).c_str());
}

void Communicator::wait(std::vector<Open>& open, const Envelope& here, std::uint64_t place) {
  if (failure_) std::rethrow_exception(failure_);
  Wait w{open, here, place};
  // Who never waits long reads them, too, so that they do not pile up.
  if (w.begin - notices_read_ > std::chrono::seconds(1)) read_notices(w);
  const auto done = [&](const Open& o) {
    if (!o.message->done()) return false;
    if (o.receives) ++got_from_[static_cast<std::size_t>(o.rank)];
    return true;
  };
  for (int round = 0;; ++round) try {
      const std::size_t before = open.size();
      std::erase_if(open, done);
      if (open.empty()) return;
      if (open.size() < before) round = 0;
      if (round % 64 == 63) look_at_others(w);
      transport_->idle(round);
    } catch (const CommunicationFailed& e) {
      knows_failure_ = knows_failure_ || dynamic_cast<const OtherRankFailed*>(&e);
      failure_ = std::current_exception();
      throw;
    }
}

OtherRankFailed::OtherRankFailed(int rank_, int code_, const std::string& text)
    : CommunicationFailed("rank " + std::to_string(rank_) + ": " + text),
      rank(rank_),
      code(code_) {}

void Communicator::fail(const std::string& text, int code) {
  knows_failure_ = true;
  transport_->tell_failure(text, code);
}

int Communicator::rank() const { return transport_->rank(); }
int Communicator::size() const { return transport_->size(); }

void Communicator::exchange(const std::string& what, std::span<const Send> send,
                            std::span<const Receive> receive, SourceLine line) {
  if (failure_) std::rethrow_exception(failure_);
  Envelope here = envelope_of(what, ++number_, line);
  const int me = rank();
  const auto check_rank = [&](int r) {
    if (r < 0 || r >= size())
      throw Error("[parallel] " + place_of(here) + ": there is no " + rank_of(r) + " among " +
                  std::to_string(size()));
  };
  const auto place = [&](int from, const Receive& r, const Envelope& e) {
    require_same(here, me, e, from);
    if (r.sized) {
      r.sized->resize(e.bytes);
      return std::span(*r.sized);
    }
    require_size(here, me, r.into.size(), e, from);
    return r.into;
  };
  std::vector<Open> open;
  std::span<const std::byte> own;
  bool from_me = false;
  for (const Send& s : send) {
    check_rank(s.to);
    if (s.to == me) {
      own = s.bytes, from_me = true;
      continue;
    }
    here.bytes = s.bytes.size();
    open.push_back({transport_->send(s.to, here, s.bytes), s.to, false});
    count_sent(s.to, s.bytes.size());
  }
  for (const Receive& r : receive) {
    check_rank(r.from);
    if (r.from != me) {
      open.push_back({transport_->receive(
                          r.from, [&, &r = r](const Envelope& e) { return place(r.from, r, e); }),
                      r.from, true});
      continue;
    }
    if (!from_me)
      throw Error("[parallel] " + place_of(here) + ": " + rank_of(me) + " sends itself nothing");
    here.bytes = own.size();
    const std::span<std::byte> to = place(me, r, here);
    if (!own.empty()) std::memmove(to.data(), own.data(), own.size());
  }
  wait(open, here, 2 * number_);
}

void Communicator::count_sent(int to, std::size_t bytes) {
  ++sent_to_[static_cast<std::size_t>(to)];
  sent_bytes_ += bytes, ++sent_messages_;
}

void Communicator::meet(const std::string& what, SourceLine line) {
  // After k rounds a rank knows of the 2^k before it.
  for (int step = 1; step < size(); step *= 2) {
    const Send to{(rank() + step) % size(), {}};
    const Receive from{(rank() - step + size()) % size(), {}};
    exchange(what, {&to, 1}, {&from, 1}, line);
  }
}
void Communicator::barrier(SourceLine line) { meet("barrier", line); }
void Communicator::finish(SourceLine line) {
  if (!knows_failure_) meet("end of the run", line);
}

Bytes Communicator::broadcast(Bytes bytes, int from, SourceLine line) {
  if (from < 0 || from >= size())
    throw Error("[parallel] broadcast from rank " + std::to_string(from) + " of " +
                std::to_string(size()) + ", " + to_string(line));
  // Ranks counted from `from`: in round 2^k those below it send to those as many further on.
  const int me = (rank() - from + size()) % size();
  const auto real = [&](int r) { return (r + from) % size(); };
  for (int step = 1; step < size(); step *= 2) {
    std::vector<Send> send;
    std::vector<Receive> receive;
    if (me < step && me + step < size()) send.push_back({real(me + step), bytes});
    if (me >= step && me < 2 * step) receive.push_back({real(me - step), {}, &bytes});
    exchange("broadcast from rank " + std::to_string(from), send, receive, line);
  }
  return bytes;
}

std::vector<Bytes> Communicator::gather(Bytes mine, int to, SourceLine line) {
  const Send send{to, mine};
  std::vector<Bytes> all(rank() == to ? static_cast<std::size_t>(size()) : 0);
  std::vector<Receive> receive;
  for (std::size_t r = 0; r < all.size(); ++r)
    receive.push_back({static_cast<int>(r), {}, &all[r]});
  exchange("gather to rank " + std::to_string(to), {&send, 1}, receive, line);
  return all;
}

std::vector<Bytes> Communicator::all_gather(const Bytes& mine, SourceLine line) {
  std::vector<Bytes> all(static_cast<std::size_t>(size()));
  std::vector<Send> send;
  std::vector<Receive> receive;
  for (int r = 0; r < size(); ++r) {
    send.push_back({r, mine});
    receive.push_back({r, {}, &all[static_cast<std::size_t>(r)]});
  }
  exchange("all-gather", send, receive, line);
  return all;
}

std::vector<Bytes> Communicator::all_to_all(std::vector<Bytes> to, SourceLine line) {
  if (to.size() != static_cast<std::size_t>(size()))
    throw Error("[parallel] all-to-all, " + to_string(line) + ": " + std::to_string(to.size()) +
                " messages for " + std::to_string(size()) + " ranks");
  std::vector<Bytes> all(to.size());
  std::vector<Send> send;
  std::vector<Receive> receive;
  for (std::size_t r = 0; r < to.size(); ++r) {
    send.push_back({static_cast<int>(r), to[r]});
    receive.push_back({static_cast<int>(r), {}, &all[r]});
  }
  exchange("all-to-all", send, receive, line);
  return all;
}

void copy_values(std::span<const std::byte> from, std::size_t element, void* to) {
  if (from.size() % element != 0)
    throw Error("[parallel] " + std::to_string(from.size()) + " bytes are no whole number of " +
                std::to_string(element) + "-byte values");
  if (!from.empty()) std::memcpy(to, from.data(), from.size());
}

struct Channel::Sent {
  Bytes bytes;
  std::unique_ptr<Pending> message;
};

Channel::Channel(Communicator& c, int peer, std::string what, SourceLine line)
    : c_(c), peer_(peer), what_(std::move(what)), line_(line) {}
Channel::~Channel() = default;

Bytes Channel::buffer(std::size_t bytes) {
  Bytes b;
  if (!free_.empty()) {
    b = std::move(free_.back());
    free_.pop_back();
  }
  b.resize(bytes);
  return b;
}

void Channel::send(Bytes bytes) {
  for (; !open_.empty() && open_.front().message->done(); open_.pop_front())
    free_.push_back(std::move(open_.front().bytes));
  Envelope e = envelope_of(what_, ++sent_, line_);
  e.bytes = bytes.size();
  open_.push_back({std::move(bytes), nullptr});
  Sent& s = open_.back();
  s.message = c_.transport_->send(peer_, e, s.bytes);
  c_.count_sent(peer_, s.bytes.size());
}

void Channel::receive(std::span<std::byte> into) {
  const Envelope here = envelope_of(what_, ++received_, line_);
  std::vector<Communicator::Open> open;
  open.push_back({c_.transport_->receive(peer_,
                                         [&](const Envelope& e) {
                                           require_same(here, c_.rank(), e, peer_);
                                           require_size(here, c_.rank(), into.size(), e, peer_);
                                           return into;
                                         }),
                  peer_, true});
  c_.wait(open, here, 2 * c_.number_ + 1);
}

void Channel::finish() {
  std::vector<Communicator::Open> open;
  for (Sent& s : open_) open.push_back({std::move(s.message), peer_, false});
  c_.wait(open, envelope_of(what_, sent_, line_), 2 * c_.number_ + 1);
  for (Sent& s : open_) free_.push_back(std::move(s.bytes));
  open_.clear();
}

}  // namespace tessera::parallel
