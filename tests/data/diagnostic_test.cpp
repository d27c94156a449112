// SPDX-License-Identifier: Apache-2.0
#include "tessera/data/diagnostic.h"

#include <gtest/gtest.h>

using namespace tessera::data;

TEST(Diagnostic, ShowsPlaceNumberCaretAndHint) {
  Diagnostic d{.number = 213,
               .place = {"em.toml", 14, 3},
               .message = "unknown key 'freqency'",
               .hint = "did you mean 'frequency'?",
               .source_line = "  freqency = 3"};
  EXPECT_EQ(to_string(d),
            "em.toml:14:3: error E0213: unknown key 'freqency'\n"
            "      freqency = 3\n"
            "      ^\n"
            "  hint: did you mean 'frequency'?");
}

TEST(Diagnostic, CutsLongLinesAroundTheColumnAndHidesControlCharacters) {
  std::string line(100000, 'x');
  line[50000] = '\x1b';
  Diagnostic d{.place = {"a", 1, 50001}, .message = "m", .source_line = line};
  const std::string text = to_string(d);
  EXPECT_LT(text.size(), 400u);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
}

TEST(Diagnostic, PutsTheCaretUnderWideCharactersAndShowsNoForeignBytes) {
  Diagnostic d{.place = {"a\x1b[31m", 1, 4},
               .message = "two\nlines \x07",
               .source_line = "\xc3\xa4 x \xff\xc2\x9b"};
  EXPECT_EQ(to_string(d),
            "a?[31m:1:4: error: two\nlines ?\n"
            "    \xc3\xa4 x ??\n"
            "      ^");
}
