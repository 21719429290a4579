// Meetings over point-to-point messages: rank 0 collects, then spreads.
#include "harness/relay/mesh.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "harness/base/clock.hpp"
#include "harness/base/errors.hpp"
#include "harness/relay/job_processes.hpp"

namespace tidemark {

namespace {

constexpr double kBeatEvery = 2;  // seconds between signs of life

/// Lengths in front of bytes, so that a part may hold anything.
std::string packed(const Gathered& all) {
  std::string bytes;
  put_number(bytes, static_cast<std::uint32_t>(all.silent.size()));
  for (const std::uint32_t rank : all.silent) put_number(bytes, rank);
  put_number(bytes, static_cast<std::uint32_t>(all.parts.size()));
  for (const std::string& part : all.parts) {
    put_number(bytes, static_cast<std::uint64_t>(part.size()));
    bytes += part;
  }
  return bytes;
}

Gathered unpacked(std::string_view bytes) {
  Gathered all;
  for (auto left = take_number<std::uint32_t>(bytes); left > 0; --left) {
    all.silent.push_back(take_number<std::uint32_t>(bytes));
  }
  for (auto left = take_number<std::uint32_t>(bytes); left > 0; --left) {
    const auto size = std::min<std::uint64_t>(take_number<std::uint64_t>(bytes), bytes.size());
    all.parts.emplace_back(bytes.substr(0, size));
    bytes.remove_prefix(size);
  }
  return all;
}

const char* first_set(std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (const char* value = std::getenv(name)) return value;
  }
  return nullptr;
}

[[noreturn]] void refuse_ranks(std::uint64_t expected, std::uint32_t seen) {
  throw EnvironmentError("the launcher started " + std::to_string(expected) + " ranks, MPI sees " +
                         std::to_string(seen) +
                         ": unset SLURM_*, PMI* and OMPI_COMM_WORLD_* if no launcher started this, "
                         "else use the mpirun of the MPI that tidemark was built with, or srun "
                         "--mpi=pmix");
}

}  // namespace

Mesh::Mesh(Link link, bool launched)
    : link_(std::move(link)),
      launched_(launched),
      heard_s_(link_.ranks, running_s()),
      silent_(link_.ranks) {}

void Mesh::send(std::uint32_t to, Tag tag, std::string bytes) {
  if (to == link_.rank) {
    sort_in({.from = to, .tag = tag, .bytes = std::move(bytes)});
  } else {
    link_.send(to, tag, std::make_shared<const std::string>(std::move(bytes)));
  }
}

void Mesh::send_to_others(Tag tag, const std::string& bytes) {
  const auto shared = std::make_shared<const std::string>(bytes);
  for (std::uint32_t to = 0; to < link_.ranks; ++to) {
    if (to != link_.rank) link_.send(to, tag, shared);
  }
}

bool Mesh::pump() {
  const double now = monotonic_s();
  if (link_.ranks > 1 && now - last_beat_s_ > kBeatEvery) {
    last_beat_s_ = now;
    // Everybody waits for rank 0 and rank 0 for everybody; no other pair needs to know.
    if (link_.rank == 0) {
      send_to_others(Tag::alive, {});
    } else {
      send(0, Tag::alive, {});
    }
  }
  bool any = false;
  while (std::optional<Message> message = link_.receive()) {
    any = true;
    heard_s_[message->from] = running_s();
    silent_[message->from] = false;
    sort_in(std::move(*message));
  }
  return any;
}

void Mesh::sort_in(Message message) {
  if (message.tag == Tag::alive) return;
  if (message.tag != Tag::collect && message.tag != Tag::spread) {
    inbox_[message.tag].push_back(std::move(message));
    return;
  }
  std::string_view bytes = message.bytes;
  const auto meeting = take_number<std::uint64_t>(bytes);
  if (meeting < meeting_) return;  // of a meeting that was given up
  if (message.tag == Tag::collect) {
    collected_[meeting][message.from] = bytes;
  } else {
    spread_[meeting] = bytes;
  }
}

void Mesh::enter(std::uint32_t launch, Stage stage) {
  constexpr std::uint64_t kStages = 8;
  count_from((launch * kStages + static_cast<std::uint64_t>(stage)) << 32U);
}

void Mesh::count_from(std::uint64_t meeting) {
  meeting_ = meeting;
  std::erase_if(collected_, [meeting](const auto& entry) { return entry.first < meeting; });
  std::erase_if(spread_, [meeting](const auto& entry) { return entry.first < meeting; });
}

