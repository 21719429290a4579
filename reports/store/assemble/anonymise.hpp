// Replaces what names a machine, a board or a person by hashes, wherever it stands in a text.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "reports/journal/record.hpp"
#include "reports/store/assemble/siphash.hpp"

namespace tidemark::reports {

/// What is known to be a name, and what stands for it. Equal names have equal hashes within one
/// report; the salt is kept nowhere, so that nobody can try names until a hash of a report fits.
struct Disguise {
  SipKey salt;                               // random, another one for each report
  std::map<std::string, std::string> known;  // lower case -> replacement
  std::vector<std::size_t> lengths;          // of the keys, longest first
};

/// "host-", "serial-", ... and 12 digits; empty stays empty. Upper and lower case are one name.
std::string disguised(const Disguise& disguise, std::string_view kind, std::string_view name);

/// The same for a GPU's UUID and PCI address, both in any of their spellings.
std::string disguised_uuid(const Disguise& disguise, std::string_view uuid);
std::string disguised_pci(const Disguise& disguise, std::string_view pci);

/// Draws a salt of its own. Throws ReportError where the system gives no random numbers.
Disguise disguise_for(const LaunchRecord& launch, const std::vector<NodeRecord>& nodes,
                      const std::vector<GpuRecord>& gpus);

/// The text with every known name, GPU UUID (a leading part of one too), PCI address and absolute
/// path replaced.
std::string scrubbed(const Disguise& disguise, std::string_view text);

/// The arguments of the launch, scrubbed; of --out whatever it names.
std::vector<std::string> scrubbed_arguments(const Disguise& disguise,
                                            const std::vector<std::string>& arguments);

/// The value of a variable: as it is where it can name nobody, else its hash, for
/// "node[01-16]" names hosts in a way that no search for their names would find.
std::string scrubbed_variable(const Disguise& disguise, std::string_view variable,
                              std::string_view value);

}  // namespace tidemark::reports
