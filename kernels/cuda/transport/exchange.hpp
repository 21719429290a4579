// Who sends which bytes of a panel to whom. Pure arithmetic: no CUDA, no NCCL.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

#include "kernels/transport.hpp"

namespace tidemark {

/// One message of a panel, as one rank sees it.
struct Transfer {
  bool send = false;  // else receive
  std::uint32_t peer = 0;
  std::uint64_t offset = 0;  // bytes from the panel's base
  std::uint64_t bytes = 0;   // never 0
  std::size_t shard = 0;     // index in the panel

  bool operator==(const Transfer&) const = default;
};

/// The ranks that take part: the owners of its shards, those of empty shards included.
std::set<std::uint32_t> members_of(const PanelBuffer& panel);

/// Throws Error where `rank` is no member, or a member none of the `ranks`.
void require_members(const PanelBuffer& panel, std::uint32_t rank, std::uint32_t ranks);

/// All messages of `rank`. Between any two ranks the messages of one direction stand in the same
/// order on both sides, since both follow the shard list. Empty for ranks that are no members.
std::vector<Transfer> transfers_of(const PanelBuffer& panel, std::uint32_t rank);

/// Of each shard how many shards with rows its owner has before it in the list. In each step every
/// owner has a shard to send, so that steps that follow each other keep all links busy; equal on
/// all ranks.
std::vector<std::uint32_t> steps_of(const PanelBuffer& panel);

}  // namespace tidemark
