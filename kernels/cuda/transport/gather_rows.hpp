// A few bytes of every rank for every rank, over whatever transport there is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "kernels/error.hpp"
#include "kernels/transport.hpp"

namespace tidemark {

/// Gathers as many bytes of each rank as `mine` has, as panel `id`, which `name` says in words,
/// into `all`, in order of ranks. Every rank calls it with as many. Returns nothing then, or which
/// rank's did not come within `seconds`; the transport was aborted then. Throws Error where the
/// transport or the GPU fails.
std::string gather_rows(Transport& transport, std::uint32_t id, const char* name,
                        std::uint32_t rank, std::uint32_t ranks, const std::vector<std::byte>& mine,
                        double seconds, std::vector<std::byte>& all);

/// The same of plain structs, about how panels can travel. A rank that does not come is an Error.
template <class Row>
std::vector<Row> rows_of_all(Transport& transport, std::uint32_t id, std::uint32_t rank,
                             std::uint32_t ranks, const Row& mine, double seconds) {
  std::vector<std::byte> row(sizeof(Row));
  std::memcpy(row.data(), &mine, sizeof(Row));
  std::vector<std::byte> all;
  const std::string late =
      gather_rows(transport, id, "what ranks can do", rank, ranks, row, seconds, all);
  if (!late.empty()) throw Error("find out how panels can travel: " + late);
  std::vector<Row> rows(ranks);
  std::memcpy(rows.data(), all.data(), all.size());
  return rows;
}

/// Why the first rank that has a reason `mine` cannot do `what`, "rank 1 cannot read: no link", the
/// same on all ranks; nothing where all can. Throws Error as rows_of_all().
std::string first_reason(Transport& transport, std::uint32_t id, std::uint32_t rank,
                         std::uint32_t ranks, const char* what, const std::string& mine,
                         double seconds);

}  // namespace tidemark
