// A transport for tests: it moves nothing and answers as told.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/error.hpp"
#include "kernels/transport.hpp"

namespace tidemark {

/// Says of every shard but `withheld` that it is there, and counts what it is asked to do.
struct ScriptedTransport : Transport {
  void start(const PanelBuffer& panel) override {
    started.push_back(panel.id);
    if (panel.id == refused_panel) throw Error("the peer is gone");
  }
  bool ready(std::uint32_t id, std::size_t index) override {
    return id != withheld_panel || index != withheld_shard;
  }
  void abort() noexcept override { ++aborts; }

  std::uint32_t withheld_panel = 99;
  std::size_t withheld_shard = 0;
  std::uint32_t refused_panel = 99;
  std::vector<std::uint32_t> started;
  int aborts = 0;
};

}  // namespace tidemark
