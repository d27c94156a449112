// SPDX-License-Identifier: Apache-2.0
#include "judge.h"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace nesting {
namespace {

#ifdef __SANITIZE_ADDRESS__
constexpr int kPatienceMs = 400000;  // some twenty times as slow
#else
constexpr int kPatienceMs = 20000;  // cases take milliseconds
#endif

/// What a process says of one case, in one write.
struct Message {
  std::uint64_t seed;
  int stack, order;
  Verdict::Kind kind;
  double error;
  char text[400];
};

bool finite(const Outputs& y) {
  return std::all_of(y.begin(), y.end(), [](const Output& o) {
    return std::all_of(o.elements.begin(), o.elements.end(),
                       [](double v) { return std::isfinite(v); });
  });
}

struct Distance {
  Verdict::Kind kind = Verdict::Kind::right;  ///< of what cannot be compared
  std::vector<double> of_result = {};         ///< relative to its largest element, at least 1
  double relative = 0;                        ///< the largest
  std::string text = {};
};
Distance distance(const Outputs& got, const Outputs& want) {
  Distance d;
  for (std::size_t k = 0; k < want.size(); ++k) {
    if (got[k].dims != want[k].dims)
      return {Verdict::Kind::shape, {}, 0, "result " + std::to_string(k) + " has another shape"};
    double scale = 1;
    for (double w : want[k].elements) scale = std::max(scale, std::abs(w));
    d.of_result.push_back(0);
    for (std::size_t i = 0; i < want[k].elements.size(); ++i) {
      const double g = got[k].elements[i], w = want[k].elements[i], error = std::abs(g - w) / scale;
      char text[200];
      std::snprintf(text, sizeof text, "element %zu of result %zu is %.17g, expected %.17g", i, k,
                    g, w);
      if (!std::isfinite(g)) return {Verdict::Kind::not_finite, {}, error, text};
      d.of_result[k] = std::max(d.of_result[k], error);
      if (error > d.relative) d.relative = error, d.text = text;
    }
  }
  return d;
}

/// Whether rounding alone carries Taylor arithmetic about as far as the engine is away, in each
/// result.
bool ill_conditioned(const Program& p, const Outputs& got, const Outputs& want) {
  Outputs precise;
  try {
    precise = run_taylor_precise(p);
  } catch (const std::exception&) {  // a guard that only rounding lets pass
    return false;
  }
  const Distance rounding = distance(want, precise), engine = distance(got, precise);
  if (rounding.kind != Verdict::Kind::right || engine.kind != Verdict::Kind::right) return false;
  for (std::size_t k = 0; k < want.size(); ++k) {
    const double allowed = std::max(tolerance(order(p.main)), kRoundings * rounding.of_result[k]);
    if (allowed < 1 && engine.of_result[k] > allowed)
      return false;  // of 1 and more no digit is known, not even the size
  }
  return true;
}

void send(int pipe, const Message& m) {
  if (write(pipe, &m, sizeof m) != sizeof m) _exit(3);
}
Message message(const Case& c, const Verdict& v) {
  Message m{c.seed, c.stack, v.order, v.kind, v.error, {}};
  std::strncpy(m.text, v.text.c_str(), sizeof m.text - 1);
  return m;
}

/// A process that works through cases; it says before each that it begins, and after each what it
/// found.
class Worker {
 public:
  template <class F>
  explicit Worker(const F& work) {
    int ends[2];
    std::fflush(nullptr);
    if (pipe(ends) != 0 || (process_ = fork()) < 0)
      throw std::runtime_error("no process to judge in");
    if (process_ == 0) {
      close(ends[0]);
      work(ends[1]);
      std::fflush(nullptr);
      _exit(0);
    }
    close(ends[1]);
    pipe_ = ends[0];
  }
  ~Worker() {
    close(pipe_);
    kill(process_, SIGKILL);
    if (!waited_) waitpid(process_, nullptr, 0);
  }
  Worker(const Worker&) = delete;

