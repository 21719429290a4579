// Copies drawn boxes by their coordinates, one element after the other, so that the arithmetic of
// stress_chunk() is compared with one that it shares nothing with.
#include "kernels/virtual/stress.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <vector>

#include "kernels/ops/program/columns.hpp"

namespace tidemark::kernels {
namespace {

constexpr std::uint32_t kSms = 4, kBoxes = 100;  // of each SM
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

/// What the copy does: each element to the next place of the box, in the order of the dimensions.
void copy_box(const Bytes& memory, const TensorMapSpec& map, const StressBox& box, Bytes& slot) {
  if (map.bulk) {
    const auto from = memory.begin() + static_cast<std::ptrdiff_t>(box.address);
    std::copy(from, from + map.box[0], slot.begin() + kStressGuardBytes + box.offset);
    return;
  }
  const std::uint32_t element = element_bytes(map.type);
  std::array<std::int64_t, kMaxRank> index{};
  std::copy(box.at.begin(), box.at.end(), index.begin());
  for (std::uint32_t e = 0; e < tile_bytes(map) / element; ++e) {
    const std::int64_t from = address_of(map, index);
    const std::uint32_t to = kStressGuardBytes + swizzled(box.offset + e * element, map.swizzle);
    for (std::uint32_t byte = 0; byte < element; ++byte)
      slot[to + byte] = from < 0 ? 0 : memory[static_cast<std::size_t>(from) + byte];
    for (std::uint32_t i = 0; i < map.rank; ++i) {
      index[i] += traversal_step(map, i);
      if (index[i] < box.at[i] + std::int64_t{tile_extent(map, i)} * traversal_step(map, i)) break;
      index[i] = box.at[i];
    }
  }
}

void compare_word(WrongWord word, StressSm& sm, RunResult& result) {
  if (word.expected == word.actual) return;
  word.in_memory = word.expected;  // memory is right here, and guards are none of it
  if (sm.wrong_words++ < kKeptWrongWords) result.wrong_words.push_back(word);
}

/// Compares all words of the box and its guard.
void check_box(const Stress& op, const StressShape& shape, const StressBox& box, Bytes& slot,
               WrongWord word, StressSm& sm, RunResult& result) {
  const std::uint64_t before = sm.wrong_words;
  with_chunks(shape, box, [&](const auto& expected_of) {
    for (std::uint32_t chunk = 0; chunk < shape.bytes / 16; ++chunk) {
      const auto expected = expected_of(static_cast<std::uint32_t>(op.seed), chunk);
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

void run_sm(const Stress& op, Fault fault, const Bytes& memory, std::uint32_t number,
            RunResult& result) {
  const std::vector<TensorMapSpec> maps = stress_maps(op);
  std::vector<StressShape> shapes;
  shapes.reserve(maps.size());
  for (const TensorMapSpec& map : maps) shapes.push_back(stress_shape(map));
  Bytes slot(kBehind + kStressGuardBytes);  // with the guards before and behind it
  for (std::uint32_t i = 0; i < kStressGuardBytes / 4; ++i)
    for (const std::uint32_t guard : {0U, kBehind})
      put_word(slot, guard + 4 * i, stress_guard_word(i));
  StressSm sm{.sm = number};
  for (std::uint64_t iteration = 0; iteration < kBoxes; ++iteration) {
    const std::uint64_t key = stress_key(op.seed, number, iteration);
    const StressBox box =
        stress_draw(shapes.data(), static_cast<std::uint32_t>(shapes.size()), op.memory_bytes, key);
    const bool sick = number == kSickSm && iteration % kSickEvery == kSickEvery - 1;
    if (sick && fault == kFaultStressLost) {
      sm.lost = 1;
      sm.lost_seed = op.seed;
      sm.lost_iteration = iteration;
      break;
    }
    StressBox taken = box;
    if (sick && fault == kFaultStressAddress) {
      taken.address ^= 4096;
      taken.at[0] ^= static_cast<std::int32_t>(16 / shapes[box.map].element);
    }
    const Bytes stale = sick ? slot : Bytes{};
    copy_box(memory, maps[box.map], taken, slot);
    if (sick) spoil(shapes[box.map], box, fault, stale, slot);
    if (is_spoiled(op.spoiled, number, key)) slot[kStressGuardBytes + box.offset] ^= 1;
    ++sm.boxes;
    sm.bytes += shapes[box.map].bytes;
    if (op.checked)
      check_box(op, shapes[box.map], box, slot,
                {.seed = op.seed, .iteration = iteration, .sm = number}, sm, result);
  }
  result.stress.push_back(sm);
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
});

}  // namespace

Measurement run_virtual_stress(const Stress& op, Fault fault) {
  Measurement measurement;
  (void)stress_maps(op);  // refuses a size before it is asked of the system
  Bytes memory(op.memory_bytes + 4096);
  for (std::size_t i = 0; i < memory.size() / 4; ++i)
    put_word(memory, 4 * i,
             stress_word(static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(op.seed)));
  for (std::uint32_t sm = 0; sm < kSms; ++sm) run_sm(op, fault, memory, sm, measurement.last);
  const std::chrono::duration<double> now = std::chrono::system_clock::now().time_since_epoch();
  measurement.samples.push_back({.at_unix_s = now.count()});
  measurement.note = measurement.last.note =
      stress_note(measurement.last.stress) + "; the virtual device times nothing";
  return measurement;
}

std::span<const FaultInfo> stress_faults() { return kFaults; }

}  // namespace tidemark::kernels
