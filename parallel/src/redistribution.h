// SPDX-License-Identifier: Apache-2.0
//
// A redistribution as kernels see it: one or two steps, each of which moves boxes.
#pragma once
#include "tessera/parallel/layout.h"

namespace tessera::parallel {

/// A box of one array and the place of it in another.
struct BoxCopy {
  Shape from_shape, from;  ///< of the array that is read, and where the box begins there
  Shape to_shape, to;
  Shape extent;
  Index from_offset = 0, to_offset = 0;  ///< of the arrays: in messages one piece follows the other
  bool adds = false;
};
/// One way through a step: this rank's x -> y.
struct BoxMoves {
  struct Message {
    int rank;
    Index elements;
    std::vector<BoxCopy> copies;  ///< into the message; out of it, in its place of `copies`
  };
  struct Source {
    int message;  ///< of `in`; -1: x itself
    std::vector<BoxCopy> copies;
  };
  std::vector<Message> out, in;  ///< by rank; `in` without copies
  std::vector<Source> sources;   ///< in the order in which they are written
  std::vector<Box> zeros;        ///< of y, that nothing is written to
  Shape x, y;
  bool adds = false;
};
struct BoxExchange {
  Communicator* communicator;
  Shape whole;           ///< the tensor's, for messages
  BoxMoves there, back;  ///< transposes
  Index sent_by_all;
};

class Redistribution {
 public:
  Shape x;                                                ///< this rank's part before it
  std::vector<std::shared_ptr<const BoxExchange>> steps;  ///< none: nothing changes
};

}  // namespace tessera::parallel
