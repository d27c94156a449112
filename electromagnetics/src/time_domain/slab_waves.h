// SPDX-License-Identifier: Apache-2.0
//
// The wave of steps (advance.cpp) goes on from slab to slab. For a tile of rows and T steps, step s
// of the slab's last plane needs e that the slab above has made of its first plane in step s - 1,
// and step s of that plane needs h that this one has made of its last plane in step s:
//
//   slab below   last plane:   step 0   step 1   step 2 ..
//                                h|   e/|  h|   e/|
//   slab above   first plane:       step 0   step 1 ..
//
// So a tile passes from one to the other within T planes, in which both work on it, while the slab
// below has its other planes and goes on to the next tile: no work is done twice, and tiles stay in
// the caches. A message is two components of the tile's rows.
#pragma once
#include "tessera/parallel/communicator.h"
#include "time_domain/tables.h"

#include <optional>
#include <utility>
#include <vector>

namespace tessera::electromagnetics::time_domain {

/// Of one call of `advance`, on one thread.
template <class T>
class SlabWaves {
 public:
  SlabWaves(const Tables<T>& tables, T* state);

  /// A block of `steps` in so many tiles of rows begins.
  void begin(int tiles, int tile_rows, int steps);
  /// Rows of a tile at step s: first, end; none where these are equal.
  std::pair<int, int> rows(int tile, int s) const;
  /// Before and after the rows of a tile in plane k take step s.
  void before(int tile, int s, int k);
  void after(int tile, int s, int k);
  /// All that is on its way has come.
  void finish();

 private:
  struct Message {
    int first, end;  ///< rows
  };
  void send(parallel::Channel& to, int component, int k, Message m);
  void receive(parallel::Channel& from, int component, int k, Message m);
  void receive_up_to(std::int64_t message);

  const Tables<T>& t_;
  T* state_;
  std::optional<parallel::Channel> below_, above_;
  int first_, last_;  ///< planes that this slab holds
  int tiles_ = 0, tile_rows_ = 0, steps_ = 0;
  std::vector<Message> expected_;          ///< e from above, in their order
  std::int64_t next_ = 0;                  ///< of these
  std::vector<std::int64_t> number_;       ///< [tiles, steps] of the last one up to there
  std::vector<std::int64_t> ends_before_;  ///< [rows] of the block before, what its last step needs
};

}  // namespace tessera::electromagnetics::time_domain
