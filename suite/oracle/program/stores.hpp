// The stores of a program as the oracle follows them: what each thread has in its groups, and what
// of it certainly has been read or has landed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernels/ops/program/program.hpp"
#include "suite/oracle/place.hpp"

namespace tidemark {

/// A thread of a CTA.
struct Issuer {
  std::uint32_t cta = 0, thread = 0;
  friend auto operator<=>(const Issuer&, const Issuer&) = default;
};

/// A box that was stored.
struct StoredBox {
  StoreTarget box;
  std::uint8_t region = 0;
  std::uint8_t map = 0;
  Reduction reduction = Reduction::none;
  Issuer issuer;
  bool read = false;      // the window may be written again
  bool complete = false;  // the issuer sees it in memory
  // Of each other thread the youngest box that may still come to where this one does.
  std::map<Issuer, std::size_t> others{};
};

/// What waits for groups made sure of, and what of memory may be seen. PTX ISA 9.0,
/// cp.async.bulk.commit_group and cp.async.bulk.wait_group: a group belongs to the thread that
/// commits it; a wait covers all but the most recent ones.
class Stores {
 public:
  explicit Stores(const Program& program);

  /// Stores a box from `window` into `memory`, the region's bytes at the end of all. Throws Error
  /// where no document says what comes of the store and it is not held to a measurement either, as
  /// where two that nobody waited for come to one address and their order matters.
  void issue(const Step& step, Issuer issuer, const std::vector<std::uint8_t>& window,
             std::vector<std::uint8_t>& memory);
  void commit(Issuer issuer);
  /// All but the `pending` youngest groups of the issuer have been read, or have completed.
  void wait(Issuer issuer, std::uint32_t pending, bool complete);

  /// Whether a store of this CTA may still read these bytes of its window.
  bool reads(std::uint32_t cta, std::uint32_t offset, std::uint32_t bytes) const;
  /// Whether a store that nobody waited for may still read the map at this place_of_map().
  bool reads_map(std::uint8_t place) const;
  /// Whether a store that nobody waited for may still write what `load` reads of this region.
  bool may_write(std::uint8_t region, const TileLoad& load) const;
  /// Whether what the issuer finds at this byte of a region is certain.
  bool is_certain(Issuer reader, std::uint8_t region, std::uint64_t byte) const;
  /// Whether the last box that was issued is also the last one that stored to this byte of a
  /// region.
  bool is_of_last(std::uint8_t region, std::uint64_t byte) const;
  /// Whether what is at this byte of a region was not stored, or has certainly landed.
  bool has_landed(std::uint8_t region, std::uint64_t byte) const;

  /// 1 + the number of the box that was stored there last, or 0.
  std::uint32_t owner_number(std::uint8_t region, std::uint64_t byte) const;

  const std::vector<StoredBox>& boxes() const { return boxes_; }

 private:
  struct Groups {
    std::vector<std::size_t> open;                 // boxes
    std::vector<std::vector<std::size_t>> closed;  // oldest first
  };

  const StoredBox* owner_of(std::uint8_t region, std::uint64_t byte) const;
  void join(std::size_t older);
  bool has_completed(const StoredBox& box) const;

  const Program& program_;
  std::vector<StoredBox> boxes_;
  std::map<Issuer, Groups> groups_;
  // For each region, of each chunk of 16 bytes: 1 + the box that was stored there last, or 0. Empty
  // until something is stored.
  std::vector<std::vector<std::uint32_t>> covered_;
};

}  // namespace tidemark
