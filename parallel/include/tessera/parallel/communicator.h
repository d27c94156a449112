// SPDX-License-Identifier: Apache-2.0
//
// The ranks that run one program together, and what they send each other.
//
//   run_ranks(4, [](Communicator& c) {            // four threads; under mpirun: mpi_communicator()
//     std::vector<double> x(3, c.rank());
//     ...
//     const auto all = c.all_gather(to_bytes(x)); // what each rank gave, in their order
//   });
//
// All ranks make the same calls in the same order. Each message says which exchange it belongs to,
// what that moves and which source line it stands in: where two ranks are at different ones, also
// where each waits for the other, an Error tells both lines; after an Error of an exchange nothing
// more is exchanged. A rank for which others wait is named after `Patience::tell` and goes on when
// it comes; after `Patience::end` the wait throws. A CommunicationFailed is thrown again by every
// later exchange of that rank, at once. Messages are received where they are expected, in any order
// of ranks; nothing here depends on which came first.
#pragma once
#include "tessera/autodiff/error.h"
#include "tessera/autodiff/shape.h"
#include "tessera/autodiff/source_line.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace tessera::parallel {

class Transport;  // src/transport.h
struct Envelope;
struct Notice;

/// Another rank has failed or does not come. Whoever catches Errors to go on in another way, as
/// with a shorter step, lets this one through.
struct CommunicationFailed : Error {
  using Error::Error;
};

/// What a rank that waits throws when another one has failed (Communicator::fail).
struct OtherRankFailed : CommunicationFailed {
  OtherRankFailed(int rank, int code, const std::string& text);
  int rank, code;
};

/// What a rank throws that has waited for another one as long as Patience::end says.
struct WaitedInVain : CommunicationFailed {
  WaitedInVain(const std::string& text, std::vector<int> ranks_)
      : CommunicationFailed(text), ranks(std::move(ranks_)) {}
  std::vector<int> ranks;  ///< that did not come
};

using Bytes = std::vector<std::byte>;

/// How long a rank waits for others, in seconds: for ranks that do not wait for others in turn.
struct Patience {
  double tell = 1.25;                                    ///< then it names them
  double end = std::numeric_limits<double>::infinity();  ///< then it throws WaitedInVain
  /// What it tells: "rank 0 waits for rank 3 in sum f64[2], solver.cpp:40".
  std::function<void(const std::string&)> say;  ///< null: a line on standard error
};

/// One message of an exchange, at most one to and one from each rank.
struct Send {
  int to;
  std::span<const std::byte> bytes;
};
struct Receive {
  int from;
  std::span<std::byte> into;  ///< as many bytes as are sent
  Bytes* sized = nullptr;     ///< if not null it is resized to what comes, and `into` is not used
};

class Communicator {
 public:
  explicit Communicator(std::unique_ptr<Transport> transport);
  Communicator(Communicator&&) noexcept;
  Communicator& operator=(Communicator&&) noexcept;
  ~Communicator();

  int rank() const;
  int size() const;
  Patience patience;

  /// Sends and receives, and returns when what this rank sent may change and what it receives is
  /// there. `what` names the exchange: "sum f64[3]". Ranks without a message take part, too.
  void exchange(const std::string& what, std::span<const Send> send,
                std::span<const Receive> receive, SourceLine line = SourceLine::here());

  /// Returns when all ranks have come.
  void barrier(SourceLine line = SourceLine::here());
  /// The bytes of rank `from`, to all.
  Bytes broadcast(Bytes bytes, int from = 0, SourceLine line = SourceLine::here());
  /// What each rank gave, in their order, at rank `to`; nothing at the others.
  std::vector<Bytes> gather(Bytes mine, int to = 0, SourceLine line = SourceLine::here());
  std::vector<Bytes> all_gather(const Bytes& mine, SourceLine line = SourceLine::here());
  /// `to[k]` goes to rank k; gives what each rank had for this one.
  std::vector<Bytes> all_to_all(std::vector<Bytes> to, SourceLine line = SourceLine::here());

