// What is removed of killed launches, and what never is.
#include "harness/relay/mpi_leftovers.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "reports/scratch_folder.hpp"

namespace tidemark::harness {
namespace {

constexpr std::uint32_t kFamily = 0x76be;

int dead_process() {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  ::waitpid(child, nullptr, 0);
  return child;
}

/// A host with the session folder of mpirun `process`, whose jobs are of kFamily, and segments.
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
  reports::ScratchFolder folder_;
};

TEST(MpiLeftovers, of_a_dead_mpirun_its_folder_and_the_memory_of_its_jobs_go) {
  const Host host(dead_process());
  EXPECT_EQ(remove_mpi_leftovers(host.places).size(), 2U);
  EXPECT_FALSE(std::filesystem::exists(host.session));
  EXPECT_FALSE(host.has("vader_segment.h.7.76be0001.0"));
}

TEST(MpiLeftovers, an_mpirun_is_dead_before_its_parent_knows) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  siginfo_t ended{};
  ::waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT);
  EXPECT_EQ(remove_mpi_leftovers(Host(child).places).size(), 2U);
  ::waitpid(child, nullptr, 0);
}

TEST(MpiLeftovers, other_jobs_and_users_keep_theirs) {
  const Host host(dead_process());
  remove_mpi_leftovers(host.places);
  EXPECT_TRUE(host.has("vader_segment.h.7.76bf0001.0"));
  EXPECT_TRUE(host.has("vader_segment.h.8.76be0001.0"));
  EXPECT_TRUE(host.has("psm.76be0001"));
}

TEST(MpiLeftovers, nothing_goes_while_mpirun_lives) {
  const Host host(::getpid());
  EXPECT_TRUE(remove_mpi_leftovers(host.places).empty());
  EXPECT_TRUE(host.has("vader_segment.h.7.76be0001.0"));
}

TEST(MpiLeftovers, nothing_goes_while_a_rank_of_the_job_lives) {
  Host host(dead_process());
  host.places.living = {kFamily};
  EXPECT_TRUE(remove_mpi_leftovers(host.places).empty());
  EXPECT_TRUE(std::filesystem::exists(host.session));
}

TEST(MpiLeftovers, a_folder_that_names_no_job_stays) {
  const Host host(dead_process());
  std::filesystem::remove(host.session / "contact.txt");
  EXPECT_TRUE(remove_mpi_leftovers(host.places).empty());
}

TEST(MpiLeftovers, a_host_without_open_mpi_has_none) {
  MpiPlaces nowhere;
  nowhere.sessions = "/no/such/folder";
  EXPECT_TRUE(remove_mpi_leftovers(nowhere).empty());
}

}  // namespace
}  // namespace tidemark::harness
