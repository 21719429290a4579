// What all ranks agree on before anything runs: the output, the seed, and who gets which GPU.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/command_line/launch_options.hpp"
#include "harness/discovery/assignment.hpp"
#include "harness/discovery/gpu_inventory.hpp"
#include "harness/relay/mesh.hpp"
#include "harness/resume.hpp"
#include "harness/supervisor/launch_state.hpp"
#include "harness/supervisor/stop.hpp"

namespace tidemark {

/// Chosen by rank 0, the same everywhere.
struct Head {
  std::string out, run_id;
  std::uint64_t seed = 0;
  double created_unix_s = 0;
  std::vector<std::pair<std::string, std::string>> environment;
  PolicyRecord policy;
};

struct Opening {
  Head head;
  GpuInventory inventory;          // of this rank
  Assignment assignment;           // GPUs of this rank alone
  std::vector<std::string> hosts;  // of all ranks
  std::vector<SlotPlace> places;   // of all slots, in rank order
  std::uint32_t nodes = 1;
  Resumed resumed = {};        // by slots of this launch
  std::string series_id = {};  // run_id of the first launch of the command
  std::uint32_t number = 1;    // which of that command's launches this is
};

/// Meets all ranks. Nothing when the launch was stopped meanwhile. Throws the same on every rank:
/// UsageError for an output that cannot be written, EnvironmentError for GPUs that cannot be had, a
/// silent rank, or ranks of different builds.
/// `number`, from 1, is that of options.launches; the first one looks at the outputs of all.
std::optional<Opening> open_launch(const LaunchOptions& options, std::uint32_t number, Mesh& mesh,
                                   StopWatch& stop);

/// Where a report goes that was given no name: "tidemark-<host>-<UTC>.h5".
std::string default_out(const std::string& host);

/// Meets all ranks again: throws UsageError everywhere when any of them says why it cannot write
/// its journal; EnvironmentError for a silent rank. A launch that is stopped meanwhile waits for
/// nobody; only a rank with a refusal throws then.
void agree(Mesh& mesh, StopWatch& stop, const std::vector<std::string>& hosts,
           const std::string& refusal);

/// For what is drawn: another each time. Throws Error.
std::uint64_t random_seed();

/// The folder of the journals of a report.
std::string journal_folder(const std::string& out);

/// Throws UsageError when `out` exists (a link to nowhere does), is no UTF-8, is nothing that can
/// be written, or its journals are there.
void check_output(const std::string& out);

}  // namespace tidemark
