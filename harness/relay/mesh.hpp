// The supervisors of a launch among themselves: messages by tag, and meetings of all ranks that end
// even when a rank is silent.
#pragma once

#include <array>
#include <deque>
#include <map>

#include "harness/relay/link.hpp"

namespace tidemark::harness {

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
enum class Stage : std::uint8_t { opening, rounds, closing, between, calibration };

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

}  // namespace tidemark::harness
