// Replaces what names a machine, a board or a person by hashes, wherever it stands in a text.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "reports/journal/record.hpp"

namespace tidemark {

/// What is known to be a name, and what stands for it. Equal names have equal hashes within one
/// launch; the salt keeps a name from being looked up across launches.
struct Disguise {
  std::string salt;                          // run_id of the launch
  std::map<std::string, std::string> known;  // lower case -> replacement
  std::vector<std::size_t> lengths;          // of the keys, longest first
};

/// "host-", "serial-", ... and 12 digits; empty stays empty. Upper and lower case are one name.
std::string disguised(const Disguise& disguise, std::string_view kind, std::string_view name);

/// The same for a GPU's UUID and PCI address, both in any of their spellings.
std::string disguised_uuid(const Disguise& disguise, std::string_view uuid);
std::string disguised_pci(const Disguise& disguise, std::string_view pci);

Disguise disguise_for(const LaunchRecord& launch, const std::vector<NodeRecord>& nodes,
                      const std::vector<GpuRecord>& gpus);

/// The text with every known name, GPU UUID (a leading part of one too), PCI address and absolute
/// path replaced.
std::string scrubbed(const Disguise& disguise, std::string_view text);

/// True for variables whose whole value names machines or people ("SLURM_JOB_NODELIST").
bool names_someone(std::string_view variable);

}  // namespace tidemark
