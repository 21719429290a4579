// What is removed of killed launches, and what never is.
#include "harness/relay/job_processes.hpp"

#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <string>

#include "reports/base/scratch_folder.hpp"

namespace tidemark {
namespace {

/// The job that the mpirun of the session folder started: 0x76be0001.
constexpr const char* kJob = "PMIX_NAMESPACE=1992163329";

int dead_process() {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  ::waitpid(child, nullptr, 0);
  return child;
}

/// A rank of a job, as the environment says, for as long as this lives.
class Rank {
 public:
  explicit Rank(std::string job) {
    std::string sleep = "sleep", seconds = "100", rank = "PMIX_RANK=0";
    char* const words[] = {sleep.data(), seconds.data(), nullptr};
    char* const variables[] = {job.data(), rank.data(), nullptr};
    posix_spawn(&process_, "/bin/sleep", nullptr, nullptr, words, variables);
  }
  Rank(const Rank&) = delete;
  Rank& operator=(const Rank&) = delete;
  ~Rank() {
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
  }

 private:
  pid_t process_ = -1;
};

/// A host with the session folder of mpirun `process` and segments of its job and of others.
class Host {
 public:
  explicit Host(int process) {
    places.sessions = folder_.file("ompi.h.7");
    places.shared_memory = folder_.file("shm");
    places.segment_prefix = "vader_segment.h.7.";
    session = places.sessions / ("pid." + std::to_string(process));
    std::filesystem::create_directories(session);
    std::filesystem::create_directories(places.shared_memory);
    std::ofstream(session / "contact.txt") << "1992163328.0;tcp://192.0.2.2:33415\n6720\n";
    for (const char* name : {"vader_segment.h.7.76be0001.0", "vader_segment.h.7.76bf0001.0",
                             "vader_segment.h.8.76be0001.0", "psm.76be0001"})
      std::ofstream(places.shared_memory / name) << "x";
  }
  bool has(const char* segment) const {
    return std::filesystem::exists(places.shared_memory / segment);
  }

  MpiPlaces places;
  std::filesystem::path session;

 private:
  ScratchFolder folder_;
};

TEST(MpiLeftovers, of_a_dead_mpirun_its_folder_and_the_memory_of_its_job_go) {
  const Host host(dead_process());
  remove_mpi_leftovers(host.places);
  EXPECT_FALSE(std::filesystem::exists(host.session));
  EXPECT_FALSE(host.has("vader_segment.h.7.76be0001.0"));
}

TEST(MpiLeftovers, an_mpirun_is_dead_before_its_parent_knows) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  siginfo_t ended{};
  ::waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT);
  const Host host(child);
  remove_mpi_leftovers(host.places);
  EXPECT_FALSE(std::filesystem::exists(host.session));
  ::waitpid(child, nullptr, 0);
}

// As srun names them: their memory has a number in its name that nothing in /proc has.
TEST(MpiLeftovers, jobs_whose_names_are_no_numbers_keep_their_memory) {
  const Rank rank("PMIX_NAMESPACE=slurm.pmix.17.0");
  const Host host(dead_process());
  remove_mpi_leftovers(host.places);
  EXPECT_TRUE(host.has("vader_segment.h.7.76bf0001.0"));
}

TEST(MpiLeftovers, other_jobs_and_users_keep_theirs) {
  const Host host(dead_process());
  remove_mpi_leftovers(host.places);
  EXPECT_TRUE(host.has("vader_segment.h.7.76bf0001.0"));
  EXPECT_TRUE(host.has("vader_segment.h.8.76be0001.0"));
  EXPECT_TRUE(host.has("psm.76be0001"));
}

TEST(MpiLeftovers, the_folder_of_a_living_mpirun_stays) {
  const Host host(::getpid());
  remove_mpi_leftovers(host.places);
  EXPECT_TRUE(std::filesystem::exists(host.session));
  EXPECT_TRUE(host.has("vader_segment.h.7.76be0001.0"));
}

TEST(MpiLeftovers, nothing_goes_while_a_rank_of_the_job_lives) {
  const Rank rank(kJob);
  const Host host(dead_process());
  remove_mpi_leftovers(host.places);
  EXPECT_TRUE(std::filesystem::exists(host.session));
  EXPECT_TRUE(host.has("vader_segment.h.7.76be0001.0"));
}

TEST(MpiLeftovers, a_folder_that_names_no_job_stays) {
  const Host host(dead_process());
  std::filesystem::remove(host.session / "contact.txt");
  remove_mpi_leftovers(host.places);
  EXPECT_TRUE(std::filesystem::exists(host.session));
}

}  // namespace
}  // namespace tidemark
