// Copies drawn boxes by their coordinates, one element after the other, so that the arithmetic of
// stress_chunk() is compared with one that it shares nothing with.
#include "kernels/virtual/stress.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <vector>

#include "kernels/ops/tensor_map.hpp"

namespace tidemark {
namespace {

constexpr std::uint32_t kSms = 4, kBoxes = 100;  // of each SM
constexpr std::uint32_t kWrittenBoxes = 96;      // what is added is taken off again
constexpr std::uint32_t kSickSm = 2, kSickEvery = 25;

using Bytes = std::vector<std::uint8_t>;

constexpr std::uint32_t kBehind = kStressGuardBytes + kStressBoxBytes;  // the guard behind a slot

std::uint32_t word_at(const Bytes& bytes, std::size_t at) {
  std::uint32_t word = 0;
  std::memcpy(&word, bytes.data() + at, sizeof(word));
  return word;
}

void put_word(Bytes& bytes, std::size_t at, std::uint32_t word) {
  std::memcpy(bytes.data() + at, &word, sizeof(word));
}

/// Byte address of the element at `index` of the tensor, or nothing of the memory outside of it.
std::int64_t address_of(const TensorMapSpec& map, const std::array<std::int64_t, kMaxRank>& index) {
  std::int64_t address = index[0] * element_bytes(map.type);
  for (std::uint32_t i = 0; i < map.rank; ++i) {
    if (index[i] < 0 || index[i] >= static_cast<std::int64_t>(map.extent[i])) return -1;
    if (i > 0) address += index[i] * static_cast<std::int64_t>(map.stride[i - 1]);
  }
  return address;
}

/// Calls `use` with each element of the box, in the order of the dimensions: its address in memory,
/// -1 outside of the tensor, its place in the slot and its bytes.
template <class Use>
void for_elements(const TensorMapSpec& map, const StressBox& box, const Use& use) {
  const std::uint32_t element = map.bulk ? 4 : element_bytes(map.type);
  std::array<std::int64_t, kMaxRank> index{};
  std::copy(box.at.begin(), box.at.end(), index.begin());
  for (std::uint32_t e = 0; e < (map.bulk ? map.box[0] : tile_bytes(map)) / element; ++e) {
    if (map.bulk) {
      use(static_cast<std::int64_t>(box.address) + 4 * e, kStressGuardBytes + box.offset + 4 * e,
          4);
      continue;
    }
    use(address_of(map, index), kStressGuardBytes + swizzled(box.offset + e * element, map.swizzle),
        element);
    for (std::uint32_t i = 0; i < map.rank; ++i) {
      index[i] += traversal_step(map, i);
      if (index[i] < box.at[i] + std::int64_t{tile_extent(map, i)} * traversal_step(map, i)) break;
      index[i] = box.at[i];
    }
  }
}

void load_box(const Bytes& memory, const TensorMapSpec& map, const StressBox& box, Bytes& slot) {
  for_elements(map, box, [&](std::int64_t from, std::uint32_t to, std::uint32_t bytes) {
    for (std::uint32_t byte = 0; byte < bytes; ++byte)
      slot[to + byte] = from < 0 ? 0 : memory[static_cast<std::size_t>(from) + byte];
  });
}

/// Stores the box, or adds its words.
void write_box(StressCopy copy, const Bytes& slot, const TensorMapSpec& map, const StressBox& box,
               Bytes& memory) {
  for_elements(map, box, [&](std::int64_t to, std::uint32_t from, std::uint32_t bytes) {
    if (to < 0) return;
    const auto at = static_cast<std::size_t>(to);
    if (copy == StressCopy::reduce)
      put_word(memory, at, word_at(memory, at) + word_at(slot, from));
    else
      std::copy_n(slot.begin() + from, bytes, memory.begin() + to);
  });
}

/// What the slot of a writing copy holds.
void make_box(const StressShape& shape, const StressBox& box, std::uint32_t seed, bool negative,
              Bytes& slot) {
  with_chunks(shape, box, [&](const auto& words_of) {
    for (std::uint32_t i = 0; i < shape.bytes / 4; ++i) {
      const std::uint32_t word = words_of(seed, i / 4)[i % 4];
      put_word(slot, kStressGuardBytes + box.offset + 4 * i, negative ? 0U - word : word);
    }
  });
}

void compare_word(WrongWord word, StressSm& sm, RunResult& result) {
  if (word.expected == word.actual) return;
  word.in_memory = word.expected;  // memory is right here, and guards are none of it
  if (sm.wrong_words++ < kKeptWrongWords) result.wrong_words.push_back(word);
}

/// Compares all words of the box and its guard.
void check_box(const StressShape& shape, const StressBox& box, std::uint32_t seed, Bytes& slot,
               WrongWord word, StressSm& sm, RunResult& result) {
  const std::uint64_t before = sm.wrong_words;
  with_chunks(shape, box, [&](const auto& expected_of) {
    for (std::uint32_t chunk = 0; chunk < shape.bytes / 16; ++chunk) {
      const auto expected = expected_of(seed, chunk);
      for (std::uint32_t j = 0; j < 4; ++j) {
        word.offset = 16 * chunk + 4 * j;
        word.expected = expected[j];
        word.actual = word_at(slot, kStressGuardBytes + box.offset + word.offset);
        compare_word(word, sm, result);
      }
    }
  });
  for (std::uint32_t i = 0; i < kStressGuardBytes / 4; ++i) {
    word.expected = stress_guard_word(i);
    for (const bool behind : {false, true}) {
      word.offset = kGuardWord | (behind ? kGuardBehind : 0U) | (4 * i);
      word.actual = word_at(slot, (behind ? kBehind : 0U) + 4 * i);
      compare_word(word, sm, result);
      // As on a GPU: else all boxes that follow would be wrong, too.
      put_word(slot, (behind ? kBehind : 0U) + 4 * i, word.expected);
    }
  }
  if (sm.wrong_words != before) ++sm.wrong_boxes;
}

/// What the box at `box` becomes by a fault that shows in it; `stale` is what its slot held before.
void spoil(const StressShape& shape, const StressBox& box, Fault fault, const Bytes& stale,
           Bytes& slot) {
  const std::uint32_t middle = kStressGuardBytes + box.offset + shape.bytes / 2;
  if (fault == kFaultStressBit) slot[middle] ^= 0x10;
  if (fault == kFaultStressStale)
    std::copy_n(stale.begin() + middle / 16 * 16, 16, slot.begin() + middle / 16 * 16);
  if (fault == kFaultStressOverrun) std::fill_n(slot.begin() + kBehind, 16, std::uint8_t{0});
  if (fault == kFaultStressUnderrun)
    std::fill_n(slot.begin() + kStressGuardBytes - 16, 16, std::uint8_t{0});
}

/// A slot, with the guards before and behind it.
Bytes guarded_slot() {
  Bytes slot(kBehind + kStressGuardBytes);
  for (std::uint32_t i = 0; i < kStressGuardBytes / 4; ++i)
    for (const std::uint32_t guard : {0U, kBehind})
      put_word(slot, guard + 4 * i, stress_guard_word(i));
  return slot;
}

/// Whether the fault keeps the SM from this write: every 25th, or one of a part that all SMs add
/// to.
bool is_write_lost(Fault fault, bool sick, std::uint32_t number, std::uint64_t iteration) {
  return (sick && fault == kFaultStressWriteLost) ||
         (fault == kFaultStressSum && number == kSickSm && iteration == 6 * kStressGroups);
}

void run_sm(const Stress& op, Fault fault, std::uint32_t number, Bytes& memory, RunResult& result) {
  const std::vector<TensorMapSpec> maps = stress_maps(op, kSms);
  const std::vector<StressShape> shapes = stress_shapes(maps);
  const std::uint32_t cta = number / op.cluster * op.cluster;
  const bool reduces = op.copy == StressCopy::reduce;
  Bytes from = guarded_slot(), slot = guarded_slot();
  StressSm sm{.sm = number};
  for (std::uint64_t iteration = 0; iteration < (is_write(op.copy) ? kWrittenBoxes : kBoxes);
       ++iteration) {
    const std::uint64_t drawn = reduces ? reduced_iteration(iteration) : iteration;
    const std::uint64_t key = stress_key(op.seed, cta, drawn);
    const StressBox box = stress_draw(shapes.data(), static_cast<std::uint32_t>(shapes.size()),
                                      op.memory_bytes, stress_part(op.copy, cta, drawn), key);
    const TensorMapSpec& map = maps[box.map];
    const StressShape& shape = shapes[box.map];
    const bool sick = number == kSickSm && iteration % kSickEvery == kSickEvery - 1;
    if (sick && fault == kFaultStressLost) {
      sm.lost = 1;
      sm.lost_seed = op.seed;
      sm.lost_iteration = iteration;
      sm.lost_cta = cta;
      break;
    }
    StressBox taken = box;
    if (sick && fault == kFaultStressAddress) {
      taken.address ^= 4096;
      taken.at[0] ^= static_cast<std::int32_t>(16 / shape.element);
    }
    const Bytes stale = sick ? slot : Bytes{};
    auto seed = static_cast<std::uint32_t>(op.seed);
    if (op.copy == StressCopy::store) seed = stored_seed(seed, iteration);
    if (is_write(op.copy)) {
      make_box(shape, box, seed, drawn != iteration, from);
      if (is_spoiled(op.spoiled, number, key) && drawn == iteration)
        from[kStressGuardBytes + box.offset] ^= 1;
      if (sick && reduces) spoil(shape, box, fault, stale, from);
      const bool by_threads = reduces && is_taken_off_by_threads(iteration) && !box.outside;
      if (fault == kFaultStressClip && number == kSickSm && !by_threads)
        std::fill_n(from.begin() + kStressGuardBytes + box.offset, 16, std::uint8_t{0});
      if (!is_write_lost(fault, sick, number, iteration))
        write_box(op.copy, from, map, taken, memory);
      if (sick && fault == kFaultStressStray) put_word(memory, op.memory_bytes - 16, 0);
    }
    ++sm.boxes;
    sm.bytes += shape.bytes;
    if (reduces) continue;
    load_box(memory, map, is_write(op.copy) ? box : taken, slot);
    if (sick) spoil(shape, box, fault, stale, slot);
    if (sick && fault == kFaultStressMulticast && op.cluster > 1) slot = stale;
    if (is_spoiled(op.spoiled, number, key) && !is_write(op.copy))
      slot[kStressGuardBytes + box.offset] ^= 1;
    check_box(shape, box, seed, slot,
              {.seed = op.seed, .iteration = iteration, .cta = cta, .sm = number}, sm, result);
  }
  if (op.products) {
    sm.digest = 1 + static_cast<std::uint32_t>(op.seed);
    sm.products = kBoxes;
    if (fault == kFaultStressProduct && number == kSickSm) ++sm.digest;
  }
  result.stress.push_back(sm);
}

/// Looks for words that no copy can have left.
void scan(const Stress& op, const Bytes& memory, RunResult& result) {
  for (std::uint32_t i = 0; i < op.memory_bytes / 4; ++i) {
    const std::uint32_t filled = stress_word(i, static_cast<std::uint32_t>(op.seed));
    const std::uint32_t word = word_at(memory, 4 * std::size_t{i});
    const std::uint32_t writer = stress_writer(op.copy, i);
    const bool of_no_sm = writer >= kSms;
    if (stress_may_leave(op.copy, filled, word, of_no_sm ? 0 : result.stress[writer].boxes))
      continue;
    if (!of_no_sm) ++result.stress[writer].wrong_words;
    if (result.wrong_words.size() < kKeptWrongWords)
      result.wrong_words.push_back({.seed = op.seed,
                                    .iteration = kOfMemory | i,
                                    .sm = of_no_sm ? kNoSm : writer,
                                    .expected = filled,
                                    .actual = word,
                                    .in_memory = word});
  }
}

constexpr FaultInfo stress_fault(Fault fault, std::string_view name, std::string_view step) {
  return {.fault = fault, .op = OpKind::stress, .name = name, .step = step};
}

constexpr auto kFaults = std::to_array<FaultInfo>({
    stress_fault(kFaultStressBit, "stress_bit",
                 "data: one bit in the middle of every 25th box is wrong, on one SM"),
    stress_fault(kFaultStressAddress, "stress_address",
                 "address: every 25th box is taken 16 bytes or 4 KiB from where it should, on one "
                 "SM"),
    stress_fault(kFaultStressOverrun, "stress_overrun",
                 "destination: every 25th box writes 16 bytes behind its slot, on one SM"),
    stress_fault(kFaultStressUnderrun, "stress_underrun",
                 "destination: every 25th box writes 16 bytes before its slot, on one SM"),
    stress_fault(kFaultStressStale, "stress_stale",
                 "data: 16 bytes of every 25th box stay as the slot had them, on one SM"),
    stress_fault(kFaultStressLost, "stress_lost",
                 "completion: a box never completes its barrier, on one SM"),
    stress_fault(kFaultStressMulticast, "stress_multicast",
                 "data: every 25th multicast brings one of its CTAs nothing"),
    stress_fault(kFaultStressWriteLost, "stress_write_lost",
                 "data: every 25th store or reduction writes nothing, on one SM"),
    stress_fault(kFaultStressSum, "stress_sum",
                 "data: a reduction of one SM is lost where others add to the same words"),
    stress_fault(
        kFaultStressClip, "stress_clip",
        "data: stores and reductions of one SM write zeros in the first 16 bytes of each box"),
    stress_fault(kFaultStressStray, "stress_stray",
                 "address: every 25th store or reduction of one SM also writes where no SM writes"),
    stress_fault(kFaultStressProduct, "stress_product",
                 "data: a product beside the copies is wrong, on one SM"),
});

}  // namespace

Measurement run_virtual_stress(const Stress& op, Fault fault) {
  Measurement measurement;
  (void)stress_maps(op, kSms);  // refuses a size before it is asked of the system
  Bytes memory(op.memory_bytes + 4096);
  for (std::size_t i = 0; i < memory.size() / 4; ++i)
    put_word(memory, 4 * i,
             stress_word(static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(op.seed)));
  for (std::uint32_t sm = 0; sm < kSms; ++sm) run_sm(op, fault, sm, memory, measurement.last);
  if (is_write(op.copy)) scan(op, memory, measurement.last);
  compare_digests(measurement.last.stress);
  const std::chrono::duration<double> now = std::chrono::system_clock::now().time_since_epoch();
  measurement.samples.push_back({.at_unix_s = now.count()});
  measurement.note = measurement.last.note =
      stress_note(measurement.last.stress) + "; the virtual device times nothing";
  return measurement;
}

std::span<const FaultInfo> stress_faults() { return kFaults; }

}  // namespace tidemark
