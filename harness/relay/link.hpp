// What carries messages between supervisors: MPI, or the memory of one process.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tidemark::harness {

/// What a message is about; receivers take messages by tag.
enum class Tag : int {
  collect = 1,  // a rank's part of a collective, to rank 0
  spread,       // all parts of a collective, from rank 0
  alive,        // nothing but a sign of life
  stop,         // the launch ends early: the reason
  failed,       // a slot failed in a round of an all_gpus case
  shard,        // a piece of a panel
  trouble,      // lines for rank 0 to print
  journal,      // lines of a rank's journal, for rank 0 to keep
  tally,        // how far a rank has come, for rank 0 to print
  ask,          // rank 0 wants the journal of a rank
  answer,       // that journal
};

struct Message {
  std::uint32_t from = 0;
  Tag tag = Tag::alive;
  std::string bytes;
};

/// What is sent; to ten thousand ranks it is one copy.
using Payload = std::shared_ptr<const std::string>;

/// Sends and receives without ever blocking. Messages of one sender arrive in their order.
struct Link {
  std::uint32_t rank = 0, ranks = 1;
  std::string library;  // "Open MPI v4.1.4"; empty without MPI
  std::function<void(std::uint32_t to, Tag, Payload bytes)> send;
  std::function<std::optional<Message>()> receive;
  std::function<std::size_t()> unsent_bytes;  // handed to send, not yet on their way
  std::function<void()> finish;               // once, when nothing is under way any more
};

/// `ranks` links that meet in the memory of this process; one of them is a launch without MPI.
std::vector<Link> local_links(std::uint32_t ranks);

/// Calls MPI_Init_thread (funneled): this thread alone may use the link. Throws Error.
Link mpi_link();

}  // namespace tidemark::harness
