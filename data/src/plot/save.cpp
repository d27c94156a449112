// SPDX-License-Identifier: Apache-2.0
#include "plot/draw.h"
#include "tessera/data/diagnostic.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace tessera::data {
namespace {

[[noreturn]] void refuse(const std::filesystem::path& path, const std::string& what, int error) {
  const bool no_room = error == ENOSPC || error == EDQUOT || error == EFBIG;
  throw InputError(
      Diagnostic{.number = 581,
                 .place = {.file = path.string()},
                 .message = "cannot " + what + ": " + std::strerror(error),
                 .hint = "check that the folder exists, may be written to, and has room"},
      no_room ? ExitCode::would_not_fit : ExitCode::usage);
}

/// Writes a neighbour first and renames it, so that a reader never meets half a file.
void write_whole(const std::filesystem::path& path, const std::string& bytes) {
  const std::string draft = path.string() + ".part" + std::to_string(::getpid());
  const int file =
      ::open(draft.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666);
  if (file < 0) refuse(path, "open the file for writing", errno);
  const auto fail = [&](const char* what) {
    const int error = errno;
    ::close(file);
    ::unlink(draft.c_str());
    refuse(path, what, error);
  };
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t n = ::write(file, bytes.data() + done, bytes.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) fail("write the file");
    done += static_cast<std::size_t>(n);
  }
  if (::close(file) != 0) {
    const int error = errno;
    ::unlink(draft.c_str());
    refuse(path, "write the file", error);
  }
  if (::rename(draft.c_str(), path.c_str()) != 0) {
    const int error = errno;
    ::unlink(draft.c_str());
    refuse(path, "move the file into place", error);
  }
}

void draw(plot::Canvas& canvas, const Figure& figure, PlotReport& report) {
  double y = plot::kPageMargin;
  if (!figure.title.empty()) {
    y += plot::kFigureTitle;
    canvas.text({plot::kPageMargin, y - 1}, figure.title,
                {.size = plot::kFigureTitle, .bold = true});
    y += 3;
  }
  if (!figure.subtitle.empty())
    canvas.text({plot::kPageMargin, y + plot::kSubtitle - 1}, figure.subtitle,
                {.size = plot::kSubtitle, .colour = {0.3, 0.3, 0.3, 1}});
  for (const plot::PanelLayout& panel : plot::lay_out(figure)) {
    std::vector<plot::Point> occupied;
    plot::draw_grid(canvas, panel);
    plot::draw_series(canvas, panel, occupied, report);
    plot::draw_frame(canvas, panel);
    plot::draw_legend(canvas, panel, occupied);
  }
}

}  // namespace

std::string render(const Figure& figure, const std::string& format, PlotReport* report) {
  std::unique_ptr<plot::Canvas> canvas;
  if (format == "png")
    canvas = plot::png_canvas(figure.width, figure.height, figure.dots_per_inch);
  else if (format == "svg")
    canvas = plot::svg_canvas(figure.width, figure.height);
  else
    throw Error("[plot] unknown picture format '" + format + "': expected png or svg");
  PlotReport found;
  draw(*canvas, figure, found);
  if (plot_font().empty())
    found.notes.push_back(
        "no font was found, so texts are drawn with a built-in one that has ASCII letters only; "
        "install fonts-dejavu-core");
  if (report) *report = std::move(found);
  return canvas->finish();
}

PlotReport save(const Figure& figure, const std::filesystem::path& path) {
  const std::string extension = path.extension().string();
  PlotReport report;
  write_whole(path, render(figure, extension.empty() ? "" : extension.substr(1), &report));
  return report;
}

std::vector<std::filesystem::path> save_as_png_and_svg(const Figure& figure,
                                                       const std::filesystem::path& folder,
                                                       const std::string& name) {
  const std::vector<std::filesystem::path> files{folder / (name + ".png"),
                                                 folder / (name + ".svg")};
  for (const std::filesystem::path& file : files) save(figure, file);
  return files;
}

void save_csv(const Figure& figure, const std::filesystem::path& path) {
  write_whole(path, to_csv(figure));
}

}  // namespace tessera::data
