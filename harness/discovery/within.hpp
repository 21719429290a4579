// Bounds a call into a library that may never return, such as NVML on a sick GPU.
#pragma once

#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

namespace tidemark {

/// The result of `call`, made on a thread of its own, or nothing when it takes longer than
/// `seconds`. A call that is stuck keeps its thread and everything it captured: capture copies.
/// `call` must not throw.
template <class Call>
auto within(double seconds, Call call) -> std::optional<decltype(call())> {
  using Result = decltype(call());
  const auto promise = std::make_shared<std::promise<Result>>();
  std::future<Result> result = promise->get_future();
  try {
    std::thread([promise, call = std::move(call)] { promise->set_value(call()); }).detach();
  } catch (const std::system_error&) {
    return std::nullopt;  // no thread to be had
  }
  if (result.wait_for(std::chrono::duration<double>(seconds)) != std::future_status::ready)
    return std::nullopt;
  return result.get();
}

}  // namespace tidemark
