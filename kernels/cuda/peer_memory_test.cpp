// What two offers say about each other, without a GPU.
#include "kernels/cuda/peer_memory.hpp"

#include <gtest/gtest.h>

#include <cstdio>

#include "kernels/error.hpp"

namespace tidemark {
namespace {

PeerOffer offer_from(const char* host) {
  PeerOffer offer{.seed = 7, .bytes = 1 << 21};
  std::snprintf(offer.host.data(), offer.host.size(), "%s", host);
  return offer;
}

TEST(PeerOffer, OfTheSameHostCanBeOpened) {
  EXPECT_EQ(cannot_open(offer_from("a"), offer_from("a"), 3), "");
}

TEST(PeerOffer, OfAnotherHostCannot) {
  EXPECT_EQ(cannot_open(offer_from("a"), offer_from("b"), 3), "rank 3 is on another host");
}

TEST(PeerOffer, WithoutAHandleSaysWhatCudaSaid) {
  PeerOffer theirs = offer_from("a");
  theirs.code = 801;
  EXPECT_EQ(cannot_open(offer_from("a"), theirs, 1),
            "rank 1 cannot share its memory: operation not supported");
}

TEST(PeerOffer, OfAnotherRowIsAnError) {
  PeerOffer theirs = offer_from("a");
  theirs.seed = 8;
  EXPECT_THROW((void)cannot_open(offer_from("a"), theirs, 1), Error);
}

}  // namespace
}  // namespace tidemark
