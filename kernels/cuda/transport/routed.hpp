// Two transports as one: panels of one route by the second, all others by the first.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <set>

#include "kernels/transport.hpp"

namespace tidemark {

/// Panels that have PanelBuffer::arrived and the route `route` go by `own`, all others by `usual`.
class RoutedTransport final : public Transport {
 public:
  RoutedTransport(std::unique_ptr<Transport> usual, PanelRoute route,
                  std::unique_ptr<Transport> own);

  void start(const PanelBuffer& panel) override;
  bool ready(std::uint32_t id, std::size_t index) override;
  void abort() noexcept override;

 private:
  std::unique_ptr<Transport> usual_;
  const PanelRoute route_;
  std::unique_ptr<Transport> own_;
  std::mutex mutex_;
  std::set<std::uint32_t> by_own_;  // ids of panels last started there
};

}  // namespace tidemark
