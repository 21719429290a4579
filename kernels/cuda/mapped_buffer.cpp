// Makes, reserves, maps, and undoes it in the opposite order. Releasing drops error codes: after a
// sticky error every call fails, and the process is about to end anyway.
#include "kernels/cuda/mapped_buffer.hpp"

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <fmt/core.h>

#include <string>
#include <utility>

#include "kernels/cuda/check.hpp"
#include "kernels/cuda/encode.hpp"

namespace tidemark {
namespace {

struct VirtualMemoryApi {
  decltype(&cuMemGetAllocationGranularity) granularity;
  decltype(&cuMemCreate) create;
  decltype(&cuMemRelease) release;
  decltype(&cuMemAddressReserve) reserve;
  decltype(&cuMemAddressFree) free;
  decltype(&cuMemMap) map;
  decltype(&cuMemUnmap) unmap;
  decltype(&cuMemSetAccess) set_access;
};

template <class Function>
void look_up(Function& function, const char* name) {
  function = reinterpret_cast<Function>(driver_entry(name, 10020));
}

const VirtualMemoryApi& driver() {
  static const VirtualMemoryApi api = [] {
    VirtualMemoryApi found{};
    look_up(found.granularity, "cuMemGetAllocationGranularity");
    look_up(found.create, "cuMemCreate");
    look_up(found.release, "cuMemRelease");
    look_up(found.reserve, "cuMemAddressReserve");
    look_up(found.free, "cuMemAddressFree");
    look_up(found.map, "cuMemMap");
    look_up(found.unmap, "cuMemUnmap");
    look_up(found.set_access, "cuMemSetAccess");
    return found;
  }();
  return api;
}

// Driver and runtime number the errors that occur here alike.
void driver_check(CUresult code, const char* what) {
  cuda_check(static_cast<cudaError_t>(code), what);
}

// Memory of the current device, whose context is there behind this.
CUmemAllocationProp memory_of_device() {
  int device = 0;
  cuda_check(cudaGetDevice(&device), "ask for the current device");
  // The driver's calls below need the context that the runtime makes at its first use.
  cuda_check(cudaFree(nullptr), "make a context");
  CUmemAllocationProp kind{};
  kind.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  kind.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device};
  return kind;
}

std::size_t granularity_of(const CUmemAllocationProp& kind) {
  std::size_t piece = 0;
  driver_check(driver().granularity(&piece, &kind, CU_MEM_ALLOC_GRANULARITY_MINIMUM),
               "ask for the granularity of mapped memory");
  return piece;
}

void allow_access(unsigned long long address, std::size_t bytes, const CUmemAllocationProp& kind) {
  const CUmemAccessDesc access{.location = kind.location,
                               .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  driver_check(driver().set_access(address, bytes, &access, 1), "allow access to mapped memory");
}

}  // namespace

MappedBuffer::MappedBuffer(std::size_t bytes, Behind behind) {
  if (bytes == 0) return;
  const CUmemAllocationProp kind = memory_of_device();
  try {
    const std::size_t piece = granularity_of(kind);
    const std::size_t whole = (bytes + piece - 1) / piece * piece;
    const std::size_t addresses = whole + (behind == Behind::nothing ? piece : 0);
    driver_check(driver().reserve(&address_, addresses, 0, 0, 0), "reserve addresses");
    reserved_ = addresses;
    size_ = whole;
    const std::string what = fmt::format("make {} bytes of memory to be mapped", whole);
    driver_check(driver().create(&memory_, whole, &kind, 0), what.c_str());
    created_ = true;
    driver_check(driver().map(address_, whole, 0, memory_, 0), "map memory");
    mapped_ = true;
    allow_access(address_, whole, kind);
  } catch (...) {
    release();  // of a constructor that throws, no destructor runs
    throw;
  }
}

MappedBuffer::~MappedBuffer() { release(); }

MappedBuffer::MappedBuffer(MappedBuffer&& other) noexcept { *this = std::move(other); }

MappedBuffer& MappedBuffer::operator=(MappedBuffer&& other) noexcept {
  std::swap(address_, other.address_);
  std::swap(memory_, other.memory_);
  std::swap(size_, other.size_);
  std::swap(reserved_, other.reserved_);
  std::swap(created_, other.created_);
  std::swap(mapped_, other.mapped_);
  return *this;
}

void MappedBuffer::release() noexcept {
  // Everything that is to be undone was done through the same table: it is there.
  if (mapped_) (void)driver().unmap(address_, size_);
  if (created_) (void)driver().release(memory_);
  if (reserved_ != 0) (void)driver().free(address_, reserved_);
  mapped_ = created_ = false;
  reserved_ = size_ = 0;
  address_ = 0;
}

SparseBuffer::SparseBuffer(std::span<const Island> islands) {
  if (islands.empty()) return;
  granularity_ = granularity_of(memory_of_device());
  const std::uint64_t end = islands.back().at + islands.back().bytes;
  const std::size_t addresses = (end + granularity_ - 1) / granularity_ * granularity_;
  try {
    const std::string what = fmt::format("reserve {} bytes of addresses", addresses);
    driver_check(driver().reserve(&address_, addresses, 0, 0, 0), what.c_str());
    reserved_ = addresses;
    for (const Island& island : islands)
      for (std::uint64_t piece = island.at / granularity_;
           piece <= (island.at + island.bytes - 1) / granularity_; ++piece)
        if (pieces_.empty() || pieces_.back().offset != piece * granularity_)
          add_piece(piece * granularity_);
  } catch (...) {
    release();  // of a constructor that throws, no destructor runs
    throw;
  }
}

void SparseBuffer::add_piece(std::size_t offset) {
  const CUmemAllocationProp kind = memory_of_device();
  unsigned long long memory = 0;
  driver_check(driver().create(&memory, granularity_, &kind, 0), "make a piece of memory");
  pieces_.push_back({.offset = offset, .memory = memory});
  driver_check(driver().map(address_ + offset, granularity_, 0, memory, 0), "map memory");
  pieces_.back().mapped = true;
  allow_access(address_ + offset, granularity_, kind);
}

SparseBuffer::~SparseBuffer() { release(); }

SparseBuffer::SparseBuffer(SparseBuffer&& other) noexcept
    : address_(std::exchange(other.address_, 0)),
      reserved_(std::exchange(other.reserved_, 0)),
      granularity_(other.granularity_),
      pieces_(std::exchange(other.pieces_, {})) {}

void SparseBuffer::release() noexcept {
  for (const Piece& piece : pieces_) {
    if (piece.mapped) (void)driver().unmap(address_ + piece.offset, granularity_);
    (void)driver().release(piece.memory);
  }
  if (reserved_ != 0) (void)driver().free(address_, reserved_);
  pieces_.clear();
  reserved_ = 0;
}

}  // namespace tidemark
