// SPDX-License-Identifier: Apache-2.0
#include "tessera/data/sha256.h"

#include "input_error.h"
#include "temp_folder.h"

#include <gtest/gtest.h>

using namespace tessera::data;
using namespace tessera::testing;

// Published vectors: NIST example values for SHA-256 (one block, two blocks, a million letters) and
// the empty text.
TEST(Sha256, PublishedVectors) {
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256_hex(std::string(1000000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, InstructionsGiveTheBitsOfTheLetters) {
  std::string text;
  for (std::uint32_t k = 0, x = 1; k < 1000; ++k)
    text += static_cast<char>((x = x * 1664525 + 1013904223) >> 24);
  for (std::size_t length : {0u, 1u, 55u, 64u, 128u, 576u, 1000u}) {
    Sha256 h(true);
    h.update(text.data(), length);
    EXPECT_EQ(to_hex(h.finish()), sha256_hex(text.substr(0, length))) << length;
  }
}

TEST(Sha256, PiecesOfAnySizeGiveTheSame) {
  std::string text;
  for (int i = 0; i < 300; ++i) text += static_cast<char>(i * 37);
  for (std::size_t length : {55u, 56u, 57u, 63u, 64u, 65u, 119u, 120u, 128u, 300u})
    for (std::size_t piece : {1u, 7u, 63u, 64u, 65u}) {
      Sha256 h;
      for (std::size_t at = 0; at < length; at += piece)
        h.update(text.data() + at, std::min(piece, length - at));
      EXPECT_EQ(to_hex(h.finish()), sha256_hex(text.substr(0, length)))
          << length << " by " << piece;
    }
}