std::optional<Message> Mesh::take(Tag tag) {
  auto& waiting = inbox_[tag];
  if (waiting.empty()) return std::nullopt;
  Message message = std::move(waiting.front());
  waiting.pop_front();
  return message;
}

bool Mesh::is_beyond(std::uint32_t rank) const {
  const auto from_rank = [rank](const auto& meeting) { return meeting.second.contains(rank); };
  return std::any_of(collected_.upper_bound(meeting_), collected_.end(), from_rank) ||
         (rank == 0 && spread_.upper_bound(meeting_) != spread_.end());
}

bool Mesh::wait_for(const std::function<bool()>& done,
                    const std::vector<std::uint32_t>& missing_from, const Patience& patience) {
  given_up_ = false;
  const double began = running_s();
  double turn_before = began;
  while (true) {
    const double now = running_s();
    pump();
    if (done()) return true;
    if (patience.meanwhile && !patience.meanwhile()) {
      given_up_ = true;
      return false;
    }
    if (now - began > patience.total_s) return false;
    // Silent by then, with two pump() in between: this thread may have stood still for longer than
    // its patience, and MPI may answer that there is nothing when it only begins to look.
    const auto speaks = [&](std::uint32_t rank) {
      return !silent_[rank] && !is_beyond(rank) &&
             turn_before - std::max(began, heard_s_[rank]) <= patience.silence_s;
    };
    // One silent rank ends the meeting only when all others are there, or as silent.
    if (std::none_of(missing_from.begin(), missing_from.end(), [&](std::uint32_t rank) {
          return collected_[meeting_].count(rank) == 0 && speaks(rank);
        })) {
      return false;
    }
    turn_before = now;
    rest();
  }
}

Gathered Mesh::collect(std::string mine, const Patience& patience) {
  auto& parts = collected_[meeting_];
  parts[0] = std::move(mine);
  std::vector<std::uint32_t> everybody;
  for (std::uint32_t rank = 1; rank < link_.ranks; ++rank) everybody.push_back(rank);
  wait_for([&] { return parts.size() == link_.ranks; }, everybody, patience);
  Gathered all;
  all.parts.resize(link_.ranks);
  for (std::uint32_t rank = 0; rank < link_.ranks; ++rank) {
    if (parts.count(rank) != 0) {
      all.parts[rank] = std::move(parts[rank]);
    } else {
      all.silent.push_back(rank);
      silent_[rank] = !given_up_ && !is_beyond(rank);
    }
  }
  return all;
}

Gathered Mesh::gather(std::string mine, const Patience& patience) {
  Gathered all;
  if (link_.rank == 0) {
    all = collect(std::move(mine), patience);
  } else {
    std::string bytes;
    put_number(bytes, meeting_);
    send(0, Tag::collect, bytes + mine);
  }
  collected_.erase(meeting_);
  ++meeting_;
  return all;
}

FirstWord Mesh::first_word(std::string mine, const Patience& patience) {
  const Gathered all = gather(std::move(mine), patience);
  Gathered told{.parts = {}, .silent = all.silent};
  const auto first = std::find_if(all.parts.begin(), all.parts.end(),
                                  [](const std::string& part) { return !part.empty(); });
  if (first != all.parts.end()) told.parts = {std::to_string(first - all.parts.begin()), *first};
  const std::optional<std::string> spread = broadcast(packed(told), patience);
  if (!spread) return {.rank = 0, .text = {}, .silent = {0}};
  told = unpacked(*spread);
  if (told.parts.size() != 2) return {.rank = 0, .text = {}, .silent = told.silent};
  return {.rank = static_cast<std::uint32_t>(std::stoul(told.parts[0])),
          .text = told.parts[1],
          .silent = told.silent};
}

Gathered Mesh::allgather(std::string mine, const Patience& patience) {
  // Through rank 0 and not by MPI_Iallgather: a collective that a rank does not join can neither
  // be cancelled nor say who is missing.
  Gathered all = gather(std::move(mine), patience);
  const std::optional<std::string> spread = broadcast(packed(all), patience);
  if (link_.rank == 0) return all;
  if (!spread) return {.parts = std::vector<std::string>(link_.ranks), .silent = {0}};
  return unpacked(*spread);
}

