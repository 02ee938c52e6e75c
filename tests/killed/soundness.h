// SPDX-License-Identifier: Apache-2.0
// What has to hold of a run's ledger and repository, whatever died in between.
#pragma once

#include <filesystem>
#include <map>
#include <string>

namespace whet {

// id -> a hash of all that the ledger has of that Evaluation, its samples included. Reads and changes nothing; a file that is not there yet is empty.
using Recorded = std::map<std::string, std::string>;
Recorded recorded_in(const std::filesystem::path& ledger);
// The same of a copy, made when nobody has the ledger open: the original's recovery is left to whet.
Recorded recorded_in_copy(const std::filesystem::path& ledger);

// All of `before` is in `after`, unchanged.
void expect_kept(const Recorded& before, const Recorded& after);

// Of a run that has ended: the ledger is sound, nothing was judged twice, no verdict blames a Solution (all of the task's are right), the
// repository is sound and says what the ledger says, and nothing half-made is left in it.
void expect_sound_run(const std::filesystem::path& ledger, const std::filesystem::path& folder);

}  // namespace whet
