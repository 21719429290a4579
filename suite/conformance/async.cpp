// Asynchronous stores and reductions between the CTAs of a cluster, and their cases. Expected bytes
// are those that the steps credit.
#include "suite/conformance/async.hpp"

#include <algorithm>
#include <bit>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "suite/case.hpp"
#include "suite/conformance/load_store_bulk.hpp"
#include "suite/conformance/tile.hpp"

namespace tidemark {
namespace {

std::uint16_t only(std::uint32_t cta) { return static_cast<std::uint16_t>(1U << cta); }

// No CTA reduces its own window: documents have that undefined.
std::uint16_t others(std::uint32_t ctas, std::uint32_t to) {
  return static_cast<std::uint16_t>(((1U << ctas) - 1) & ~(1U << to));
}

void append_round(Program& program, const std::vector<Step>& copies) {
  std::vector<Step>& steps = program.steps;
  std::vector<std::uint32_t> expected(ctas_of(program));
  for (const Step& copy : copies)
    for (std::uint32_t cta = 0; cta < expected.size(); ++cta) {
      if (!takes(copy, cta)) continue;
      const Landing landing = landing_of(program, copy, cta);
      expected[static_cast<std::size_t>(std::countr_zero(landing.ctas))] += landing.credited;
    }
  for (std::uint32_t cta = 0; cta < expected.size(); ++cta)
    steps.push_back({.verb = Verb::arrive_expect_tx, .ctas = only(cta), .bytes = expected[cta]});
  steps.push_back({.verb = Verb::cluster_sync, .ctas = all_ctas(program)});
  steps.insert(steps.end(), copies.begin(), copies.end());
  steps.push_back({.verb = Verb::wait,
                   .ctas = all_ctas(program),
                   .parity = kCurrentPhase,
                   .stops = true,
                   .ns = kMustCompleteNs});
  steps.push_back({.verb = Verb::snapshot, .ctas = all_ctas(program)});
}

constexpr std::uint64_t kWords[] = {
    0, 1, 5, 0x7fffffff, 0x80000000, 0xffffffff, 0x0123456789abcdef, ~std::uint64_t{0}};

}  // namespace

Program program_of(const AsyncRounds& rounds) {
  const TileLoad words = bulk_load(DataType::u8, 16, 0);  // whose source the fills have
  Program program{.cluster = {rounds.ctas, 1, 1},
                  .window = rounds.window,
                  .barriers = 1,
                  .regions = {region_of(words)},
                  .maps = {{.spec = words.map}},
                  .steps = {},
                  .payload = {}};
  program.what = rounds.what;
  program.steps = {{.verb = Verb::init, .ctas = all_ctas(program)},
                   {.verb = Verb::fill,
                    .ctas = all_ctas(program),
                    .offset = kGuardBytes,
                    .bytes = rounds.window - 2 * kGuardBytes}};
  for (const std::vector<Step>& copies : rounds.rounds) append_round(program, copies);
  return program;
}

Program stores_of_every_pair(std::uint32_t ctas, const AsyncWidth& width) {
  AsyncRounds rounds{.ctas = ctas,
                     .window = 2 * kGuardBytes + 32 * ctas,
                     .rounds = {{}},
                     .what = fmt::format("{} bytes of {} between any two of {} CTAs", width.bytes,
                                         name_of(width.type), ctas)};
  for (std::uint32_t from = 0; from < ctas; ++from)
    for (std::uint32_t to = 0; to < ctas; ++to)
      rounds.rounds[0].push_back({.verb = Verb::st_async,
                                  .ctas = only(from),
                                  .thread = static_cast<std::uint16_t>(16 * from + to),
                                  .of = static_cast<std::uint8_t>(to),
                                  .type = width.type,
                                  .bytes = width.bytes,
                                  .at = {static_cast<std::int32_t>(kGuardBytes + 32 * from)},
                                  .word = splitmix64(16 * from + to)});
  return program_of(rounds);
}

Program stores_at_places(const AsyncWidth& width) {
  const std::uint32_t places = 32 / width.bytes;
  AsyncRounds rounds{
      .window = 2 * kGuardBytes + 32 * places,
      .rounds = {{}},
      .what = fmt::format("{} bytes of {} at each place", width.bytes, name_of(width.type))};
  for (std::uint32_t i = 0; i < places; ++i)
    rounds.rounds[0].push_back(
        {.verb = Verb::st_async,
         .thread = static_cast<std::uint16_t>(37 * i % kProgramThreads),
         .of = 1,
         .type = width.type,
         .bytes = width.bytes,
         .at = {static_cast<std::int32_t>(kGuardBytes + (32 + width.bytes) * i)},
         .word = splitmix64(i)});
  return program_of(rounds);
}

std::vector<SharedReduction> shared_reductions() {
  std::vector<SharedReduction> all;
  for (const DataType type : {DataType::u32, DataType::s32, DataType::u64})
    for (std::uint32_t i = 0; i < kReductions; ++i)
      if (reduces_in_shared(static_cast<Reduction>(i), type))
        all.push_back({static_cast<Reduction>(i), type});
  return all;
}

std::string words_of(const SharedReduction& reduction) {
  constexpr const char* kNames[kReductions] = {"none", "add", "min", "max", "inc",
                                               "dec",  "and", "or",  "xor"};
  return fmt::format("{} of {}", kNames[static_cast<std::size_t>(reduction.reduction)],
                     name_of(reduction.type));
}

Program reductions_of_words(const SharedReduction& how) {
  AsyncRounds rounds{.window = 2 * kGuardBytes + 8 * 64, .rounds = {{}, {}}, .what = {}};
  rounds.what = words_of(how) + ", of any two of eight words";
  const std::uint32_t bytes = element_bytes(how.type);
  std::int32_t at = kGuardBytes;
  for (const std::uint64_t memory : kWords)
    for (const std::uint64_t comes : kWords) {
      const DataType type = bytes == 8 ? DataType::u64 : DataType::u32;
      const Step put{.verb = Verb::st_async,
                     .of = 1,
                     .type = type,
                     .bytes = bytes,
                     .at = {at},
                     .word = memory};
      rounds.rounds[0].push_back(put);
      rounds.rounds[1].push_back({.verb = Verb::red_async,
                                  .of = 1,
                                  .reduction = how.reduction,
                                  .type = how.type,
                                  .at = {at},
                                  .word = comes});
      at += static_cast<std::int32_t>(bytes);
    }
  return program_of(rounds);
}

Program reductions_of_one_word(const SharedReduction& how, std::uint32_t ctas) {
  constexpr std::uint32_t kTimes = 3, kThreads[kTimes] = {1, 32, 5};
  AsyncRounds rounds{.ctas = ctas, .window = 2 * kGuardBytes + 32, .rounds = {{}, {}}, .what = {}};
  rounds.what = fmt::format("{}, {} times by each of {} CTAs", words_of(how), kTimes, ctas);
  // All have one bound then, which makes them the same function.
  const bool counts = how.reduction == Reduction::inc || how.reduction == Reduction::dec;
  for (std::uint32_t to = 0; to < ctas; ++to) {
    const auto of = static_cast<std::uint8_t>(to);
    const std::int32_t at = kGuardBytes + 8;
    rounds.rounds[0].push_back(
        {.verb = Verb::st_async, .ctas = 1, .of = of, .bytes = 8, .at = {at}, .word = 2});
    for (std::uint32_t time = 0; time < kTimes; ++time) {
      Step reduce{.verb = Verb::red_async,
                  .ctas = others(ctas, to),
                  .thread = static_cast<std::uint16_t>(32 * time + to),
                  .of = of,
                  .reduction = how.reduction,
                  .type = how.type,
                  .count = to == 0 ? kThreads[time] : 1,
                  .at = {at},
                  .word = counts ? 4 : splitmix64(8 * time + to)};
      rounds.rounds[1].push_back(reduce);
      reduce.count = 1;
      reduce.ctas = only((to + 1 + time % (ctas - 1)) % ctas);  // one alone
      if (!counts) reduce.word = splitmix64(reduce.word);
      rounds.rounds[1].push_back(reduce);
    }
  }
  return program_of(rounds);
}

Program bulk_reductions(const SharedReduction& how, std::uint32_t ctas, std::uint32_t bytes) {
  AsyncRounds rounds{
      .ctas = ctas, .window = 2 * kGuardBytes + 16 * ctas + 2 * bytes, .rounds = {{}}, .what = {}};
  rounds.what = fmt::format("{}, {} bytes from each of {} CTAs", words_of(how), bytes, ctas);
  // Else all bring the same words.
  const bool apart = commutes(how.reduction, how.type);
  for (std::uint32_t from = 0; from < ctas; ++from)
    for (std::uint32_t to = 0; to < ctas; ++to) {
      if (from == to) continue;
      rounds.rounds[0].push_back(
          {.verb = Verb::send,
           .ctas = static_cast<std::uint16_t>(1U << from),
           .thread = static_cast<std::uint16_t>(from),
           .of = static_cast<std::uint8_t>(to),
           .reduction = how.reduction,
           .type = how.type,
           .offset = kGuardBytes + (apart ? 16 * from : 0),
           .bytes = bytes,
           .at = {static_cast<std::int32_t>(kGuardBytes + 16 * ctas + bytes)}});
    }
  return program_of(rounds);
}

Program random_async(std::uint64_t seed) {
  constexpr std::uint32_t kSlots = 12, kSlot = 256, kSources = 512;
  Draws draws(splitmix64(seed));
  const std::uint32_t ctas = 2U << draws.below(3);
  AsyncRounds rounds{.ctas = ctas,
                     .window = 2 * kGuardBytes + kSources + kSlots * kSlot,
                     .rounds = {{}, {}},
                     .what = fmt::format("drawn from {:#x}", seed)};
  const std::vector<SharedReduction> reductions = shared_reductions();
  for (std::vector<Step>& copies : rounds.rounds)
    for (std::uint32_t slot = 0; slot < kSlots; ++slot) {
      const SharedReduction& how =
          reductions[draws.below(static_cast<std::uint32_t>(reductions.size()))];
      const AsyncWidth& width =
          kAsyncWidths[draws.below(static_cast<std::uint32_t>(std::size(kAsyncWidths)))];
      Step copy{.verb = Verb::send,
                .ctas = only(draws.below(ctas)),
                .thread = static_cast<std::uint16_t>(draws.below(kProgramThreads)),
                .of = static_cast<std::uint8_t>(draws.below(ctas)),
                .type = how.type,
                .offset = kGuardBytes + 16 * draws.below(kSources / 16 - kSlot / 16 + 1),
                .bytes = 16 * draws.between(1, kSlot / 16),
                .word = splitmix64(draws.below(1U << 31))};
      std::uint32_t at = kGuardBytes + kSources + slot * kSlot;
      // The second round may not come by the async proxy to what the first wrote by registers.
      const bool of_registers = slot % 2 == 1, reduces = draws.below(2) == 0;
      if (of_registers) copy.verb = reduces ? Verb::red_async : Verb::st_async;
      if (reduces) copy.reduction = how.reduction;
      if (copy.verb == Verb::st_async) {
        copy.type = width.type;
        copy.bytes = width.bytes;
      }
      if (copy.verb != Verb::send) at += async_bytes(copy) * draws.below(kSlot / 16);
      copy.at[0] = static_cast<std::int32_t>(at);
      if (of_registers && reduces)
        copy.count = std::min(draws.between(1, 40), kProgramThreads - copy.thread);
      // compute-sanitizer calls a bulk copy into the own window invalid; cluster.send.* has them.
      if (reduces || copy.verb == Verb::send)
        copy.ctas = only((copy.of + 1 + draws.below(ctas - 1)) % ctas);
      // Where the order does not matter all do it at once.
      if (commutes(copy.reduction, copy.type)) copy.ctas = others(ctas, copy.of);
      copies.push_back(copy);
    }
  return program_of(rounds);
}

namespace {

// Bulk copies, bulk reductions, st.async and red.async of several CTAs on one barrier.
std::vector<Op> mixed_rows(const RunContext& context) {
  return drawn_rows(context, {32, 1000, 4000}, random_async);
}

const Register kMixed{{
    .name = "async.mixed",
    .claim =
        "bytes that bulk copies, bulk reductions, st.async and red.async credit to one barrier "
        "add up, and its phase completes when all have come",
    .cites = "PTX ISA 9.0, 9.7.13.15.5 tracking asynchronous operations by the mbarrier object",
    .rows = mixed_rows,
}};

// Reducing sends: of several sizes to another CTA, and of several CTAs into one range.
std::vector<Op> reduce_bulk_rows(const RunContext&) {
  std::vector<Op> rows;
  for (const SharedReduction& how : shared_reductions()) {
    for (const std::uint32_t bytes : {16U, 48U, 272U, 4112U})
      rows.emplace_back(bulk_reductions(how, 2, bytes));
    rows.emplace_back(bulk_reductions(how, 4, 272));
    rows.emplace_back(bulk_reductions(how, 8, 64));
  }
  return rows;
}

const Register kReduceBulk{{
    .name = "async.reduce.bulk",
    .claim =
        "a bulk reduction into the window of a CTA reduces each element as operation and type "
        "say, adds up with those of other CTAs and credits its bytes once to the barrier there",
    .cites = "PTX ISA 9.0, 9.7.9.25.4.2 cp.reduce.async.bulk.shared::cluster.shared::cta",
    .rows = reduce_bulk_rows,
}};

// All other CTAs of a cluster reduce one word in the window of each, several times.
std::vector<Op> reduce_shared_rows(const RunContext&) {
  std::vector<Op> rows;
  for (const SharedReduction& how : shared_reductions())
    for (const std::uint32_t ctas : {2U, 5U, 8U})
      rows.emplace_back(reductions_of_one_word(how, ctas));
  return rows;
}

const Register kReduceShared{{
    .name = "async.reduce.shared",
    .claim =
        "of what all other CTAs of a cluster reduce into one word by red.async nothing is lost "
        "and nothing counts twice",
    .cites = "PTX ISA 9.0, 9.7.13.7 red.async",
    .rows = reduce_shared_rows,
}};

// Each reduction of any two words at the ends of their ranges, from one CTA to the next.
std::vector<Op> reduce_words_rows(const RunContext&) {
  std::vector<Op> rows;
  for (const SharedReduction& how : shared_reductions())
    rows.emplace_back(reductions_of_words(how));
  return rows;
}

const Register kReduceWords{{
    .name = "async.reduce.words",
    .claim =
        "red.async reduces a word of another CTA as its operation and type say, at the ends of "
        "its range, too, and credits its bytes once to the barrier there",
    .cites = "PTX ISA 9.0, 9.7.13.7 red.async",
    .rows = reduce_words_rows,
}};

// A case of its own: where a GPU cannot start such a cluster the whole case is skipped.
std::vector<Op> store_cluster16_rows(const RunContext&) {
  return {stores_of_every_pair(16, kAsyncWidths[0]), stores_of_every_pair(16, kAsyncWidths[4])};
}

const Register kStoreCluster16{{
    .name = "async.store.cluster16",
    .claim = "where a GPU can start a cluster of sixteen CTAs, st.async goes between any two of "
             "them",
    .cites = "PTX ISA 9.0, 9.7.9.12 st.async",
    .rows = store_cluster16_rows,
}};

// Every width between every two CTAs of clusters of every size.
std::vector<Op> store_pairs_rows(const RunContext&) {
  std::vector<Op> rows;
  for (std::uint32_t ctas = 2; ctas <= 8; ++ctas)
    for (const AsyncWidth& width : kAsyncWidths)
      rows.emplace_back(stores_of_every_pair(ctas, width));
  return rows;
}

const Register kStorePairs{{
    .name = "async.store.pairs",
    .claim = "st.async writes one element of 32 or 64 bits, or a vector of up to 16 bytes, from "
             "any CTA of a cluster to any, credits its bytes once to the barrier of the CTA that "
             "gets them and touches nothing else",
    .cites = "PTX ISA 9.0, 9.7.9.12 st.async",
    .rows = store_pairs_rows,
}};

// Each width at each place that its alignment allows, in lines of 32 bytes whose rest must stay.
std::vector<Op> store_places_rows(const RunContext&) {
  std::vector<Op> rows;
  for (const AsyncWidth& width : kAsyncWidths) rows.emplace_back(stores_at_places(width));
  return rows;
}

const Register kStorePlaces{{
    .name = "async.store.places",
    .claim = "st.async writes its bytes and no others at any multiple of their number",
    .cites = "PTX ISA 9.0, 9.7.9.12 st.async",
    .rows = store_places_rows,
}};

}  // namespace
}  // namespace tidemark
