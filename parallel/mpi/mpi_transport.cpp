// SPDX-License-Identifier: Apache-2.0
//
// Messages by MPI: an envelope, with the bytes if these are few, then the bytes in pieces. The
// receiver asks for the bytes when it knows from the envelope that it wants them.
#include "tessera/autodiff/error.h"
#include "transport.h"

#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>

namespace tessera::parallel {
namespace {

constexpr std::size_t kFew = 1024;                    ///< bytes that travel with their envelope
constexpr std::size_t kPiece = std::size_t{1} << 30;  ///< counts of MPI are of 32 bits
enum Tag { kEnvelope = 1, kBytes = 2, kFailure = 3, kNotice = 4 };

struct Failure {
  int code = 0;
  char text[2000] = {};
};

void check(int code, const char* what) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw Error("[mpi] " + std::string(what) + ": " + std::string(text, text + length));
}

struct Letter {
  Envelope envelope;
  std::array<std::byte, kFew> few;
};

bool are_done(std::vector<MPI_Request>& requests) {
  int done = 0;
  check(MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE),
        "MPI_Testall");
  return done != 0;
}

/// Given up before it is done, since an exchange has failed: MPI may still reach the letter.
void leave(std::vector<MPI_Request>& requests, std::unique_ptr<Letter>& letter) {
  int done = 0, gone = 0;
  MPI_Finalized(&gone);
  if (!gone)
    MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE);
  if (!done) static_cast<void>(letter.release());
}

template <class Byte, class Post>
void in_pieces(std::span<Byte> bytes, std::vector<MPI_Request>& requests, Post post) {
  for (std::size_t at = 0; at < bytes.size(); at += kPiece) {
    MPI_Request r = MPI_REQUEST_NULL;
    post(bytes.data() + at, static_cast<int>(std::min(kPiece, bytes.size() - at)), &r);
    requests.push_back(r);
  }
}

class ToProcess : public Pending {
 public:
  ToProcess(MPI_Comm comm, int to, const Envelope& e, std::span<const std::byte> bytes) {
    letter_->envelope = e;
    const bool few = bytes.size() <= kFew;
    if (few && !bytes.empty()) std::memcpy(letter_->few.data(), bytes.data(), bytes.size());
    const std::size_t length = sizeof(Envelope) + (few ? bytes.size() : 0);
    requests_.resize(1);
    check(MPI_Isend(letter_.get(), static_cast<int>(length), MPI_BYTE, to, kEnvelope, comm,
                    requests_.data()),
          "MPI_Isend");
    if (!few)
      in_pieces(bytes, requests_, [&](const std::byte* p, int n, MPI_Request* r) {
        check(MPI_Isend(p, n, MPI_BYTE, to, kBytes, comm, r), "MPI_Isend");
      });
  }
  ~ToProcess() override { leave(requests_, letter_); }
  bool done() override { return are_done(requests_); }

 private:
  std::unique_ptr<Letter> letter_ = std::make_unique<Letter>();
  std::vector<MPI_Request> requests_;
};

class FromProcess : public Pending {
 public:
  FromProcess(MPI_Comm comm, int from, Transport::Place place)
      : comm_(comm), from_(from), place_(std::move(place)), requests_(1) {
    check(
        MPI_Irecv(letter_.get(), sizeof(Letter), MPI_BYTE, from, kEnvelope, comm, requests_.data()),
        "MPI_Irecv");
  }
  ~FromProcess() override { leave(requests_, letter_); }
  bool done() override {
    if (!are_done(requests_)) return false;
    if (is_open_) return true;
    is_open_ = true;
    requests_.clear();
    const std::span<std::byte> to = place_(letter_->envelope);
    if (to.size() <= kFew) {
      if (!to.empty()) std::memcpy(to.data(), letter_->few.data(), to.size());
      return true;
    }
    in_pieces(to, requests_, [&](std::byte* p, int n, MPI_Request* r) {
      check(MPI_Irecv(p, n, MPI_BYTE, from_, kBytes, comm_, r), "MPI_Irecv");
    });
    return are_done(requests_);
  }

 private:
  MPI_Comm comm_;
  int from_;
  Transport::Place place_;
  std::unique_ptr<Letter> letter_ = std::make_unique<Letter>();
  std::vector<MPI_Request> requests_;
  bool is_open_ = false;  ///< the letter
};

void finish() {
  int gone = 0;
  MPI_Finalized(&gone);
  if (!gone) MPI_Finalize();
}

/// Of this library's own messages: PETSc and whoever else runs in the process have theirs.
struct Ours {
  MPI_Comm comm = MPI_COMM_NULL;
  bool have_cores = false;  ///< the ranks of this machine are not more than its cores
};
const Ours& ours() {
  static const Ours all = [] {
    int running = 0, provided = 0;
    MPI_Initialized(&running);
    if (!running) {
      check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided), "MPI_Init_thread");
      std::atexit(finish);
    }
    Ours o;
    check(MPI_Comm_dup(MPI_COMM_WORLD, &o.comm), "MPI_Comm_dup");
    check(MPI_Comm_set_errhandler(o.comm, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    MPI_Comm here = MPI_COMM_NULL;
    int ranks = 1;
    check(MPI_Comm_split_type(o.comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here),
          "MPI_Comm_split_type");
    MPI_Comm_size(here, &ranks);
    MPI_Comm_free(&here);
    o.have_cores = ranks <= static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
    return o;
  }();
  return all;
}

