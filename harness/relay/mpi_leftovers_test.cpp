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

constexpr std::uint32_t kFamily = 0x76be, kOtherFamily = 0x76bf;

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
    places.living = [this] { return living; };
    for (const char* name : {"vader_segment.h.7.76be0001.0", "vader_segment.h.7.76bf0001.0",
                             "vader_segment.h.8.76be0001.0", "psm.76be0001"})
      std::ofstream(places.shared_memory / name) << "x";
  }
  bool has(const char* segment) const {
    return std::filesystem::exists(places.shared_memory / segment);
  }

  MpiPlaces places;
  std::filesystem::path session;
  std::vector<std::uint32_t> living = {kOtherFamily};

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

TEST(MpiLeftovers, memory_of_a_dead_job_goes_though_its_mpirun_removed_the_folder) {
  const Host host(dead_process());
  std::filesystem::remove_all(host.session);
  EXPECT_EQ(remove_mpi_leftovers(host.places).size(), 1U);
  EXPECT_FALSE(host.has("vader_segment.h.7.76be0001.0"));
}

TEST(MpiLeftovers, memory_that_is_made_while_processes_are_counted_stays) {
  Host host(dead_process());
  host.places.living = [&host] {
    std::ofstream(host.places.shared_memory / "vader_segment.h.7.76c00001.0") << "x";
    return host.living;
  };
  remove_mpi_leftovers(host.places);
  EXPECT_TRUE(host.has("vader_segment.h.7.76c00001.0"));
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
}

TEST(MpiLeftovers, nothing_goes_while_a_rank_of_the_job_lives) {
  Host host(dead_process());
  host.living = {kFamily, kOtherFamily};
  EXPECT_TRUE(remove_mpi_leftovers(host.places).empty());
  EXPECT_TRUE(std::filesystem::exists(host.session));
}

TEST(MpiLeftovers, a_folder_that_names_no_job_stays) {
  const Host host(dead_process());
  std::filesystem::remove(host.session / "contact.txt");
  remove_mpi_leftovers(host.places);
  EXPECT_TRUE(std::filesystem::exists(host.session));
}

TEST(MpiLeftovers, in_a_container_nothing_goes) {
  EXPECT_TRUE(remove_mpi_leftovers(MpiPlaces{}).empty());
}

}  // namespace
}  // namespace tidemark::harness
