// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>

namespace tessera::data {

/// Standard error is shared by the log and one progress bar. A line of the log goes above the bar:
/// the bar is wiped, the line written, the bar drawn again. Safe from several threads.
namespace terminal {
void write_line(int fd, std::string_view text);
/// Shows `text` as the bar of `fd`, in place of the one before; it has no line break.
void draw_bar(int fd, std::string text);
/// Leaves the bar standing as a finished line.
void end_bar(int fd);
/// Columns of the terminal, 80 where it does not say.
int width(int fd);
/// A terminal that can redraw a line (not TERM=dumb).
bool can_redraw(int fd);
}  // namespace terminal
}  // namespace tessera::data
