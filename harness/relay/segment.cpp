// Creates, grows and maps relay segments.
#include "harness/relay/segment.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <new>
#include <string>

#include "kernels/error.hpp"

namespace tidemark {
namespace {

static_assert(sizeof(SegmentHeader) <= kPage);

[[noreturn]] void refuse(const char* what) {
  throw Error(std::string(what) + " the relay segment: " + std::strerror(errno));
}

std::uint64_t size_of(int fd) {
  struct stat status {};
  if (::fstat(fd, &status) != 0) refuse("cannot look at");
  return static_cast<std::uint64_t>(status.st_size);
}

}  // namespace

Segment Segment::create() {
  Segment segment;
  segment.owned_ =
      FileDescriptor(::memfd_create("tidemark-relay", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  segment.fd_ = segment.owned_.get();
  if (segment.fd_ < 0 || ::ftruncate(segment.fd_, kPage) != 0) refuse("cannot make");
  // Without the seal a worker that goes mad could shrink it under the supervisor: SIGBUS there.
  if (::fcntl(segment.fd_, F_ADD_SEALS, F_SEAL_SHRINK) != 0) refuse("cannot seal");
  segment.map_all();
  new (segment.base_) SegmentHeader;
  return segment;
}

Segment Segment::of(int fd) {
  Segment segment;
  segment.fd_ = fd;
  if (size_of(fd) < kPage) throw Error("there is no relay segment on this descriptor");
  segment.map_all();
  return segment;
}

Segment::Segment(Segment&& other) noexcept
    : owned_(std::move(other.owned_)),
      fd_(std::exchange(other.fd_, -1)),
      base_(std::exchange(other.base_, nullptr)),
      mapped_(std::exchange(other.mapped_, 0)) {}

Segment& Segment::operator=(Segment&& other) noexcept {
  std::swap(owned_, other.owned_);
  std::swap(fd_, other.fd_);
  std::swap(base_, other.base_);
  std::swap(mapped_, other.mapped_);
  return *this;
}

Segment::~Segment() {
  if (base_ != nullptr) ::munmap(base_, mapped_);
}

SegmentHeader& Segment::header() const {
  return *std::launder(reinterpret_cast<SegmentHeader*>(base_));
}

std::uint64_t Segment::grow(std::uint64_t bytes) {
  const std::uint64_t offset = size_of(fd_);
  const std::uint64_t rounded = (bytes + kPage - 1) / kPage * kPage;
  int failed = 0;
  do {  // older kernels give it up for any signal, such as that of a debugger
    failed = ::fallocate(fd_, 0, static_cast<off_t>(offset), static_cast<off_t>(rounded));
  } while (failed != 0 && errno == EINTR);
  if (failed != 0) refuse("cannot grow");
  return offset;
}

void Segment::release(std::uint64_t offset, std::uint64_t bytes) {
  // Only a wish: pages that stay cost memory, not correctness.
  static_cast<void>(::fallocate(fd_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                                static_cast<off_t>(offset), static_cast<off_t>(bytes)));
}

std::span<std::byte> Segment::at(std::uint64_t offset, std::uint64_t length) {
  if (offset + length < offset || offset + length > mapped_) map_all();
  if (offset + length < offset || offset + length > mapped_) {
    throw Error("the relay segment is shorter than its table says");
  }
  return {base_ + offset, length};
}

void Segment::map_all() {
  const std::uint64_t size = size_of(fd_);
  void* mapping = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0);
  if (mapping == MAP_FAILED) refuse("cannot map");
  // Not mremap: ThreadSanitizer does not see it and takes the old addresses for still in use.
  if (base_ != nullptr) ::munmap(base_, mapped_);
  base_ = static_cast<std::byte*>(mapping);
  mapped_ = size;
}

}  // namespace tidemark
