// Makes, reserves, maps, and undoes it in the opposite order. Releasing drops error codes: after a
// sticky error every call fails, and the process is about to end anyway.
#include "kernels/cuda/mapped_buffer.hpp"

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <fmt/core.h>

#include <utility>

#include "kernels/cuda/check.hpp"
#include "kernels/cuda/driver_entry.hpp"

namespace tidemark::kernels {
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

}  // namespace

MappedBuffer::MappedBuffer(std::size_t bytes, Behind behind) {
  if (bytes == 0) return;
  int device = 0;
  cuda_check(cudaGetDevice(&device), "ask for the current device");
  // The driver's calls below need the context that the runtime makes at its first use.
  cuda_check(cudaFree(nullptr), "make a context");
  CUmemAllocationProp kind{};
  kind.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  kind.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device};
  try {
    std::size_t piece = 0;
    driver_check(driver().granularity(&piece, &kind, CU_MEM_ALLOC_GRANULARITY_MINIMUM),
                 "ask for the granularity of mapped memory");
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
    const CUmemAccessDesc access{.location = kind.location,
                                 .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    driver_check(driver().set_access(address_, whole, &access, 1), "allow access to mapped memory");
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

}  // namespace tidemark::kernels
