// What names a machine, a board or a person is gone from the whole file, and equal stays equal.
#include "reports/store/assemble/anonymise.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "reports/example_launch.hpp"
#include "reports/scratch_folder.hpp"
#include "reports/store/hdf5/image.hpp"
#include "reports/store/report.hpp"

namespace tidemark::reports {
namespace {

Disguise example_disguise() {
  return disguise_for(example_launch(0), {example_node(0)}, {example_gpu(0), example_gpu(1)});
}

/// The example launch with every name in every place a text can be.
std::vector<std::string> telling_journals() {
  const std::string telling =
      "node07.acme.example node07: GPU-5f1c2d3e-0000-1111-2222-333344445555 GPU-5f1c2d3e "
      "1654922001111 (PCI:0000:1b:00) 00000000:1B:00.0 b007b007-1111-2222-3333-444455556666 "
      "'/home/alice/acme/night.h5'";
  OutcomeRecord failure = example_failure(1, "zfill.corner");
  failure.reason = failure.replay = telling;
  failure.notes = {telling};
  failure.miscompares[0].text = failure.miscompares[0].parameters = telling;
  failure.miscompares[0].what = telling;
  LaunchRecord launch = example_launch(1);
  launch.arguments.push_back(telling);
  launch.environment.emplace_back("NCCL_DEBUG_FILE", telling);
  return {journal_of({launch, example_node(1), example_gpu(1), failure,
                      EventRecord{.at_unix_s = 1, .gpu = 1, .source = "nvml", .text = telling},
                      EndRecord{.rank = 1, .complete = false, .reason = telling}}),
          example_journals()[0]};
}

TEST(Anonymise, NothingThatNamesSomeoneIsInTheFile) {
  const ScratchFolder scratch;
  const Report report =
      assemble(telling_journals(), {.anonymise = true, .incomplete_reason = "node07 is gone"});
  write_report(report, scratch.file("a.h5"));
  // The tables are deflated, so the text is searched where it is plain: in what a reader gets.
  const Report back = read_report(scratch.file("a.h5"));
  std::string all = back.launch.incomplete_reason + back.launch.run_id;
  for (const std::string& text : back.strings) all += text + "\n";
  for (const GpuRow& gpu : back.gpus) all += std::string(gpu.uuid.view()) + "\n";
  std::ifstream file(scratch.file("a.h5"), std::ios::binary);
  all += std::string(std::istreambuf_iterator<char>(file), {});
  for (const char* original :
       {"node07", "acme", "alice", "5f1c2d3e", "77aa88bb", "1654922001111", "1654922002222",
        "1b:00", "1B:00", "43:00", "b007b007", "night.h5", "node[", "/home", "/opt"}) {
    EXPECT_EQ(all.find(original), std::string::npos) << original;
  }
  EXPECT_TRUE(back.launch.anonymised);
}

TEST(Anonymise, WithoutTheOptionTheNamesStay) {
  const Report report = assemble(telling_journals(), {});
  EXPECT_EQ(report.text(report.nodes.at(0).hostname), "node07.acme.example");
  EXPECT_FALSE(report.launch.anonymised);
}

TEST(Anonymise, EqualNamesStayEqualAndOthersApart) {
  const Disguise disguise = example_disguise();
  EXPECT_EQ(disguised(disguise, "host", "node07"), disguised(disguise, "host", "NODE07"));
  EXPECT_NE(disguised(disguise, "host", "node07"), disguised(disguise, "host", "node08"));
  EXPECT_EQ(disguised(disguise, "host", "node07").size(), std::string("host-").size() + 12);
  EXPECT_EQ(disguised(disguise, "host", ""), "");
}

TEST(Anonymise, EachReportHasNamesOfItsOwnThatNothingInItGives) {
  EXPECT_NE(disguised(example_disguise(), "host", "node07"),
            disguised(example_disguise(), "host", "node07"));
  const Report one = assemble(example_journals(), {.anonymise = true});
  const Report other = assemble(example_journals(), {.anonymise = true});
  EXPECT_EQ(one.launch.run_id, other.launch.run_id);
  EXPECT_NE(one.text(one.nodes.at(0).hostname), other.text(other.nodes.at(0).hostname));
  EXPECT_EQ(image_of(one, "one"), image_of(one, "one"));
}

TEST(Anonymise, AShortHostNameIsTheSameMachine) {
  const Disguise disguise = example_disguise();
  EXPECT_EQ(scrubbed(disguise, "node07: lost"), scrubbed(disguise, "node07.acme.example: lost"));
}

TEST(Anonymise, TheFirstDigitsOfAUuidAreTheWholeOne) {
  const Disguise disguise = example_disguise();
  const std::string whole = disguised_uuid(disguise, "GPU-5f1c2d3e-0000-1111-2222-333344445555");
  EXPECT_EQ(scrubbed(disguise, "--gpus GPU-5f1c2d3e,GPU-5F1C"), "--gpus " + whole + "," + whole);
}

TEST(Anonymise, AUuidOfNoKnownGpuGoesToo) {
  EXPECT_EQ(scrubbed(example_disguise(), "GPU-deadbeef-1").find("deadbeef"), std::string::npos);
}

TEST(Anonymise, AllSpellingsOfAPciAddressAreOne) {
  const Disguise disguise = example_disguise();
  const std::string hidden = disguised_pci(disguise, "00000000:1B:00.0");
  EXPECT_EQ(scrubbed(disguise, "PCI:0000:1b:00"), "PCI:" + hidden);
  EXPECT_EQ(scrubbed(disguise, "0000:1b:00.0"), hidden);
  EXPECT_EQ(scrubbed(disguise, "1b:00.0 fell"), hidden + " fell");
}

TEST(Anonymise, WordsThatOnlyContainANameStay) {
  EXPECT_EQ(scrubbed(example_disguise(), "xnode07 node071 1 GB/s and/or 12:34:56"),
            "xnode07 node071 1 GB/s and/or 12:34:56");
}

TEST(Anonymise, PathsGoWhereverTheyStand) {
  const Disguise disguise = example_disguise();
  const std::string made = scrubbed(disguise, "open(\"/srv/bob/x.h5\"): --out=~/bob/y, /");
  EXPECT_EQ(made.find("bob"), std::string::npos);
  EXPECT_TRUE(made.ends_with(", /"));
}

TEST(Anonymise, TheHostOfARankThatWasNeverHeardOfIsKnown) {
  LaunchRecord launch = example_launch(0);
  launch.hosts = {"", "node09.acme.example"};
  const Disguise disguise = disguise_for(launch, {}, {});
  EXPECT_EQ(scrubbed(disguise, "rank 1 (node09.acme.example) silent").find("node09"),
            std::string::npos);
}

TEST(Anonymise, ARelativePathOfAnArgumentIsKnown) {
  LaunchRecord launch = example_launch(0);
  launch.arguments = {"--out", "bob/night.h5"};
  const Disguise disguise = disguise_for(launch, {}, {});
  EXPECT_EQ(scrubbed(disguise, "bob/night.h5: full").find("bob"), std::string::npos);
}

TEST(Anonymise, APathWithSpacesInAnArgumentGoesWhole) {
  LaunchRecord launch = example_launch(0);
  launch.arguments = {"run", "--log=/home/alice/my runs/night one.h5", "bob/two words"};
  const Disguise disguise = disguise_for(launch, {}, {});
  for (const char* text :
       {"open '/home/alice/my runs/night one.h5': full", "/home/alice/my runs: no",
        "bob/two words.tmp.7", "--log=/home/alice/my runs/night one.h5"}) {
    const std::string made = scrubbed(disguise, text);
    for (const char* part : {"alice", "my", "runs", "night", "one", "two", "words"}) {
      EXPECT_EQ(made.find(part), std::string::npos) << made;
    }
  }
}

/// The example report, anonymous, of a launch with these arguments and this environment.
Report anonymous(std::vector<std::string> arguments,
                 std::vector<std::pair<std::string, std::string>> environment) {
  LaunchRecord launch = example_launch(0);
  launch.arguments = std::move(arguments);
  launch.environment = std::move(environment);
  return assemble(std::vector<std::string>{journal_of({launch})},
                  {.anonymise = true, .incomplete_reason = "acme1: full"});
}

TEST(Anonymise, TheValueOfOutGoesWithoutASlashToo) {
  const Report report = anonymous({"tidemark", "--out", "acme1", "--out=ab", "--out"}, {});
  EXPECT_TRUE(provenance_of(report, "argument.2").starts_with("path-"));
  EXPECT_TRUE(provenance_of(report, "argument.3").starts_with("--out=path-"));
  EXPECT_EQ(provenance_of(report, "argument.4"), "--out");
  EXPECT_EQ(report.launch.incomplete_reason.find("acme1"), std::string::npos);
}

TEST(Anonymise, OnlyHarmlessVariablesKeepTheirValues) {
  const Report report = anonymous({}, {{"NCCL_SOCKET_IFNAME", "acme0"},
                                       {"NCCL_BUFFSIZE", "4194304"},
                                       {"CUDA_VISIBLE_DEVICES", "0,1"},
                                       {"NCCL_COMM_ID", "10.1.2.3"},
                                       {"NCCL_DEBUG", "INFO"}});
  EXPECT_TRUE(provenance_of(report, "environment.NCCL_SOCKET_IFNAME").starts_with("value-"));
  EXPECT_TRUE(provenance_of(report, "environment.NCCL_COMM_ID").starts_with("value-"));
  EXPECT_EQ(provenance_of(report, "environment.NCCL_BUFFSIZE"), "4194304");
  EXPECT_EQ(provenance_of(report, "environment.CUDA_VISIBLE_DEVICES"), "0,1");
  EXPECT_EQ(provenance_of(report, "environment.NCCL_DEBUG"), "INFO");
}

TEST(Anonymise, AShortHostNameGoesAsAWholeWordOnly) {
  NodeRecord node = example_node(0);
  node.hostname = "n1";
  const Disguise disguise = disguise_for(example_launch(0), {node}, {});
  EXPECT_EQ(scrubbed(disguise, "n1: n10 an1 n1a"),
            disguised(disguise, "host", "n1") + ": n10 an1 n1a");
}

TEST(Anonymise, TwoUuidsOfWhichOneBeginsLikeTheOtherStayApart) {
  GpuRecord one = example_gpu(0), ten = example_gpu(1);
  one.uuid = "VIRTUAL-1";
  ten.uuid = "VIRTUAL-10";
  const Disguise disguise = disguise_for(example_launch(0), {}, {ten, one});
  EXPECT_NE(scrubbed(disguise, "VIRTUAL-1"), scrubbed(disguise, "VIRTUAL-10"));
}

TEST(Anonymise, AnEmptyOrTinyNameDoesNotEatTheText) {
  NodeRecord node = example_node(0);
  node.hostname = node.boot_id = "";
  GpuRecord gpu = example_gpu(0);
  gpu.serial = "0";
  gpu.uuid = "";
  const Disguise disguise = disguise_for(example_launch(0), {node}, {gpu});
  EXPECT_EQ(scrubbed(disguise, "a 0 of 12"), "a 0 of 12");
}

}  // namespace
}  // namespace tidemark::reports
