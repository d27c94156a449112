// SPDX-License-Identifier: Apache-2.0
//
// What carries messages between ranks (thread_ranks.cpp, mpi/): few functions, none of which waits.
#pragma once
#include "tessera/parallel/communicator.h"

namespace tessera::parallel {

/// What a message is, told with it: who expects another one sees that it is not his.
struct Envelope {
  std::uint64_t number = 0;  ///< of the exchange
  std::uint64_t bytes = 0;
  std::uint32_t line = 0;
  char what[60] = {}, file[60] = {};
};

/// What a rank that waits tells those it waits for: whoever reads it, and waits too, knows whether
/// what that rank waits for can still come (Communicator::judge).
struct Notice {
  Envelope at;              ///< the exchange in which it waits
  std::uint64_t place = 0;  ///< of that exchange in the order of all (Communicator::place)
  std::uint64_t sent = 0;   ///< messages to the one who is told, so far
  std::uint64_t got = 0;    ///< messages from it
  bool wants_more = false;  ///< it waits for one more of these
  bool is_answer = false;   ///< to a notice of that one: it waits, too
};

/// A message on its way.
class Pending {
 public:
  virtual ~Pending() = default;
  /// Moves it on if it can; true: what was sent may change, what is received is there.
  virtual bool done() = 0;
};

class Transport {
 public:
  /// Where the bytes of a message belong; throws where it is another one than expected.
  using Place = std::function<std::span<std::byte>(const Envelope&)>;

  virtual ~Transport() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// Messages from one rank to another come in their order. The bytes stay until it is done.
  virtual std::unique_ptr<Pending> send(int to, const Envelope&,
                                        std::span<const std::byte> bytes) = 0;
  virtual std::unique_ptr<Pending> receive(int from, Place) = 0;
  /// Nothing was done at `round` looks in a row: lets others run. Throws OtherRankFailed where one
  /// has told so.
  virtual void idle(int round) = 0;
  /// Without waiting, beside all messages.
  virtual void tell_waiting(int to, const Notice&) = 0;
  /// Calls f(from, notice) for each notice that has come since.
  virtual void read_notices(const std::function<void(int, const Notice&)>& f) = 0;
  /// To all others, whatever they wait for.
  virtual void tell_failure(const std::string& text, int code) = 0;
};

}  // namespace tessera::parallel