  /// This rank has failed and takes part in nothing more: wherever others wait they throw
  /// OtherRankFailed, with the text and the code, which means what its users agree on.
  void fail(const std::string& text, int code);

  /// The last call: all ranks have come to their end, or this one knows that one has failed.
  /// Without it a rank that ends early is seen only by those that wait for it.
  void finish(SourceLine line = SourceLine::here());

  /// Bytes that this rank has sent to others, and in how many messages.
  std::uint64_t sent_bytes() const { return sent_bytes_; }
  std::uint64_t sent_messages() const { return sent_messages_; }

 private:
  friend class Channel;
  struct Open;
  void meet(const std::string& what, SourceLine line);
  void count_sent(int to, std::size_t bytes);
  /// `place` in the order of all ranks: twice the number of the exchange, one more behind it, where
  /// channels are.
  void wait(std::vector<Open>& open, const Envelope& here, std::uint64_t place);
  struct Wait;
  void look_at_others(Wait& w);
  void send_notice(const Wait& w, int other, bool is_answer);
  void read_notices(Wait& w);
  void judge(const std::vector<Open>& open, const Envelope& here, std::uint64_t place, int from,
             const Notice& notice) const;

  std::unique_ptr<Transport> transport_;
  std::uint64_t number_ = 0, sent_bytes_ = 0, sent_messages_ = 0;
  std::vector<std::uint64_t> sent_to_, got_from_;  ///< messages
  std::chrono::steady_clock::time_point notices_read_;
  bool knows_failure_ = false;
  std::exception_ptr failure_;  ///< the CommunicationFailed that has ended its exchanges
};

/// Messages to and from one rank in an order of their own: others' exchanges have no part in it,
/// and may not lie between a message and its receipt. For pipelines.
class Channel {
 public:
  Channel(Communicator& c, int peer, std::string what, SourceLine line = SourceLine::here());
  ~Channel();
  Channel(const Channel&) = delete;

  /// A buffer of so many bytes, one that was kept or sent before, or a new one.
  Bytes buffer(std::size_t bytes);
  void keep(Bytes buffer) { free_.push_back(std::move(buffer)); }
  /// Returns at once.
  void send(Bytes bytes);
  /// The peer's next message, which has as many bytes.
  void receive(std::span<std::byte> into);
  /// Returns when all that was sent has been taken.
  void finish();

 private:
  struct Sent;
  Communicator& c_;
  int peer_;
  std::string what_;
  SourceLine line_;
  std::uint64_t sent_ = 0, received_ = 0;
  std::deque<Sent> open_;
  std::vector<Bytes> free_;
};

/// The one rank of a program that runs alone.
Communicator alone();

/// Ranks that are threads of this process.
struct RankOptions {
  Patience patience = {};
  /// Not 0: messages are held up by chance, in an order that follows from this number.
  std::uint64_t delays = 0;
};
/// Runs f on so many ranks, each a thread with num_threads() threads of its own, and returns when
/// all have ended. Throws what the first rank to fail threw, but for one that has told so itself
/// (Communicator::fail); the others end where they wait.
void run_ranks(int ranks, const std::function<void(Communicator&)>& f, const RankOptions& = {});

/// The values as they lie in memory, and back. Throws Error where the bytes are no whole number of
/// values.
template <class T>
Bytes to_bytes(const std::vector<T>& values) {
  static_assert(std::is_trivially_copyable_v<T>);
  const auto* first = reinterpret_cast<const std::byte*>(values.data());
  return Bytes(first, first + values.size() * sizeof(T));
}
void copy_values(std::span<const std::byte> from, std::size_t element, void* to);
template <class T>
std::vector<T> from_bytes(std::span<const std::byte> bytes) {
  static_assert(std::is_trivially_copyable_v<T>);
  std::vector<T> values(bytes.size() / sizeof(T));
  copy_values(bytes, sizeof(T), values.data());
  return values;
}

}  // namespace tessera::parallel