  /// The next verdict; one of kind died or endless where the process gives none; false where all is
  /// said.
  bool next(Message& m) {
    pollfd p{pipe_, POLLIN, 0};
    const int ready = poll(&p, 1, kPatienceMs);
    if (ready == 0) {
      m.kind = Verdict::Kind::endless;
      std::snprintf(m.text, sizeof m.text, "no answer for %d s", kPatienceMs / 1000);
      return true;
    }
    std::size_t got = 0;
    while (got < sizeof m) {
      const ssize_t n = read(pipe_, reinterpret_cast<char*>(&m) + got, sizeof m - got);
      if (n <= 0) break;
      got += static_cast<std::size_t>(n);
    }
    if (got == sizeof m) return true;
    int status = 0;
    waitpid(process_, &status, 0);
    waited_ = true;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return false;
    m.kind = Verdict::Kind::died;
    if (WIFSIGNALED(status))
      std::snprintf(m.text, sizeof m.text, "signal %d, %s", WTERMSIG(status),
                    strsignal(WTERMSIG(status)));
    else
      std::snprintf(m.text, sizeof m.text, "the process ended with %d", WEXITSTATUS(status));
    return true;
  }

 private:
  pid_t process_ = -1;
  int pipe_ = -1;
  bool waited_ = false;
};

}  // namespace

const char* name_of(Verdict::Kind k) {
  static const char* const names[] = {"right",         "ill-conditioned", "overflow", "not finite",
                                      "another shape", "wrong",           "thrown",   "died",
                                      "without end",   "invalid"};
  return names[static_cast<std::size_t>(k)];
}

Program program_of(const Case& c) {
  return under_stack(generate(c.seed), c.stack,
                     c.seed * 1000 + static_cast<std::uint64_t>(c.stack));
}

Verdict judge(const Program& p, const std::function<void()>& understood) {
  Verdict v;
  v.order = order(p.main);
  Outputs want;
  try {
    want = run_taylor(p);
  } catch (const std::exception& e) {  // what no generated program does, and shrunk ones may
    return {Verdict::Kind::invalid, v.order, 0, e.what()};
  }
  if (!finite(want)) return {Verdict::Kind::overflow, v.order, 0, {}};
  if (understood) understood();
  Outputs got;
  try {
    got = run_engine(p);
  } catch (const std::exception& e) {
    return {Verdict::Kind::thrown, v.order, 0, e.what()};
  }
  const Distance d = distance(got, want);
  v.error = d.relative, v.text = d.text;
  if (d.kind != Verdict::Kind::right)
    v.kind = d.kind;
  else if (v.error > tolerance(v.order))
    v.kind = ill_conditioned(p, got, want) ? Verdict::Kind::ill_conditioned : Verdict::Kind::wrong;
  return v;
}

Verdict judge_apart(const Program& p) {
  Worker worker([&](int pipe) {
    Verdict v;
    v.text = "understood";
    send(pipe, message({}, judge(p, [&] { send(pipe, message({}, v)); })));
  });
  Message m{};
  if (!worker.next(m) || m.kind == Verdict::Kind::died) return {Verdict::Kind::invalid, 0, 0, {}};
  if (std::string_view(m.text) == "understood" && !worker.next(m))
    std::strcpy(m.text, "said nothing"), m.kind = Verdict::Kind::died;
  return {m.kind, m.order, m.error, m.text};
}

void judge_all(const Trial& t, const std::function<bool(const Case&, const Verdict&)>& tell) {
  std::vector<Case> cases;
  for (std::uint64_t seed = t.first; seed < t.first + t.programs; ++seed)
    for (int stack : t.only_stack < 0 ? stacks_for(seed, t.stacks) : std::vector{t.only_stack})
      cases.push_back({seed, stack});
  std::size_t done = 0;
  while (done < cases.size()) {
    Worker worker([&](int pipe) {
      for (std::size_t k = done; k < cases.size(); ++k)
        send(pipe, message(cases[k], judge(program_of(cases[k]))));
    });
    for (Message m{}; done < cases.size();) {
      const bool more = worker.next(m);
      if (!more) std::strcpy(m.text, "said nothing"), m.kind = Verdict::Kind::died;
      const Case& c = cases[done++];
      const bool lost = m.kind == Verdict::Kind::died || m.kind == Verdict::Kind::endless;
      if (!tell(c, {m.kind, lost ? order(program_of(c).main) : m.order, m.error, m.text})) return;
      if (lost) break;  // another process goes on behind it
    }
  }
}

}  // namespace nesting
