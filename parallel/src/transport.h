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
  /// To all others, whatever they wait for.
  virtual void tell_failure(const std::string& text, int code) = 0;
};

}  // namespace tessera::parallel
