// What a policy file may say, and the one line that comes of everything else.
#include "reports/policy/policy.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "reports/base/scratch_folder.hpp"
#include "reports/testing/said.hpp"

namespace tidemark {
namespace {

constexpr const char* kWhole = R"({
  "fail_on": ["regressed", "new_fail"],
  "allow_confounders": ["vbios", "environment.NCCL_ALGO"],
  "floor_percent": 2,
  "floors": [{"case": "gemm.*", "floor_percent": 0.5}],
  "waivers": [{"case": "load.*", "gpu": "node07", "owner": "Ann", "link": "T-1", "reason": "known",
               "drivers": {"lowest": "580", "highest": "590.44"}, "expires": "2026-12-31",
               "waives": ["failure", "speed"]}]
})";

/// The waiver, with one text put in place of another.
std::string waiver_with(const std::string& from, const std::string& to) {
  std::string text = R"({"waivers": [{"case": "load.*", "owner": "Ann", "link": "T-1",)"
                     R"( "expires": "2026-12-31"}]})";
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

std::string refusal_of(const std::string& text) {
  return error_from([&] { policy_of(text, "p.json"); });
}

TEST(Policy, HoldsWhatTheFileSays) {
  const Policy policy = policy_of(kWhole, "p.json");
  EXPECT_EQ(policy.fail_on, (std::vector<std::string>{"regressed", "new_fail"}));
  EXPECT_EQ(policy.allow_confounders, (std::vector<std::string>{"vbios", "environment.NCCL_ALGO"}));
  EXPECT_EQ(policy.floor, 0.02);
  ASSERT_EQ(policy.floors.size(), 1U);
  EXPECT_EQ(policy.floors[0].cases, "gemm.*");
  EXPECT_EQ(policy.floors[0].floor, 0.005);
  ASSERT_EQ(policy.waivers.size(), 1U);
  const Waiver expected{.cases = "load.*",
                        .gpu = "node07",
                        .owner = "Ann",
                        .link = "T-1",
                        .reason = "known",
                        .lowest_driver = "580",
                        .highest_driver = "590.44",
                        .expires = "2026-12-31",
                        .waives = {"failure", "speed"}};
  EXPECT_EQ(policy.waivers[0], expected);
}

TEST(Policy, AnEmptyObjectSaysNothing) {
  const Policy policy = policy_of("{}", "p.json");
  EXPECT_FALSE(policy.fail_on.has_value());
  EXPECT_FALSE(policy.floor.has_value());
  EXPECT_EQ(policy.waivers.size(), 0U);
}

TEST(Policy, AWaiverIsAboutFailuresUnlessItSaysOtherwise) {
  const Policy policy = policy_of(waiver_with("Ann", "Ann"), "p.json");
  EXPECT_EQ(policy.waivers[0].waives, std::vector<std::string>{"failure"});
}

TEST(Policy, AWaiverNeedsAnOwnerALinkADayAndACase) {
  EXPECT_EQ(refusal_of(waiver_with(R"("owner": "Ann", )", "")),
            "policy p.json: /waivers/0/owner is missing; give the name of who answers for it");
  EXPECT_EQ(refusal_of(waiver_with(R"("link": "T-1", )", "").c_str()),
            "policy p.json: /waivers/0/link is missing; give where it is followed, such as the "
            "address of a ticket");
  EXPECT_EQ(refusal_of(waiver_with(R"(, "expires": "2026-12-31")", "")),
            "policy p.json: /waivers/0/expires is missing; give the last day it holds, YYYY-MM-DD");
  EXPECT_EQ(refusal_of(waiver_with(R"("case": "load.*", )", "")),
            "policy p.json: /waivers/0/case is missing; give the name of a case, or a glob");
}

TEST(Policy, ADayThatIsNoneIsRefused) {
  for (const char* day : {"2026-02-29", "2026-13-01", "31.12.2026", "2026-1-1", "tomorrow"}) {
    EXPECT_EQ(
        refusal_of(waiver_with("2026-12-31", day)),
        "policy p.json: /waivers/0/expires is '" + std::string(day) + "', no day; give YYYY-MM-DD");
  }
}

TEST(Policy, AKeyThatIsNotKnownIsRefusedWithItsPlace) {
  EXPECT_EQ(refusal_of(R"({"floor": 1})"),
            "policy p.json: /floor is not known; give one of fail_on, allow_confounders, "
            "floor_percent, floors, waivers");
  EXPECT_EQ(refusal_of(waiver_with("owner", "o/ner")).substr(0, 46),
            "policy p.json: /waivers/0/o~1ner is not known;");
}

TEST(Policy, AWrongTypeIsRefusedWithItsPlace) {
  EXPECT_EQ(refusal_of("[]"), "policy p.json: / is array; give an object");
  EXPECT_EQ(refusal_of(R"({"waivers": {}})"), "policy p.json: /waivers is object; give an array");
  EXPECT_EQ(refusal_of(R"({"waivers": [7]})"),
            "policy p.json: /waivers/0 is number; give an object");
  EXPECT_EQ(refusal_of(waiver_with(R"("Ann")", "7")),
            "policy p.json: /waivers/0/owner is number; give a text");
  EXPECT_EQ(refusal_of(R"({"floor_percent": "1"})"),
            "policy p.json: /floor_percent is no percentage; give a number above 0 and at most 50");
}

TEST(Policy, AnEmptyTextAndAControlCharacterAreRefused) {
  EXPECT_EQ(refusal_of(waiver_with("Ann", " ")),
            "policy p.json: /waivers/0/owner is empty; give a text");
  EXPECT_EQ(refusal_of(waiver_with("Ann", "\\u001b[2J")),
            "policy p.json: /waivers/0/owner has a control character; give one line of plain text");
}

TEST(Policy, WhatMovesATerminalOrHidesTextIsRefusedInUnicodeToo) {
  for (const char* evil :
       {"\\u009b2J", "\\u0085", "\\u202eevil", "\\u2066", "\\u2028", "\\u007f"}) {
    EXPECT_EQ(refusal_of(waiver_with("Ann", evil)),
              "policy p.json: /waivers/0/owner has a control character; give one line of plain "
              "text")
        << evil;
  }
  EXPECT_EQ(refusal_of(waiver_with("Ann", "J\\u00f6rg \\u2013 \\u65e5")), "no error");
}

TEST(Policy, ATextThatFillsPagesIsRefused) {
  EXPECT_EQ(refusal_of(waiver_with("Ann", std::string(300, 'x').c_str())), "no error");
  for (const char* text : {"Ann", "T-1", "load.*"}) {
    EXPECT_TRUE(has(refusal_of(waiver_with(text, std::string(301, 'x').c_str())),
                    "has 301 bytes; give at most 300"))
        << text;
  }
}

TEST(Policy, ARefusalQuotesOneShortPrintableLine) {
  const std::string evil = "\\u001b]0;owned\\u0007" + std::string(1000, 'x');
  for (const std::string& text :
       {"{\"" + evil + "\": 1}", "{\"" + evil + "\": 1, \"" + evil + "\": 2}",
        "{\"waivers\": [" + std::string(1000, 'x') + "]}", "{\"fail_on\": \"x\" " + evil + "}"}) {
    const std::string refusal = refusal_of(text);
    EXPECT_LT(refusal.size(), 400U) << refusal;
    EXPECT_TRUE(std::all_of(refusal.begin(), refusal.end(), [](char c) {
      return c >= ' ' && c <= '~';
    })) << refusal;
  }
}

TEST(Policy, AFloorOutOfRangeIsRefused) {
  for (const char* floor : {"0", "-1", "51"}) {
    EXPECT_NE(refusal_of(R"({"floor_percent": )" + std::string(floor) + "}"), "no error");
  }
}

TEST(Policy, ANameNobodyKnowsIsRefused) {
  EXPECT_EQ(refusal_of(R"({"fail_on": ["regresed"]})").substr(0, 55),
            "policy p.json: /fail_on/0 is 'regresed'; give one of ne");
  EXPECT_EQ(refusal_of(R"({"allow_confounders": ["vboos"]})").substr(0, 62),
            "policy p.json: /allow_confounders/0 is 'vboos'; give one of le");
  EXPECT_NE(refusal_of(R"({"fail_on": ["waived"]})"), "no error");
  EXPECT_NE(refusal_of(R"({"fail_on": ["none", "regressed"]})"), "no error");
  EXPECT_EQ(refusal_of(R"({"fail_on": ["none"]})"), "no error");
}

TEST(Policy, DriversAreVersionsInTheirOrder) {
  const auto drivers = [](const std::string& range) {
    return refusal_of(waiver_with(R"("owner")", R"("drivers": )" + range + R"(, "owner")"));
  };
  EXPECT_EQ(drivers(R"({"lowest": "580.105", "highest": "580"})"), "no error");
  EXPECT_EQ(drivers(R"({"lowest": "590", "highest": "580"})"),
            "policy p.json: /waivers/0/drivers has its lowest above its highest; exchange them");
  EXPECT_EQ(drivers(R"({"lowest": "580.x"})").substr(0, 46),
            "policy p.json: /waivers/0/drivers/lowest is '5");
  EXPECT_EQ(drivers("{}"),
            "policy p.json: /waivers/0/drivers has no bound; give lowest, highest or both, or "
            "leave it out");
}

TEST(Policy, AKeyThatStandsTwiceIsRefused) {
  EXPECT_EQ(refusal_of(waiver_with(R"("owner": "Ann")", R"("owner": "Ann", "owner": "Bob")")),
            "policy p.json: the key 'owner' stands twice in one object; take one away");
}

TEST(Policy, WhatIsNoJsonIsRefusedInOneLineWithItsPlace) {
  const std::string refusal = refusal_of("{\n\"waivers\": [,]}");
  EXPECT_EQ(refusal.substr(0, 50), "policy p.json: parse error at line 2, column 13: s");
  EXPECT_EQ(refusal.find('\n'), std::string::npos);
}

TEST(Policy, FailingOnNothingHasToBeSaid) {
  EXPECT_EQ(refusal_of(R"({"fail_on": []})"),
            "policy p.json: /fail_on is empty; give names, or none");
  EXPECT_EQ(policy_of(R"({"fail_on": ["none"]})", "p.json").fail_on->size(), 1U);
}

TEST(Policy, WhatStandsBehindAByteOf0IsNotIgnored) {
  EXPECT_EQ(refusal_of(std::string("{}\0garbage", 10)),
            "policy p.json: holds a byte of 0; give JSON");
}

TEST(Policy, APipeIsRefusedAndNotWaitedFor) {
  const ScratchFolder scratch;
  const std::string pipe = scratch.file("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(error_from([&] { read_policy(pipe); }),
            "policy " + pipe + ": is no plain file; give one that can be read again");
}

TEST(Policy, AFileThatCannotBeReadIsOneLine) {
  for (const char* path : {"/no/such/policy.json", "/tmp"}) {
    const std::string error = error_from([&] { read_policy(path); });
    EXPECT_TRUE(error.starts_with("policy " + std::string(path) + ": cannot be read: ")) << error;
  }
}

}  // namespace
}  // namespace tidemark
