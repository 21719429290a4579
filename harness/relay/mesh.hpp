// The supervisors of a launch among themselves: messages by tag, and meetings of all ranks that end
// even when a rank is silent.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark {

// What messages are made of. Ranks of one launch run the same build, so numbers travel as they lie
// in memory.

template <typename Number>
void put_number(std::string& bytes, Number number) {
  bytes.append(reinterpret_cast<const char*>(&number), sizeof number);
}

/// Takes a number off the front. Zero when there are too few bytes.
template <typename Number>
Number take_number(std::string_view& bytes) {
  Number number{};
  if (bytes.size() < sizeof number) return number;
  std::memcpy(&number, bytes.data(), sizeof number);
  bytes.remove_prefix(sizeof number);
  return number;
}

// What carries messages between supervisors: MPI, or the memory of one process.

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
using SharedBytes = std::shared_ptr<const std::string>;

/// Sends and receives without ever blocking. Messages of one sender arrive in their order.
struct Link {
  std::uint32_t rank = 0, ranks = 1;
  std::string library;  // "Open MPI v4.1.4"; empty without MPI
  std::function<void(std::uint32_t to, Tag, SharedBytes bytes)> send;
  std::function<std::optional<Message>()> receive;
  std::function<std::size_t()> unsent_bytes;  // handed to send, not yet on their way
  std::function<void()> finish;               // once, when nothing is under way any more
};

/// `ranks` links that meet in the memory of this process; one of them is a launch without MPI.
std::vector<Link> local_links(std::uint32_t ranks);

/// Calls MPI_Init_thread (funneled): this thread alone may use the link. Throws Error.
Link mpi_link();

/// How long a meeting waits.
struct Patience {
  double silence_s = 60;                 // a rank not heard of for so long is silent
  double total_s = 86400;                // whatever is heard
  std::function<bool()> meanwhile = {};  // called while waiting; false gives up
};

struct Gathered {
  std::vector<std::string> parts;     // one a rank; empty where silent
  std::vector<std::uint32_t> silent;  // ranks that had not come when the wait ended

  bool complete() const { return silent.empty(); }
};

/// The first rank, by number, that brought a text to a meeting.
struct FirstWord {
  std::uint32_t rank = 0;
  std::string text;                   // empty: none did
  std::vector<std::uint32_t> silent;  // as of Gathered
};

/// What all ranks come to in a launch, in this order. A rank that leaves one of them early, for a
/// time limit or a signal, meets the others in the next one.
enum class Stage : std::uint8_t { opening, rounds, closing, between };

/// Owns the link. Within a stage, meetings must be called by all ranks in the same order; they go
/// through rank 0, so a rank that does not come is known by number. Signs of life go out by
/// themselves with pump(), which every wait of a supervisor calls.
class Mesh {
 public:
  explicit Mesh(Link link, bool launched = false);

  std::uint32_t rank() const { return link_.rank; }
  std::uint32_t ranks() const { return link_.ranks; }
  bool launched() const { return launched_; }  // by mpirun
  const std::string& library() const { return link_.library; }

  void send(std::uint32_t to, Tag tag, std::string bytes);
  void send_to_others(Tag tag, const std::string& bytes);
  /// Receives what has come. True when there was something.
  bool pump();
  /// The next message with this tag, in order of arrival.
  std::optional<Message> take(Tag tag);
  std::size_t unsent_bytes() const { return link_.unsent_bytes(); }

  /// The meetings from here on are of this stage of this launch, counted from 1. What comes of
  /// meetings before it is dropped: a rank that never went to them would take it for something
  /// else.
  void enter(std::uint32_t launch, Stage stage);

  /// Who has something to say, and is the first of them, on every rank.
  FirstWord first_word(std::string mine, const Patience& patience);
  /// Every rank's part, on every rank: rank 0 sends all of it to each, so keep the parts few or
  /// small.
  Gathered allgather(std::string mine, const Patience& patience);
  /// Every rank's part, on rank 0; the others get only who is silent.
  Gathered gather(std::string mine, const Patience& patience);
  /// Rank 0's bytes, on every rank; nothing when rank 0 is silent.
  std::optional<std::string> broadcast(std::string mine, const Patience& patience);

  /// What one rank answers to rank 0, which asks behind the same meeting; nothing where it is
  /// silent.
  std::optional<std::string> ask(std::uint32_t rank, const Patience& patience);
  /// Answers what rank 0 has asked; for Patience::meanwhile.
  void answer(const std::function<std::string()>& text);

  /// Leaves together: all ranks meet a last time, each with the error that ends it, and finish the
  /// link. Where one did not come, the link is left as it is, because finishing would wait for it.
  FirstWord close(double seconds, std::string error = {});

 private:
  Gathered collect(std::string mine, const Patience& patience);
  bool wait_for(const std::function<bool()>& done, const std::vector<std::uint32_t>& missing_from,
                const Patience& patience);
  /// It came to a later meeting, so it does not come to this one any more.
  bool is_beyond(std::uint32_t rank) const;
  void sort_in(Message message);
  void count_from(std::uint64_t meeting);

  Link link_;
  bool launched_ = false;
  std::uint64_t meeting_ = 0;  // stage in the upper half, number within it in the lower
  bool given_up_ = false;      // the last wait ended because this rank had to go, not for silence
  double last_beat_s_ = 0;
  std::vector<double> heard_s_;
  std::vector<bool> silent_;  // in the last meeting, and not heard of since: gets no new patience
  std::map<Tag, std::deque<Message>> inbox_;
  std::map<std::uint64_t, std::map<std::uint32_t, std::string>> collected_;  // by meeting and rank
  std::map<std::uint64_t, std::string> spread_;                              // by meeting
};

/// True when a launcher started this process as one of its ranks.
bool started_by_launcher();

/// Ten thousand ranks take a minute to start.
inline constexpr double kStartSeconds = 300;

/// MPI under a launcher, else one rank alone. Throws EnvironmentError under a launcher when MPI was
/// not built in or sees fewer ranks than the launcher started. Where the ranks have not met after
/// `start_s`, one line says who is missing and the process ends with exit code 5.
Mesh open_mesh(double start_s = kStartSeconds);

/// Sleeps for a moment that is short for a person and long for two cores.
void rest();

}  // namespace tidemark
