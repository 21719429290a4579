// Which routes panels can take between the GPUs of a launch: found out by trying, on all ranks
// together, so that all come to the same answer.
#include <fmt/format.h>

#include <array>
#include <cstring>
#include <utility>

#include "kernels/cuda/transport/copy_engine.hpp"
#include "kernels/cuda/transport/gather_rows.hpp"
#include "kernels/cuda/transport/nccl.hpp"
#include "kernels/error.hpp"

namespace tidemark::kernels {
namespace {

constexpr std::uint32_t kPanelOffers = 110;
constexpr std::uint32_t kPanelReasons = 111;

/// Why this rank cannot open another's memory; empty: it can open all.
using Reason = std::array<char, 200>;

template <class Row>
std::vector<Row> rows_of_all(Transport& transport, std::uint32_t id, std::uint32_t rank,
                             std::uint32_t ranks, const Row& mine, double seconds) {
  std::vector<std::byte> row(sizeof(Row));
  std::memcpy(row.data(), &mine, sizeof(Row));
  std::vector<std::byte> all;
  const std::string late = gather_rows(transport, id, rank, ranks, row, seconds, all);
  if (!late.empty()) throw Error("find out how panels can travel: " + late);
  std::vector<Row> rows(ranks);
  std::memcpy(rows.data(), all.data(), all.size());
  return rows;
}

/// The first reason of any rank, the same on all; empty where every rank has all others' words
/// open.
std::string open_words(Transport& nccl, PeerWords& words, std::uint32_t rank, std::uint32_t ranks,
                       double seconds) {
  const PeerOffer mine = offer_of(words.own().data(), 0, words.own().size());
  const std::vector<PeerOffer> offers = rows_of_all(nccl, kPanelOffers, rank, ranks, mine, seconds);
  std::string cannot;
  for (std::uint32_t other = 0; other < ranks && cannot.empty(); ++other) {
    if (other == rank) continue;
    cannot = cannot_open(mine, offers[other], other);
    if (cannot.empty()) cannot = words.open(offers[other], other);
  }
  Reason reason{};
  cannot.copy(reason.data(), reason.size() - 1);
  const std::vector<Reason> reasons =
      rows_of_all(nccl, kPanelReasons, rank, ranks, reason, seconds);
  for (std::uint32_t other = 0; other < ranks; ++other)
    if (reasons[other][0] != '\0')
      return fmt::format("rank {} cannot read the memory of all others: {}", other,
                         reasons[other].data());
  return {};
}

}  // namespace

GpuTransport make_gpu_transport(const NcclId& id, std::uint32_t rank, std::uint32_t ranks,
                                double seconds, std::optional<PanelRoute> only) {
  if (only && *only != PanelRoute::nccl && *only != PanelRoute::copy_engine)
    throw Error(fmt::format(
        "panels do not travel by {} between GPUs: take nccl, copy_engine or auto", name_of(*only)));
  std::unique_ptr<Transport> nccl = join_nccl(id, rank, ranks, seconds);
  if (only == PanelRoute::nccl)
    return {.transport = std::move(nccl), .routes = {PanelRoute::nccl}, .why = "as asked"};
  auto words = std::make_unique<PeerWords>(rank, ranks);
  const std::string cannot = open_words(*nccl, *words, rank, ranks, seconds);
  if (!cannot.empty() && only) throw Error("no panels by copy_engine: " + cannot);
  if (!cannot.empty())
    return {.transport = std::move(nccl), .routes = {PanelRoute::nccl}, .why = cannot};
  GpuTransport made{.transport = std::make_unique<CopyEngineTransport>(
                        std::move(nccl), std::move(words), rank, ranks),
                    .routes = {PanelRoute::copy_engine},
                    .why = "as asked"};
  if (!only) {
    made.routes.push_back(PanelRoute::nccl);
    made.why = fmt::format("all {} GPUs can read each other's memory", ranks);
  }
  return made;
}

}  // namespace tidemark::kernels
