// SPDX-License-Identifier: Apache-2.0
#include "run/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <mutex>

namespace tessera::data::terminal {
namespace {

std::mutex g_mutex;
std::string g_bar;  // what stands there now
int g_bar_fd = -1;

void write_all(int fd,
               std::string_view text) {  // what cannot be shown is not worth stopping a run for
  while (!text.empty()) {
    const ssize_t n = ::write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(n));
  }
}

constexpr std::string_view kWipe = "\r\x1b[K";

}  // namespace

void write_line(int fd, std::string_view text) {
  const std::lock_guard lock(g_mutex);
  const bool over_bar = g_bar_fd >= 0 && ::isatty(fd);
  std::string out;
  if (over_bar) out += kWipe;
  out += text;
  out += '\n';
  if (over_bar) out += g_bar;
  write_all(fd, out);
}

void draw_bar(int fd, std::string text) {
  const std::lock_guard lock(g_mutex);
  g_bar = std::move(text);
  g_bar_fd = fd;
  write_all(fd, std::string(kWipe) + g_bar);
}

void end_bar(int fd) {
  const std::lock_guard lock(g_mutex);
  if (g_bar_fd == fd) write_all(fd, "\n");
  g_bar_fd = -1;
  g_bar.clear();
}

int width(int fd) {
  winsize size{};
  return ::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

bool can_redraw(int fd) {
  const char* term = std::getenv("TERM");
  return ::isatty(fd) && term && *term && std::string_view(term) != "dumb";
}

}  // namespace tessera::data::terminal
