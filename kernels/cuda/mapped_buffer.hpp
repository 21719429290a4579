// Owner of device memory that is made, given an address and mapped there in three steps.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "kernels/ops/program/islands.hpp"

namespace tidemark {

/// Device memory of the current device by the driver's virtual memory management (cuMemCreate,
/// cuMemAddressReserve, cuMemMap; CUDA Driver API, "Virtual Memory Management"), readable and
/// writable there. Takes whole pieces of the allocation granularity (2 MiB on an H200). Move-only.
/// Throws Error when there is not enough.
class MappedBuffer {
 public:
  /// What is behind the last byte: anything, or addresses that nobody is given and nothing is
  /// mapped to.
  enum class Behind : bool { anything, nothing };

  MappedBuffer() = default;
  /// 0 bytes are allowed: data() is then null.
  explicit MappedBuffer(std::size_t bytes, Behind behind = Behind::anything);
  ~MappedBuffer();
  MappedBuffer(MappedBuffer&& other) noexcept;
  MappedBuffer& operator=(MappedBuffer&& other) noexcept;

  /// The driver hands addresses out as integers.
  std::byte* data() const {
    return reinterpret_cast<std::byte*>(address_);  // NOLINT(performance-no-int-to-ptr)
  }
  std::size_t size() const { return size_; }

 private:
  void release() noexcept;

  unsigned long long address_ = 0;  // CUdeviceptr; 0 until reserved
  unsigned long long memory_ = 0;   // CUmemGenericAllocationHandle
  std::size_t size_ = 0;            // bytes of memory; 0 until addresses are reserved
  std::size_t reserved_ = 0;        // bytes of addresses
  bool created_ = false;
  bool mapped_ = false;
};

/// Addresses of which only the pieces that hold islands have memory, as MappedBuffer has it.
/// Move-only. Throws Error when there are not enough of either.
class SparseBuffer {
 public:
  explicit SparseBuffer(std::span<const Island> islands);
  ~SparseBuffer();
  SparseBuffer(SparseBuffer&& other) noexcept;
  SparseBuffer& operator=(SparseBuffer&&) = delete;

  std::byte* data() const {
    return reinterpret_cast<std::byte*>(address_);  // NOLINT(performance-no-int-to-ptr)
  }

 private:
  struct Piece {
    std::size_t offset = 0;
    unsigned long long memory = 0;  // CUmemGenericAllocationHandle
    bool mapped = false;
  };

  void add_piece(std::size_t offset);
  void release() noexcept;

  unsigned long long address_ = 0;  // CUdeviceptr; 0 until reserved
  std::size_t reserved_ = 0;        // bytes of addresses
  std::size_t granularity_ = 0;     // bytes of a piece
  std::vector<Piece> pieces_;
};

}  // namespace tidemark
