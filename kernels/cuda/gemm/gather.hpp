// The host's side of a gather: start panels, wait for all their shards, give up in time.
#pragma once

#include <span>
#include <string>

#include "kernels/ops/gemm.hpp"
#include "kernels/transport.hpp"

namespace tidemark::kernels {

/// A panel and what to call it when it does not come: "panel A".
struct NamedPanel {
  PanelBuffer buffer;
  const char* name = "";
};

/// Throws Error unless every row of a panel of `rows` rows lies in exactly one shard.
void require_cover(const std::vector<Shard>& shards, std::uint64_t rows, const char* name);

/// Starts to gather `panels` in order and waits until every shard of each is ready. Returns nothing
/// then, or which shard was not ready after `seconds`. After that, and where it throws, the
/// transport was aborted: nobody writes to the panels any more.
std::string gather_or_abort(Transport& transport, std::span<const NamedPanel> panels,
                            double seconds);

}  // namespace tidemark::kernels
