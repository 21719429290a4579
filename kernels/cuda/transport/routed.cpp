#include "kernels/cuda/transport/routed.hpp"

#include <utility>

namespace tidemark {

RoutedTransport::RoutedTransport(std::unique_ptr<Transport> usual, PanelRoute route,
                                 std::unique_ptr<Transport> own)
    : usual_(std::move(usual)), route_(route), own_(std::move(own)) {}

void RoutedTransport::start(const PanelBuffer& panel) {
  const bool own = panel.arrived != nullptr && panel.route == route_;
  {
    const std::lock_guard lock(mutex_);
    if (own)
      by_own_.insert(panel.id);
    else
      by_own_.erase(panel.id);
  }
  (own ? own_ : usual_)->start(panel);
}

bool RoutedTransport::ready(std::uint32_t id, std::size_t index) {
  std::unique_lock lock(mutex_);
  const bool own = by_own_.count(id) != 0;
  lock.unlock();
  return (own ? own_ : usual_)->ready(id, index);
}

void RoutedTransport::abort() noexcept {
  own_->abort();
  usual_->abort();
}

}  // namespace tidemark
