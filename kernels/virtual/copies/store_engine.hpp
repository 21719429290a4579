// The virtual device's asynchronous store engine: chunks are read from shared memory, and land in
// global memory later, both in an order of its own; groups of them can be waited for. And the
// chunks of a store, and what a reduction makes of them (store_chunks.cpp).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/fault.hpp"
#include "kernels/ops/reduction.hpp"
#include "kernels/ops/tile_load.hpp"
#include "kernels/virtual/copies/bulk_engine.hpp"

namespace tidemark {

/// Sixteen bytes that a store moves.
struct StoreChunk {
  std::int64_t source = 0;         // absolute, in shared memory
  std::int64_t destination = 0;    // in the destination allocation
  std::uint16_t written = 0xffff;  // bit i: byte i is stored
};

/// Of what, from where and to where the chunks of one store go. What it points to must outlive the
/// engine.
struct StorePath {
  DataType type = DataType::u8;  // of the elements
  SharedWindow* shared = nullptr;
  std::vector<std::uint8_t>* global = nullptr;
  CacheHint hint = CacheHint::none;
  Reduction reduction = Reduction::none;
  MemorySource memory = MemorySource::device;  // the kind of `global`
};

/// The stores of one thread in flight, one bulk async-group after the other. Nothing moves by
/// itself: time passes where somebody waits, and what nobody waits for moves in finish().
class StoreEngine {
 public:
  StoreEngine(std::uint64_t seed, Fault fault);

  /// Takes the chunks of one store, or none, into the open group, and draws its order.
  void issue(const StorePath& path, std::vector<StoreChunk> chunks);

  /// cp.async.bulk.commit_group: the open group, or an empty one, can be waited for.
  void commit();

  /// Whether any group can be waited for.
  bool has_groups() const { return committed() > 0; }

  /// cp.async.bulk.wait_group.read: all groups but the `pending` youngest have read their sources.
  void wait_read(std::uint32_t pending);

  /// cp.async.bulk.wait_group: all groups but the `pending` youngest have landed.
  void wait_complete(std::uint32_t pending);

  /// cp.async.bulk.wait_group of a thread that committed nothing: it returns at once, whatever is
  /// in flight. A drawn time passes until then.
  void wait_of_other_thread();

  /// Lets everything land, the open group too, as the end of a kernel does.
  void finish();

 private:
  enum class Until : std::uint8_t { read, landed };

  struct Transfer {
    StorePath path;
    StoreChunk chunk;
    std::array<std::uint8_t, kChunkBytes> bytes{};
    std::array<std::uint8_t, kChunkBytes> memory{};  // what a fault takes for the memory's
    bool last = false;                               // of its store
  };
  struct Group {
    std::vector<Transfer> transfers;  // in the order in which they are read and land
    std::size_t read = 0, landed = 0;
  };

  std::size_t committed() const { return groups_.size() - (open_ ? 1 : 0); }
  std::size_t readable(const Group& group) const;
  std::size_t landable(const Group& group) const;
  void wait(std::uint32_t pending, Until until);
  void advance_one(std::size_t waited);
  void read_next(Group& group);
  void land_next(Group& group);
  std::array<std::uint8_t, kChunkBytes> memory_at(const Transfer& transfer) const;

  Draw draw_;
  Fault fault_;
  bool waits_for_reads_ = false;  // in wait_read
  std::vector<Group> groups_;     // oldest first
  bool open_ = false;             // the youngest is not committed yet
  std::size_t forgotten_ = 0;     // groups, oldest first, that no wait counts any more
};

// The path of a tile store from shared addresses to the tensor, one 16-byte chunk at a time.

/// A tile store as the engine takes it.
struct StoreBox {
  const TensorMapSpec& map;
  std::array<std::int32_t, kMaxRank> at{};  // first element of the box
  std::int64_t source = 0;                  // shared address of the tile
  MemorySource memory = MemorySource::device;
  std::span<const Island> islands{};  // of the memory
};

/// The chunks of a box, in the order of the unswizzled tile: CUDA Driver API,
/// cuTensorMapEncodeTiled; PTX ISA 9.0, 5.5.3 and 5.5.7. What lies outside the tensor is not
/// written, except that a row reaches to the next 16 bytes (documented by nobody; seen on an H100:
/// github.com/triton-lang/triton, issue 11583). Element strides are taken as loads take them, which
/// no document says either and H200s do.
std::vector<StoreChunk> store_chunks(const StoreBox& box, Fault fault);

// The arithmetic of the virtual device's reductions into memory.

/// What lands where `memory` was and `comes` is reduced into it.
std::array<std::uint8_t, kChunkBytes> reduced(Reduction reduction, DataType type,
                                              const std::array<std::uint8_t, kChunkBytes>& memory,
                                              const std::array<std::uint8_t, kChunkBytes>& comes,
                                              Fault fault);

}  // namespace tidemark