class MpiTransport : public Transport {
 public:
  MpiTransport() : comm_(ours().comm), spins_(ours().have_cores ? 50'000 : 1000) {
    MPI_Comm_rank(comm_, &rank_);
    MPI_Comm_size(comm_, &size_);
  }
  ~MpiTransport() override {
    forget_notices();
    for (Told& t : notices_) static_cast<void>(t.notice.release());  // MPI may still reach it
  }
  int rank() const override { return rank_; }
  int size() const override { return size_; }
  std::unique_ptr<Pending> send(int to, const Envelope& e,
                                std::span<const std::byte> bytes) override {
    return std::make_unique<ToProcess>(comm_, to, e, bytes);
  }
  std::unique_ptr<Pending> receive(int from, Place place) override {
    return std::make_unique<FromProcess>(comm_, from, std::move(place));
  }
  /// A message takes a microsecond where each rank has a core; whoever waits longer lets others
  /// run. With a core for each rank that is after some milliseconds only: what is let run keeps the
  /// core for as long, and then the others wait for this rank in turn.
  void idle(int round) override {
    constexpr int kYield = 20'000, kLook = 64;
    if (round % kLook == kLook - 1) look_for_failures();
    if (round > spins_ + kYield)
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    else if (round > spins_)
      std::this_thread::yield();
  }
  void tell_waiting(int to, const Notice& notice) override {
    forget_notices();
    notices_.push_back({std::make_unique<Notice>(notice), MPI_REQUEST_NULL});
    check(MPI_Isend(notices_.back().notice.get(), sizeof(Notice), MPI_BYTE, to, kNotice, comm_,
                    &notices_.back().request),
          "MPI_Isend");
  }
  void read_notices(const std::function<void(int, const Notice&)>& f) override {
    for (int there = 0;;) {
      MPI_Status status;
      check(MPI_Iprobe(MPI_ANY_SOURCE, kNotice, comm_, &there, &status), "MPI_Iprobe");
      if (!there) return;
      Notice n;
      check(MPI_Recv(&n, sizeof n, MPI_BYTE, status.MPI_SOURCE, kNotice, comm_, MPI_STATUS_IGNORE),
            "MPI_Recv");
      f(status.MPI_SOURCE, n);
    }
  }
  /// The process goes on until the others have heard it, or end it.
  void tell_failure(const std::string& text, int code) override {
    failure_.code = code;
    std::memcpy(failure_.text, text.data(), std::min(text.size(), sizeof failure_.text - 1));
    for (int r = 0; r < size_; ++r) {
      MPI_Request request = MPI_REQUEST_NULL;
      if (r != rank_) MPI_Isend(&failure_, sizeof failure_, MPI_BYTE, r, kFailure, comm_, &request);
      told_.push_back(request);
    }
    int done = 0;
    for (int round = 0; !done && round < kPatient; ++round) {
      MPI_Testall(static_cast<int>(told_.size()), told_.data(), &done, MPI_STATUSES_IGNORE);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

 private:
  static constexpr int kPatient = 30'000;  ///< ms, for one that computes
  void look_for_failures() {
    int there = 0;
    MPI_Status status;
    check(MPI_Iprobe(MPI_ANY_SOURCE, kFailure, comm_, &there, &status), "MPI_Iprobe");
    if (!there) return;
    Failure f;
    check(MPI_Recv(&f, sizeof f, MPI_BYTE, status.MPI_SOURCE, kFailure, comm_, MPI_STATUS_IGNORE),
          "MPI_Recv");
    throw OtherRankFailed(status.MPI_SOURCE, f.code, f.text);
  }
  struct Told {
    std::unique_ptr<Notice> notice;
    MPI_Request request;
  };
  void forget_notices() {  // those that MPI has sent
    int done = 0;
    MPI_Finalized(&done);
    if (done) return;
    std::erase_if(notices_, [&](Told& t) {
      MPI_Test(&t.request, &done, MPI_STATUS_IGNORE);
      return done != 0;
    });
  }
  MPI_Comm comm_;
  const int spins_;
  int rank_ = 0, size_ = 1;
  std::vector<Told> notices_;
  Failure failure_;
  std::vector<MPI_Request> told_;
};

}  // namespace
}  // namespace tessera::parallel

extern "C" tessera::parallel::Transport* tessera_mpi_transport() {
  return new tessera::parallel::MpiTransport;
}
extern "C" void tessera_mpi_end(int exit_code) { MPI_Abort(MPI_COMM_WORLD, exit_code); }
