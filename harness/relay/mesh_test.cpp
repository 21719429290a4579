// Meetings of supervisors, with the ranks as threads of this process.
#include "harness/relay/mesh.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <deque>
#include <thread>
#include <utility>

namespace tidemark {
namespace {

std::vector<Mesh> meshes(std::uint32_t ranks) {
  std::vector<Mesh> all;
  for (Link& link : local_links(ranks)) all.emplace_back(std::move(link));
  return all;
}

TEST(Mesh, one_rank_meets_itself) {
  Mesh mesh = std::move(meshes(1).front());
  EXPECT_EQ(mesh.allgather("a", {}).parts, std::vector<std::string>{"a"});
  EXPECT_EQ(mesh.broadcast("b", {}), "b");
  EXPECT_TRUE(mesh.close(1).silent.empty());
}

TEST(Mesh, ranks_that_close_learn_the_first_error) {
  std::vector<Mesh> all = meshes(3);
  std::vector<FirstWord> heard(3);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < 3; ++i)
    threads.emplace_back([&, i] { heard[i] = all[i].close(60, i == 0 ? "" : "no disk"); });
  for (std::thread& thread : threads) thread.join();
  for (const FirstWord& each : heard) {
    EXPECT_EQ(each.rank, 1U);
    EXPECT_EQ(each.text, "no disk");
  }
}

TEST(Mesh, every_rank_learns_every_part) {
  std::vector<Mesh> all = meshes(3);
  std::vector<Gathered> seen(3);
  std::vector<std::thread> threads;
  for (std::size_t rank = 0; rank < 3; ++rank) {
    threads.emplace_back([&, rank] {
      seen[rank] = all[rank].allgather(std::string(rank, 'x') + std::string(1, '\0'), {});
    });
  }
  for (std::thread& thread : threads) thread.join();
  const std::vector<std::string> expected = {{"\0", 1}, {"x\0", 2}, {"xx\0", 3}};
  for (const Gathered& gathered : seen) {
    EXPECT_EQ(gathered.parts, expected);
    EXPECT_TRUE(gathered.complete());
  }
}

TEST(Mesh, every_rank_hears_the_first_that_has_something_to_say) {
  std::vector<Mesh> all = meshes(4);
  const std::vector<std::string> texts = {"", "no space left", "", "no such folder"};
  std::vector<FirstWord> heard(4);
  std::vector<std::thread> threads;
  for (std::size_t rank = 0; rank < 4; ++rank) {
    threads.emplace_back([&, rank] { heard[rank] = all[rank].first_word(texts[rank], {}); });
  }
  for (std::thread& thread : threads) thread.join();
  for (const FirstWord& first : heard) {
    EXPECT_EQ(first.rank, 1U);
    EXPECT_EQ(first.text, "no space left");
    EXPECT_TRUE(first.silent.empty());
  }
}

TEST(Mesh, what_goes_to_all_ranks_is_one_copy) {
  std::vector<Link> links = local_links(4);
  std::vector<SharedBytes> sent;
  links[0].send = [&sent](std::uint32_t, Tag, SharedBytes bytes) {
    sent.push_back(std::move(bytes));
  };
  Mesh mesh(std::move(links[0]));
  mesh.send_to_others(Tag::stop, "the same to all");
  ASSERT_EQ(sent.size(), 3U);
  EXPECT_EQ(sent[0].get(), sent[1].get());
  EXPECT_EQ(sent[0].get(), sent[2].get());
}

TEST(Mesh, rank_0_asks_one_rank_and_not_the_silent_one) {
  std::vector<Mesh> all = meshes(3);
  std::thread other([&] {
    all[1].gather({}, {});
    const Patience answering{.silence_s = 60, .total_s = 60, .meanwhile = [&] {
                               all[1].answer([] { return std::string("a journal"); });
                               return true;
                             }};
    EXPECT_EQ(all[1].broadcast({}, answering), "the end");
  });
  const Patience patience{.silence_s = 0.2, .total_s = 60};
  EXPECT_EQ(all[0].gather({}, patience).silent, std::vector<std::uint32_t>{2});
  EXPECT_EQ(all[0].ask(1, {.silence_s = 60, .total_s = 60}), "a journal");
  EXPECT_EQ(all[0].ask(2, patience), std::nullopt);
  EXPECT_EQ(all[0].ask(1, {.silence_s = 60, .total_s = 60}), "a journal");
  all[0].broadcast("the end", patience);
  other.join();
}

TEST(Mesh, ranks_that_left_different_meetings_meet_again_in_the_next_stage) {
  std::vector<Mesh> all = meshes(2);
  const Patience patience{.silence_s = 5, .total_s = 5};
  for (Mesh& mesh : all) mesh.enter(1, Stage::rounds);
  std::thread other([&] {
    // Rank 1 came to two meetings that rank 0, stopped before them, never went to.
    const Patience stopped{.meanwhile = [] { return false; }};
    static_cast<void>(all[1].allgather("what passed here", stopped));
    static_cast<void>(all[1].allgather("verdicts of a round", stopped));
    all[1].enter(1, Stage::closing);
    static_cast<void>(all[1].gather("journal of rank 1", patience));
    EXPECT_EQ(all[1].broadcast("", patience), "code");
  });
  all[0].enter(1, Stage::closing);
  const Gathered seen = all[0].gather("journal of rank 0", patience);
  EXPECT_EQ(seen.parts, (std::vector<std::string>{"journal of rank 0", "journal of rank 1"}));
  static_cast<void>(all[0].broadcast("code", patience));
  other.join();
}

TEST(Mesh, a_silent_rank_is_named_and_not_waited_for) {
  std::vector<Mesh> all = meshes(3);
  const Patience patience{.silence_s = 0.2, .total_s = 3600};
  Gathered seen;
  std::thread other([&] { static_cast<void>(all[1].allgather("one", patience)); });
  seen = all[0].allgather("zero", patience);
  other.join();
  EXPECT_EQ(seen.silent, std::vector<std::uint32_t>{2});
  EXPECT_EQ(seen.parts[1], "one");
  EXPECT_FALSE(seen.complete());
}

TEST(Mesh, a_silent_rank_0_is_named_by_the_others) {
  std::vector<Mesh> all = meshes(2);
  const Gathered seen = all[1].allgather("one", {.silence_s = 0.1, .total_s = 3600});
  EXPECT_EQ(seen.silent, std::vector<std::uint32_t>{0});
}

TEST(Mesh, a_rank_once_silent_gets_no_new_patience_until_it_is_heard) {
  std::vector<Mesh> all = meshes(2);
  EXPECT_FALSE(all[0].gather({}, {.silence_s = 0.1, .total_s = 3600}).complete());
  EXPECT_FALSE(all[0].gather({}, {.silence_s = 1e9, .total_s = 1e9}).complete());
  all[1].send(0, Tag::alive, {});
  int turns = 0;
  const Patience patience{
      .silence_s = 1e9, .total_s = 1e9, .meanwhile = [&] { return ++turns < 3; }};
  EXPECT_FALSE(all[0].gather({}, patience).complete());
  EXPECT_EQ(turns, 3);
}

TEST(Mesh, a_rank_that_gives_signs_of_life_is_not_silent) {
  std::vector<Mesh> all = meshes(2);
  // 0.2 s are at most 1000 turns of rest()'s 0.2 ms: twice as many turns last twice as long, or
  // longer.
  constexpr int kSigns = 2000;
  int signs = 0;
  const Patience patience{.silence_s = 0.2, .total_s = 3600, .meanwhile = [&] {
                            all[1].send(0, Tag::alive, {});
                            return ++signs < kSigns;
                          }};
  static_cast<void>(all[0].gather("zero", patience));
  EXPECT_EQ(signs, kSigns);
}

TEST(Mesh, signs_of_life_do_not_outlast_the_total) {
  std::vector<Mesh> all = meshes(2);
  const Patience patience{.silence_s = 3600, .total_s = 0.05, .meanwhile = [&] {
                            all[1].send(0, Tag::alive, {});
                            return true;
                          }};
  EXPECT_EQ(all[0].gather("zero", patience).silent, std::vector<std::uint32_t>{1});
}

TEST(Mesh, a_time_in_which_nothing_ran_does_not_use_up_the_total) {
  std::vector<Mesh> all = meshes(2);
  int turns = 0;
  const Patience patience{.silence_s = 1e9, .total_s = 2, .meanwhile = [&] {
                            if (turns == 0)
                              std::this_thread::sleep_for(std::chrono::milliseconds(2500));
                            return ++turns < 3;
                          }};
  static_cast<void>(all[0].gather("zero", patience));
  EXPECT_EQ(turns, 3);
}

// As over MPI, which says that there is nothing and only then looks for what has come since it was
// last asked.
TEST(Mesh, a_rank_heard_of_while_this_one_stood_still_is_not_silent) {
  std::vector<Link> links = local_links(2);
  std::deque<Message> found;
  links[0].receive = [&found, receive = links[0].receive]() -> std::optional<Message> {
    if (found.empty()) {
      while (std::optional<Message> message = receive()) found.push_back(std::move(*message));
      return std::nullopt;
    }
    Message first = std::move(found.front());
    found.pop_front();
    return first;
  };
  Mesh mesh(std::move(links[0]));
  Mesh other(std::move(links[1]));
  int turns = 0;
  const Patience patience{.silence_s = 0.2, .total_s = 3600, .meanwhile = [&] {
                            other.send(0, Tag::alive, {});
                            std::this_thread::sleep_for(std::chrono::milliseconds(250));
                            return ++turns < 5;
                          }};
  static_cast<void>(mesh.gather("zero", patience));
  EXPECT_EQ(turns, 5);
}

TEST(Mesh, a_late_part_of_a_meeting_given_up_does_not_enter_the_next_one) {
  std::vector<Mesh> all = meshes(2);
  const Gathered first = all[0].gather("zero", {.silence_s = 0.05, .total_s = 0.05});
  EXPECT_EQ(first.silent, std::vector<std::uint32_t>{1});
  static_cast<void>(all[1].gather("late", {}));
  static_cast<void>(all[1].gather("second", {}));
  const Gathered second = all[0].gather("zero", {.silence_s = 5, .total_s = 5});
  EXPECT_EQ(second.parts[1], "second");
}

TEST(Mesh, a_part_of_a_later_meeting_waits_for_it) {
  std::vector<Mesh> all = meshes(2);
  static_cast<void>(all[1].gather("first", {}));
  static_cast<void>(all[1].gather("second", {}));
  EXPECT_EQ(all[0].gather("zero", {}).parts[1], "first");
  EXPECT_EQ(all[0].gather("zero", {}).parts[1], "second");
}

// It was stopped for so long that another rank, which lives, went on without it.
TEST(Mesh, a_rank_that_is_at_a_later_meeting_is_not_waited_for) {
  std::vector<Mesh> all = meshes(2);
  for (Mesh& mesh : all) mesh.enter(1, Stage::rounds);
  all[1].enter(1, Stage::closing);
  static_cast<void>(all[1].gather("journal of rank 1", {}));
  int turns = 0;
  const Patience patience{
      .silence_s = 1e9, .total_s = 1e9, .meanwhile = [&] { return ++turns < 100; }};
  EXPECT_EQ(all[0].allgather("round", patience).silent, std::vector<std::uint32_t>{1});
  EXPECT_EQ(turns, 1);
  all[0].enter(1, Stage::closing);
  EXPECT_EQ(all[0].gather("journal of rank 0", patience).parts[1], "journal of rank 1");
}

TEST(Mesh, meanwhile_may_give_up) {
  std::vector<Mesh> all = meshes(2);
  const Gathered seen =
      all[0].gather("zero", {.silence_s = 1e9, .total_s = 1e9, .meanwhile = [] { return false; }});
  EXPECT_EQ(seen.silent, std::vector<std::uint32_t>{1});
}

TEST(Mesh, messages_are_taken_by_tag_in_their_order) {
  std::vector<Mesh> all = meshes(2);
  all[1].send(0, Tag::trouble, "first");
  all[1].send(0, Tag::tally, "other");
  all[1].send(0, Tag::trouble, "second");
  EXPECT_TRUE(all[0].pump());
  EXPECT_EQ(all[0].take(Tag::trouble)->bytes, "first");
  EXPECT_EQ(all[0].take(Tag::trouble)->bytes, "second");
  EXPECT_FALSE(all[0].take(Tag::trouble).has_value());
  const std::optional<Message> other = all[0].take(Tag::tally);
  ASSERT_TRUE(other.has_value());
  EXPECT_EQ(other->from, 1U);
  EXPECT_EQ(other->bytes, "other");
}

}  // namespace
}  // namespace tidemark
