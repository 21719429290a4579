// The memory that a worker and its supervisor share for the relay transport: a memfd with a table
// of panels in front and the panels behind it.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "harness/base/child_process.hpp"

namespace tidemark {

inline constexpr std::size_t kRelayPanels = 8;  // ids in use at once
inline constexpr std::uint64_t kPage = 4096;    // the header has one, and parts are whole ones

/// One row of a panel's shard table. `arrived` holds the posting whose bytes are complete.
struct SegmentShard {
  std::uint32_t owner = 0;
  std::atomic<std::uint32_t> arrived = 0;
  std::uint64_t first_row = 0, rows = 0;
};

/// One panel. The worker writes the other fields first and `posting` last, with release; it does
/// not touch them again until the supervisor has adopted that posting and all its shards have
/// arrived. Shards without bytes arrive at once, so without `adopted` a worker could overwrite a
/// posting that its supervisor has not read; peers would count one panel more than this rank.
struct SegmentPanel {
  std::atomic<std::uint32_t> posting = 0;  // 0: never; counts up with every start
  std::atomic<std::uint32_t> adopted = 0;  // by the supervisor: the last posting that it has read
  std::uint32_t id = 0, shards = 0;
  std::uint64_t row_bytes = 0;
  std::uint64_t table = 0;            // offset of the shard table
  std::uint64_t data = 0, bytes = 0;  // offset and size of the panel
};

struct SegmentHeader {
  std::atomic<std::uint32_t> aborted = 0;
  std::array<SegmentPanel, kRelayPanels> panels{};
};

// Two processes share these; a lock inside an atomic would be in the memory of one of them.
static_assert(std::atomic<std::uint32_t>::is_always_lock_free);

/// Owns one mapping of a segment. It can grow and never shrinks (sealed), so that no access inside
/// the size once seen can fault, whatever the other side does.
class Segment {
 public:
  /// A new empty one. Throws Error.
  static Segment create();
  /// The one behind this descriptor, which stays open.
  static Segment of(int fd);

  Segment(Segment&& other) noexcept;
  Segment& operator=(Segment&& other) noexcept;
  ~Segment();

  int fd() const { return fd_; }
  SegmentHeader& header() const;

  /// Appends memory that really exists, and returns its offset, a multiple of 4096. Throws Error
  /// when there is none: a page that turns out missing at its first use would be a SIGBUS.
  std::uint64_t grow(std::uint64_t bytes);
  /// Gives the pages of a range back; they read as zero.
  void release(std::uint64_t offset, std::uint64_t bytes);

  /// The bytes [offset, offset + length). Maps again when the file has grown. Throws Error when the
  /// file is shorter.
  std::span<std::byte> at(std::uint64_t offset, std::uint64_t length);

 private:
  Segment() = default;
  void map_all();

  FileDescriptor owned_;
  int fd_ = -1;
  std::byte* base_ = nullptr;
  std::size_t mapped_ = 0;
};

}  // namespace tidemark
