// Expected bytes that match the copies, and ones that do not.
#include "suite/case.hpp"
#include "suite/conformance/tile.hpp"

namespace tidemark {
namespace {

// The right announcement, in every order of announcing, arriving and issuing: the control of the
// family.
std::vector<Op> exact_rows(const RunContext&) {
  std::vector<Op> rows;
  for (const TileLoad& load : mismatch_boxes())
    for (const IssueOrder order : {IssueOrder::announced_first, IssueOrder::issued_first})
      for (const Arrival arrival : {Arrival::with_announcement, Arrival::separate, Arrival::late}) {
        ExpectTx op = announce_exactly(load);
        op.order = order;
        op.arrival = arrival;
        rows.emplace_back(op);
      }
  return rows;
}

const Register kExact{{
    .name = "expect_tx.exact",
    .claim = "a phase completes once, with the last byte, when exactly the bytes of the copy "
             "are announced, in whatever order announcement, arrival and issue come",
    .cites = "PTX ISA 9.0, 9.7.13.15.5 tx-count; 9.7.13.15.6 phase completion; 9.7.9.25.5.2 "
             "cp.async.bulk.tensor, complete-tx",
    .rows = exact_rows,
}};

// Announced when everything has landed: the tx-count has gone below zero, which is legal, and comes
// back.
std::vector<Op> late_rows(const RunContext&) {
  std::vector<Op> rows;
  for (const TileLoad& load : mismatch_boxes())
    for (const std::uint32_t announcements : {1U, 2U})
      for (const Arrival arrival :
           {Arrival::with_announcement, Arrival::separate, Arrival::late, Arrival::missing}) {
        ExpectTx op = announce(load, tile_bytes(load.map) / announcements);
        op.announcements = announcements;
        op.arrival = arrival;
        op.order = IssueOrder::landed_first;
        rows.emplace_back(op);
      }
  return rows;
}

const Register kLate{{
    .name = "expect_tx.late",
    .claim = "a copy that landed before it was announced leaves the tx-count negative, and an "
             "exact announcement then completes the phase with the arrival",
    .cites = "PTX ISA 9.0, 9.7.13.15.2 tx-count range; 9.7.13.15.6 phase completion",
    .rows = late_rows,
}};

struct Credit {
  std::uint32_t announced, first, second;
};

// Up to the ends of the range of a tx-count, by announcements and credits by hand: no copy is large
// enough.
std::vector<Op> limits_rows(const RunContext&) {
  constexpr std::uint32_t kMax = kTxCountMax;
  constexpr std::uint32_t kHalf = 1U << 19;
  std::vector<Op> rows;
  // Announced once, and what comes. The last four leave something owed.
  for (const auto& [announced, first, second] :
       {Credit{kMax, kMax, 0}, Credit{kMax, 1, kMax - 1}, Credit{kMax, kMax - 1, 1},
        Credit{kMax, kHalf, kHalf - 1}, Credit{kMax - 1, kMax - 1, 0},
        Credit{kMax - 15, kMax - 31, 16}, Credit{kHalf, kHalf, 0}, Credit{kHalf - 1, kHalf - 1, 0},
        Credit{kHalf + 1, kHalf, 1}, Credit{65536, 65536, 0}, Credit{kMax, kMax - 1, 0},
        Credit{kMax, 16, 0}, Credit{1, kMax - 1, 0}, Credit{kHalf, kMax - 1, 0}})
    for (const IssueOrder order : {IssueOrder::announced_first, IssueOrder::landed_first})
      for (const Arrival arrival : {Arrival::with_announcement, Arrival::late}) {
        ExpectTx op = announce(mismatch_boxes().front(), announced);
        op.simulated = {first, second};
        op.order = order;
        op.arrival = arrival;
        rows.emplace_back(op);
      }
  return rows;
}

const Register kLimits{{
    .name = "expect_tx.limits",
    .claim = "a tx-count reaches 2^20-1 bytes on either side of zero and comes back exactly",
    .cites = "PTX ISA 9.0, 9.7.13.15.2 tx-count range -(2^20-1) to 2^20-1; 9.7.13.15.12 "
             "mbarrier.complete_tx",
    .rows = limits_rows,
}};

// Announced with expect_tx alone, which is no arrival: a frequent slip, since arrive.expect_tx is.
std::vector<Op> missing_arrival_rows(const RunContext&) {
  std::vector<Op> rows;
  for (const TileLoad& load : mismatch_boxes()) {
    const std::uint32_t bytes = tile_bytes(load.map);
    for (const std::uint32_t announced : {bytes, bytes + 16, bytes - 16, 0U})
      for (const IssueOrder order :
           {IssueOrder::announced_first, IssueOrder::issued_first, IssueOrder::landed_first}) {
        ExpectTx op = announce(load, announced);
        op.arrival = Arrival::missing;
        op.order = order;
        rows.emplace_back(op);
      }
  }
  return rows;
}

const Register kMissingArrival{{
    .name = "expect_tx.missing_arrival",
    .claim = "a phase that nobody arrived on does not complete, whatever was announced and "
             "came, and a plain arrival completes it if nothing is owed",
    .cites = "PTX ISA 9.0, 9.7.13.15.6 phase completion; 9.7.13.15.11 mbarrier.expect_tx; "
             "9.7.13.15.13 mbarrier.arrive",
    .rows = missing_arrival_rows,
}};

// Announced more than comes: by a byte, by pieces of 16, by as much again, and up to the limit of
// the tx-count.
std::vector<Op> over_rows(const RunContext&) {
  std::vector<Op> rows;
  for (const TileLoad& load : mismatch_boxes()) {
    const std::uint32_t bytes = tile_bytes(load.map);
    for (const std::uint32_t more :
         {1U, 8U, 16U, 32U, 48U, 4096U, 65536U, bytes, kTxCountMax - bytes})
      rows.emplace_back(announce(load, bytes + more));
    for (const IssueOrder order : {IssueOrder::issued_first, IssueOrder::landed_first}) {
      ExpectTx op = announce(load, bytes + 16);
      op.order = order;
      rows.emplace_back(op);
    }
    ExpectTx late = announce(load, bytes + 16);
    late.arrival = Arrival::late;
    rows.emplace_back(late);
  }
  return rows;
}

const Register kOver{{
    .name = "expect_tx.over",
    .claim = "a phase announced d bytes too many does not complete, has its data all the "
             "same, owes exactly d and completes when they are taken off",
    .cites = "PTX ISA 9.0, 9.7.13.15.5 tx-count; 9.7.13.15.6 phase completion; 9.7.13.15.12 "
             "mbarrier.complete_tx",
    .rows = over_rows,
}};

// How many bytes are announced each time for a box of `bytes`.
std::uint32_t random_amount(std::uint32_t bytes, std::uint64_t draw) {
  const auto within = static_cast<std::uint32_t>((draw >> 8) % bytes);
  switch (draw % 6) {
    case 0:
      return bytes;
    case 1:
      return bytes + 1 + within;
    case 2:
      return within / 16 * 16;
    case 3:
      return bytes / 2;
    case 4:
      return 0;
    default:
      return within;
  }
}

ExpectTx random_mismatch(std::uint64_t seed) {
  const TileLoad load = random_tile(splitmix64(seed));
  const std::uint64_t draw = splitmix64(seed + 1);
  ExpectTx op = announce(load, random_amount(tile_bytes(load.map), splitmix64(seed + 2)));
  op.on = static_cast<AnnouncedOn>(draw % 3);
  op.arrival = static_cast<Arrival>((draw >> 8) % 4);
  op.order = static_cast<IssueOrder>((draw >> 16) % 3);
  op.announcements = 1 + static_cast<std::uint32_t>((draw >> 24) % 2);
  op.parity = (draw >> 32) % 4 == 0 ? 1 : 0;
  return op;
}

// Mismatches drawn at random over box, amount, barrier, arrival, order and parity; more of them at
// the higher levels.
std::vector<Op> random_rows(const RunContext& context) {
  return drawn_rows(context, {96, 600, 2400}, random_mismatch);
}

const Register kRandom{{
    .name = "expect_tx.random",
    .claim = "whatever is announced on whichever barrier in whatever order, each barrier owes "
             "what was announced on it less what came, and can be brought back",
    .cites = "PTX ISA 9.0, 9.7.13.15 mbarrier; 9.7.9.25.5.2 cp.async.bulk.tensor, complete-tx",
    .rows = random_rows,
}};

// The same announcement made twice, as by two producers that each think they are the only one; and
// two halves, which make a whole.
std::vector<Op> twice_rows(const RunContext&) {
  std::vector<Op> rows;
  for (const TileLoad& load : mismatch_boxes())
    for (const std::uint32_t part : {1U, 2U})
      for (const Arrival arrival : {Arrival::with_announcement, Arrival::separate, Arrival::late}) {
        ExpectTx op = announce(load, tile_bytes(load.map) / part);
        op.announcements = 2;
        op.arrival = arrival;
        rows.emplace_back(op);
        op.order = IssueOrder::landed_first;
        rows.emplace_back(op);
      }
  return rows;
}

const Register kTwice{{
    .name = "expect_tx.twice",
    .claim = "two announcements add up: a whole copy announced twice owes it once more, and "
             "two halves complete it",
    .cites = "PTX ISA 9.0, 9.7.13.15.5.1 expect-tx operation; 9.7.13.15.11 mbarrier.expect_tx",
    .rows = twice_rows,
}};

// Two credits by hand, 512 and 256 bytes: zero is met after the first, jumped over, or never near.
void append_simulated(std::vector<Op>& rows) {
  for (const std::uint32_t announced : {16U, 256U, 496U, 512U, 528U, 752U, 767U})
    for (const IssueOrder order : {IssueOrder::announced_first, IssueOrder::issued_first}) {
      ExpectTx op = announce(mismatch_boxes().front(), announced);
      op.simulated = {512, 256};
      op.order = order;
      rows.emplace_back(op);
    }
}

// Announced less than comes. Where the arrival waits for the data the phase cannot complete; where
// it does not, only what is owed afterwards is promised. Single credits by hand go past zero or
// meet it.
std::vector<Op> under_rows(const RunContext&) {
  std::vector<Op> rows;
  for (const TileLoad& load : mismatch_boxes()) {
    const std::uint32_t bytes = tile_bytes(load.map);
    for (const std::uint32_t less : {1U, 16U, bytes / 2, bytes - 16}) {
      const ExpectTx racing = announce(load, bytes - less);
      ExpectTx landed = racing;
      landed.order = IssueOrder::landed_first;
      ExpectTx late = racing;
      late.arrival = Arrival::late;
      rows.insert(rows.end(), {racing, landed, late});
    }
  }
  append_simulated(rows);
  return rows;
}

const Register kUnder{{
    .name = "expect_tx.under",
    .claim = "a phase announced d bytes too few owes exactly d less than nothing, in this "
             "phase or in the next, completes only if a credit ends where the count is zero, "
             "and can be brought back",
    .cites = "PTX ISA 9.0, 9.7.13.15.2 tx-count range; 9.7.13.15.5 tx-count; 9.7.13.15.6 "
             "phase completion",
    .rows = under_rows,
}};

// Exactly the bytes of the copy, announced on `place`, with every arrival.
std::vector<Op> announced_on(AnnouncedOn place) {
  std::vector<Op> rows;
  for (const TileLoad& load : mismatch_boxes())
    for (const Arrival arrival :
         {Arrival::with_announcement, Arrival::separate, Arrival::late, Arrival::missing})
      for (const IssueOrder order : {IssueOrder::announced_first, IssueOrder::landed_first}) {
        ExpectTx op = announce_exactly(load);
        op.on = place;
        op.arrival = arrival;
        op.order = order;
        rows.emplace_back(op);
      }
  return rows;
}

// Announced on another barrier of the same block, as by a wrong stage index, with the
// arrival there, here or nowhere.
std::vector<Op> wrong_barrier_rows(const RunContext&) {
  return announced_on(AnnouncedOn::other_barrier);
}

const Register kWrongBarrier{{
    .name = "expect_tx.wrong_barrier",
    .claim = "bytes announced on another barrier of the block are owed there, and the copy's "
             "own barrier is credited what nobody announced",
    .cites = "PTX ISA 9.0, 9.7.13.15.5 tx-count; 9.7.13.15.6 phase completion; 9.7.9.25.5.2 "
             "cp.async.bulk.tensor, mbarrier operand",
    .rows = wrong_barrier_rows,
}};

// Announced on the barrier of the other block in a cluster, as by a wrong rank, with the
// arrival there, here or nowhere.
std::vector<Op> wrong_cta_rows(const RunContext&) { return announced_on(AnnouncedOn::peer); }

const Register kWrongCta{{
    .name = "expect_tx.wrong_cta",
    .claim = "bytes announced in the other block of a cluster are owed there, and the copy "
             "lands and credits in its own block alone",
    .cites = "PTX ISA 9.0, 9.7.13.15.8 mbarrier support with shared memory; 9.7.13.15.11 "
             "mbarrier.expect_tx, shared::cluster; 9.7.9.25.5.2 cp.async.bulk.tensor",
    .rows = wrong_cta_rows,
}};

// A wait for the phase before the current one: on a fresh barrier it returns at once, with the copy
// on its way; once the phase is complete it waits for the next one.
std::vector<Op> wrong_parity_rows(const RunContext&) {
  std::vector<Op> rows;
  for (const TileLoad& load : mismatch_boxes()) {
    const std::uint32_t bytes = tile_bytes(load.map);
    const auto add = [&rows](ExpectTx op, Arrival arrival, IssueOrder order) {
      op.parity = 1;
      op.arrival = arrival;
      op.order = order;
      rows.emplace_back(op);
    };
    add(announce(load, bytes), Arrival::missing, IssueOrder::announced_first);
    add(announce(load, bytes), Arrival::late, IssueOrder::announced_first);
    add(announce(load, bytes), Arrival::with_announcement, IssueOrder::landed_first);
    add(announce(load, bytes), Arrival::with_announcement, IssueOrder::announced_first);
    add(announce(load, bytes + 16), Arrival::with_announcement, IssueOrder::announced_first);
    add(announce(load, bytes - 16), Arrival::late, IssueOrder::announced_first);
    add(announce(load, 0), Arrival::with_announcement, IssueOrder::announced_first);
    add(announce(load, 0), Arrival::separate, IssueOrder::landed_first);
  }
  return rows;
}

const Register kWrongParity{{
    .name = "expect_tx.wrong_parity",
    .claim = "a wait for parity 1 returns at once while phase 0 is incomplete, and does not "
             "return once phase 0 is complete",
    .cites = "PTX ISA 9.0, 9.7.13.15.16 mbarrier.test_wait, mbarrier.try_wait: the current or "
             "the immediately preceding phase",
    .rows = wrong_parity_rows,
}};

// Nothing announced: by an announcement of 0, or by none. The arrival alone then decides, and it
// depends on whether the data had come before it.
std::vector<Op> zero_rows(const RunContext&) {
  std::vector<Op> rows;
  for (const TileLoad& load : mismatch_boxes())
    for (const IssueOrder order : {IssueOrder::announced_first, IssueOrder::landed_first}) {
      ExpectTx op = announce(load, 0);
      op.order = order;
      rows.emplace_back(op);
      op.arrival = Arrival::separate;
      rows.emplace_back(op);
      op.announcements = 0;
      rows.emplace_back(op);
      op.arrival = Arrival::late;  // behind the copy in either order
      if (order == IssueOrder::landed_first) rows.emplace_back(op);
    }
  return rows;
}

const Register kZero{{
    .name = "expect_tx.zero",
    .claim = "without an announcement a phase completes with its arrival if no byte has come, "
             "and not at all if all have, and either way owes the whole copy",
    .cites = "PTX ISA 9.0, 9.7.13.15.6 phase completion; 9.7.13.15.7 arrive-on",
    .rows = zero_rows,
}};

}  // namespace

}  // namespace tidemark
