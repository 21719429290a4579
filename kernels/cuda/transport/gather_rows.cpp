// Panels lie in device memory, so the bytes go there and come back.
#include "kernels/cuda/transport/gather_rows.hpp"

#include <fmt/format.h>

#include <array>
#include <cstring>

#include "kernels/cuda/buffer.hpp"
#include "kernels/cuda/check.hpp"
#include "kernels/cuda/transport/gather.hpp"

namespace tidemark {

std::string gather_rows(Transport& transport, std::uint32_t id, const char* name,
                        std::uint32_t rank, std::uint32_t ranks, const std::vector<std::byte>& mine,
                        double seconds, std::vector<std::byte>& all) {
  const std::size_t bytes = mine.size();
  const DeviceBuffer rows(bytes * ranks);
  // Small copies from pageable memory may return before the DMA has ended: the others may read
  // then.
  cuda_check(cudaMemcpy(rows.data() + rank * bytes, mine.data(), bytes, cudaMemcpyHostToDevice),
             "put the own row into the panel");
  cuda_check(cudaStreamSynchronize(nullptr), "put the own row into the panel");
  NamedPanel panel{{.id = id, .base = rows.data(), .row_bytes = bytes, .shards = {}}, name};
  for (std::uint32_t i = 0; i < ranks; ++i) panel.buffer.shards.push_back({i, i, 1});
  std::string late = gather_or_abort(transport, {&panel, 1}, rank, seconds);
  if (!late.empty()) return late;
  all.resize(bytes * ranks);
  cuda_check(cudaMemcpy(all.data(), rows.data(), all.size(), cudaMemcpyDeviceToHost),
             "read the rows of all ranks");
  return {};
}

std::string first_reason(Transport& transport, std::uint32_t id, std::uint32_t rank,
                         std::uint32_t ranks, const char* what, const std::string& mine,
                         double seconds) {
  std::array<char, 200> reason{};
  mine.copy(reason.data(), reason.size() - 1);
  const auto reasons = rows_of_all(transport, id, rank, ranks, reason, seconds);
  for (std::uint32_t other = 0; other < ranks; ++other)
    if (reasons[other][0] != '\0')
      return fmt::format("rank {} {}: {}", other, what, reasons[other].data());
  return {};
}

}  // namespace tidemark
