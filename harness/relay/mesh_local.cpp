// Links inside one process: one mailbox a rank.
#include <deque>
#include <memory>
#include <mutex>

#include "harness/relay/mesh.hpp"

namespace tidemark::harness {
namespace {

struct Mailboxes {
  std::mutex mutex;
  std::vector<std::deque<Message>> of_rank;
};

}  // namespace

std::vector<Link> local_links(std::uint32_t ranks) {
  const auto boxes = std::make_shared<Mailboxes>();
  boxes->of_rank.resize(ranks);
  std::vector<Link> links;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    links.push_back({.rank = rank,
                     .ranks = ranks,
                     .library = {},
                     .send =
                         [boxes, rank](std::uint32_t to, Tag tag, const Payload& bytes) {
                           const std::lock_guard lock(boxes->mutex);
                           boxes->of_rank.at(to).push_back(
                               {.from = rank, .tag = tag, .bytes = *bytes});
                         },
                     .receive = [boxes, rank]() -> std::optional<Message> {
                       const std::lock_guard lock(boxes->mutex);
                       auto& box = boxes->of_rank[rank];
                       if (box.empty()) return std::nullopt;
                       Message message = std::move(box.front());
                       box.pop_front();
                       return message;
                     },
                     .unsent_bytes = [] { return std::size_t{0}; },
                     .finish = [] {}});
  }
  return links;
}

}  // namespace tidemark::harness
