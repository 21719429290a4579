// The process that reads a report: whatever it does, its owner gets a report or one line, and it
// reaches nothing outside.
#include "reports/store/confined/confined_reader.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <new>
#include <thread>

#include "reports/base/scratch_folder.hpp"
#include "reports/store/confined/sanitized.hpp"
#include "reports/testing/example_launch.hpp"
#include "reports/testing/said.hpp"

namespace tidemark {
namespace {

constexpr std::uint64_t kMegabyte = 1u << 20;

ReaderLimits small_limits() {
  return {.confinement = {.memory_bytes = 64 * kMegabyte, .cpu_s = 10, .filter = true},
          .patience = std::chrono::seconds(20),
          .table_bytes = kMegabyte};
}

ReaderLimits without_filter() {
  ReaderLimits limits = small_limits();
  limits.confinement.filter = false;
  return limits;
}

/// What is said when the reader does this.
std::string error_of(const ReadFrom& read, const ReaderLimits& limits = small_limits()) {
  Protection protection{};
  return error_from([&] { read_confined("x.h5", STDIN_FILENO, limits, read, protection); });
}

bool no_child_is_left() { return waitpid(-1, nullptr, WNOHANG) == -1 && errno == ECHILD; }

/// Says what errno a call in the confined process left.
ReadFrom says_errno_of(int (*call)()) {
  return [call](int, const RowSink&) {
    errno = 0;
    const int got = call();
    throw ReportError("x.h5: " + std::string(got < 0 ? std::strerror(errno) : "it worked"));
  };
}

void send_example(const RowSink& sink) {
  const std::string image = image_of(example(), "x.h5");
  stream_report(image, "x.h5", sink);
}

TEST(ConfinedReader, GivesWhatItsSinkGot) {
  Protection protection{};
  const Report report = read_confined(
      "x.h5", STDIN_FILENO, small_limits(), [](int, const RowSink& sink) { send_example(sink); },
      protection);
  EXPECT_TRUE(same_rows(report, example()));
  EXPECT_TRUE(no_child_is_left());
}

TEST(ConfinedReader, ThatBreaksIsARefusedReport) {
  EXPECT_EQ(error_of([](int, const RowSink&) { std::raise(SIGSEGV); }, without_filter()),
            "x.h5: HDF5 broke on it (signal 11, Segmentation fault); it was damaged or made to do "
            "harm: get it again from where it came");
  EXPECT_TRUE(no_child_is_left());
}

TEST(ConfinedReader, ThatBreaksInTheMiddleIsARefusedReport) {
  const std::string error = error_of([](int, const RowSink& sink) {
    sink.launch({});
    sink.begin(0, 1);
    void* const kept = mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    *static_cast<volatile int*>(kept) = 1;
  });
  EXPECT_TRUE(error.starts_with("x.h5: HDF5 broke on it (signal 11")) << error;
}

TEST(ConfinedReader, ThatComputesForEverIsEnded) {
  ReaderLimits limits = small_limits();
  limits.confinement.cpu_s = 1;
  const std::string error = error_of(
      [](int, const RowSink&) {
        for (volatile std::uint64_t i = 0;;) i = i + 1;
      },
      limits);
  EXPECT_EQ(error,
            "x.h5: reading it takes too long; it was damaged or made to do harm: get it again from "
            "where it came");
  EXPECT_TRUE(no_child_is_left());
}

TEST(ConfinedReader, ThatSleepsForEverIsEnded) {
  ReaderLimits limits = without_filter();
  limits.patience = std::chrono::milliseconds(200);
  const std::string error = error_of([](int, const RowSink&) { pause(); }, limits);
  EXPECT_TRUE(error.starts_with("x.h5: reading it takes too long; ")) << error;
  EXPECT_TRUE(no_child_is_left());
}

TEST(ConfinedReader, ThatWantsTooMuchMemoryIsEnded) {
  const std::string error = error_of([](int, const RowSink&) {
    const std::string large(512 * kMegabyte, 'x');
    throw ReportError("x.h5: got " + std::to_string(large.size()));
  });
  // Sanitizers end the process before std::bad_alloc is thrown.
  EXPECT_TRUE(error.starts_with(kAddressSanitized || kThreadSanitized
                                    ? "x.h5: its reader ended without a word; "
                                    : "x.h5: reading it takes more memory than any report does; "))
      << error;
}

TEST(ConfinedReader, ThatEndsWithoutAWordIsARefusedReport) {
  const std::string error = error_of([](int, const RowSink&) { _exit(0); });
  EXPECT_TRUE(error.starts_with("x.h5: its reader ended without a word; ")) << error;
}

TEST(ConfinedReader, OpensNoFile) {
  EXPECT_EQ(error_of(says_errno_of([] { return open("/etc/os-release", O_RDONLY); })),
            "x.h5: Operation not permitted");
}

TEST(ConfinedReader, OpensNoFileByTheLimitsAloneEither) {
  if (kAddressSanitized) GTEST_SKIP() << "UBSan needs two free descriptors; the filter holds";
  EXPECT_EQ(
      error_of(says_errno_of([] { return open("/etc/os-release", O_RDONLY); }), without_filter()),
      "x.h5: Too many open files");
}

TEST(ConfinedReader, ConnectsToNothing) {
  EXPECT_EQ(error_of(says_errno_of([] { return socket(AF_INET, SOCK_STREAM, 0); })),
            "x.h5: Operation not permitted");
}

TEST(ConfinedReader, StartsNoProgram) {
  EXPECT_EQ(error_of(says_errno_of([] { return execl("/bin/true", "true", nullptr); })),
            "x.h5: Operation not permitted");
}

TEST(ConfinedReader, RemovesNoFile) {
  EXPECT_EQ(error_of(says_errno_of([] { return unlink("/tmp/no-such-file-of-tidemark"); })),
            "x.h5: Operation not permitted");
}

TEST(ConfinedReader, SignalsNobody) {
  EXPECT_EQ(error_of(says_errno_of([] { return kill(getppid(), 0); })),
            "x.h5: Operation not permitted");
}

TEST(ConfinedReader, GetsNoMemoryThatCanBeExecuted) {
  const auto map_code = [] {
    void* const got =
        mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return got == MAP_FAILED ? -1 : 0;
  };
  EXPECT_EQ(error_of(says_errno_of(map_code)), "x.h5: Operation not permitted");
}

TEST(ConfinedReader, HasNoFileOfTheProgramThatStartedIt) {
  static int inherited = -1;
  inherited = memfd_create("journal", 0);
  ASSERT_GE(inherited, 0);
  EXPECT_EQ(error_of(says_errno_of([] { return static_cast<int>(write(inherited, "x", 1)); })),
            "x.h5: Bad file descriptor");
  close(inherited);
}

TEST(ConfinedReader, SaysWhetherTheKernelTookTheFilter) {
  const ReadFrom read = [](int, const RowSink& sink) { send_example(sink); };
  Protection protection = Protection::filter;
  read_confined("x.h5", STDIN_FILENO, without_filter(), read, protection);
  EXPECT_EQ(protection, Protection::limits);
  read_confined("x.h5", STDIN_FILENO, small_limits(), read, protection);
  EXPECT_EQ(protection, Protection::filter) << "this kernel or container has no seccomp";
}

TEST(ConfinedReader, SaysNothingThatDrivesATerminal) {
  EXPECT_EQ(
      error_of([](int, const RowSink&) { throw ReportError("x.h5: holds '\x1b[31m\r'; look"); }),
      "x.h5: holds '?[31m?'; look");
}

TEST(ConfinedReader, IsNotBelievedAboutMoreRowsThanTheFileCanHold) {
  const std::string error = error_of([](int, const RowSink& sink) {
    sink.launch({});
    sink.begin(0, std::uint64_t{1} << 60);
  });
  EXPECT_TRUE(error.starts_with("x.h5: what was read of it is no report; ")) << error;
}

TEST(ConfinedReader, IsNotBelievedAboutMoreBytesThanItAnnounced) {
  const std::string error = error_of([](int, const RowSink& sink) {
    sink.launch({});
    sink.begin(0, 1);
    sink.append(std::string(sizeof(NodeRow) + 1, '\0'));
  });
  EXPECT_TRUE(error.starts_with("x.h5: what was read of it is no report; ")) << error;
}

TEST(ConfinedReader, IsNotBelievedWhenTablesAreMissing) {
  const std::string error = error_of([](int, const RowSink& sink) {
    sink.launch({});
    sink.begin(0, 0);
  });
  EXPECT_TRUE(error.starts_with("x.h5: what was read of it is no report; ")) << error;
}

TEST(ConfinedReader, IsNotBelievedWhenATableComesTwice) {
  const std::string error = error_of([](int, const RowSink& sink) {
    sink.launch({});
    sink.begin(0, 0);
    sink.begin(0, 0);
  });
  EXPECT_TRUE(error.starts_with("x.h5: what was read of it is no report; ")) << error;
}

TEST(ConfinedReader, IsNotBelievedAboutReferences) {
  const std::string error = error_of([](int, const RowSink& sink) {
    RowSink changed = sink;
    std::size_t now = 0;
    changed.begin = [&](std::size_t part, std::uint64_t elements) {
      now = part;
      sink.begin(part, elements);
    };
    constexpr std::size_t kResults = 3;
    changed.append = [&](std::string_view bytes) {
      std::string rows(bytes);
      if (now == kResults) rows.replace(offsetof(ResultRow, reason), 4, "\xff\xff\xff\x7f");
      sink.append(rows);
    };
    send_example(changed);
  });
  EXPECT_TRUE(error.starts_with("x.h5: row 0 of table 'results': column 'reason' refers to a row"))
      << error;
}

TEST(ConfinedReader, MaySendBytesThatAreNoFrames) {
  const std::string error = error_of([](int file, const RowSink&) {
    const std::string junk(100, '\x5a');
    for (int fd = 0; fd < 1024; ++fd) {
      if (fd != file && write(fd, junk.data(), junk.size()) > 0) break;
    }
    _exit(0);
  });
  EXPECT_TRUE(error.starts_with("x.h5: its reader sent nonsense; ")) << error;
}

TEST(ConfinedReader, ServesSeveralThreads) {
  if (kAddressSanitized || kThreadSanitized)
    GTEST_SKIP() << "a child that one thread forks waits for the lock of the sanitizer's "
                    "allocator that another one held";
  const ScratchFolder scratch;
  const Report report = example();
  write_report(report, scratch.file("a.h5"));
  std::array<bool, 4> same{};
  {
    std::array<std::thread, 4> threads;
    for (std::size_t i = 0; i < threads.size(); ++i) {
      threads[i] =
          std::thread([&, i] { same[i] = same_rows(report, read_report(scratch.file("a.h5"))); });
    }
    for (std::thread& thread : threads) thread.join();
  }
  EXPECT_EQ(same, (std::array{true, true, true, true}));
}

TEST(LaunchAttributes, ComeBackAsTheyWerePacked) {
  const Report report =
      assemble(example_journals(), {.anonymize = false, .incomplete_reason = "x"});
  const auto back = unpacked_launch(packed(report.launch));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->run_id, "3f1c0000-0000-4000-8000-000000000001");
  EXPECT_EQ(back->seed, 0xfedcba9876543210U);
  EXPECT_EQ(back->incomplete_reason, "x");
  EXPECT_EQ(back->created_unix_s, 1788220800.25);
  EXPECT_FALSE(back->complete);
}

TEST(LaunchAttributes, OfAnotherLengthAreNone) {
  const std::string whole = packed(example().launch);
  EXPECT_FALSE(unpacked_launch(whole.substr(0, whole.size() - 1)));
  EXPECT_FALSE(unpacked_launch(whole + "x"));
  EXPECT_FALSE(unpacked_launch("\xff\xff\xff\xff"));
}

}  // namespace

}  // namespace tidemark