std::optional<std::string> Mesh::broadcast(std::string mine, const Patience& patience) {
  std::optional<std::string> heard;
  if (link_.rank == 0) {
    std::string bytes;
    put_number(bytes, meeting_);
    send_to_others(Tag::spread, bytes + mine);
    heard = std::move(mine);
  } else if (wait_for([&] { return spread_.count(meeting_) != 0; }, {0}, patience)) {
    heard = std::move(spread_[meeting_]);
  } else {
    silent_[0] = !given_up_ && !is_beyond(0);
  }
  spread_.erase(meeting_);
  collected_.erase(meeting_);
  ++meeting_;
  return heard;
}

std::optional<std::string> Mesh::ask(std::uint32_t rank, const Patience& patience) {
  std::string question;
  put_number(question, meeting_);
  send(rank, Tag::ask, question);
  std::optional<Message> answer;
  const auto is_it = [&] { return answer->from == rank && answer->bytes.starts_with(question); };
  const auto come = [&] {
    while ((answer = take(Tag::answer)) && !is_it()) {  // too late, for an ask that was given up
    }
    return answer.has_value();
  };
  silent_[rank] = !wait_for(come, {rank}, patience) && !given_up_;
  if (!answer) return std::nullopt;
  return answer->bytes.substr(question.size());
}

void Mesh::answer(const std::function<std::string()>& text) {
  while (const std::optional<Message> question = take(Tag::ask))
    send(0, Tag::answer, question->bytes + text());
}

FirstWord Mesh::close(double seconds, std::string error) {
  constexpr std::uint64_t kLast = ~std::uint64_t{0} << 32U;
  count_from(kLast);
  const Patience patience{.silence_s = seconds, .total_s = seconds};
  FirstWord first = first_word(std::move(error), patience);
  if (!first.silent.empty()) return first;
  const double until = monotonic_s() + seconds;
  while (link_.unsent_bytes() > 0) {
    pump();
    if (monotonic_s() > until) return first;
    rest();
  }
  link_.finish();
  return first;
}

bool started_by_launcher() {
  return first_set({"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK"}) != nullptr;
}

Mesh open_mesh(double start_s) {
  const char* told = first_set({"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"});
  // A PMI that MPI does not speak makes every rank a launch of its own, each with all GPUs.
  const std::uint64_t expected = told == nullptr ? 1 : std::strtoull(told, nullptr, 10);
  if (!started_by_launcher()) {
    // srun without a PMI: every task would take itself for a whole launch.
    if (expected > 1) refuse_ranks(expected, 1);
    return Mesh(std::move(local_links(1).front()));
  }
#ifdef TIDEMARK_WITH_MPI
  std::optional<StartWatch> watch(start_s);
  Link link = mpi_link();
  watch.reset();
  if (link.ranks < expected) refuse_ranks(expected, link.ranks);
  return Mesh(std::move(link), true);
#else
  throw EnvironmentError(
      "this tidemark was built without MPI and cannot be a rank of a launch: build it with "
      "TIDEMARK_MPI=ON, or start it without mpirun");
#endif
}

void rest() { std::this_thread::sleep_for(std::chrono::microseconds(200)); }

// Links inside one process: one mailbox a rank.

namespace {

struct Mailboxes {
  std::mutex mutex;
  std::vector<std::deque<Message>> of_rank;
};

}  // namespace

std::vector<Link> local_links(std::uint32_t ranks) {
  const auto boxes = std::make_shared<Mailboxes>();
  boxes->of_rank.resize(ranks);
  std::vector<Link> links;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    links.push_back({.rank = rank,
                     .ranks = ranks,
                     .library = {},
                     .send =
                         [boxes, rank](std::uint32_t to, Tag tag, const SharedBytes& bytes) {
                           const std::lock_guard lock(boxes->mutex);
                           boxes->of_rank.at(to).push_back(
                               {.from = rank, .tag = tag, .bytes = *bytes});
                         },
                     .receive = [boxes, rank]() -> std::optional<Message> {
                       const std::lock_guard lock(boxes->mutex);
                       auto& box = boxes->of_rank[rank];
                       if (box.empty()) return std::nullopt;
                       Message message = std::move(box.front());
                       box.pop_front();
                       return message;
                     },
                     .unsent_bytes = [] { return std::size_t{0}; },
                     .finish = [] {}});
  }
  return links;
}

}  // namespace tidemark
