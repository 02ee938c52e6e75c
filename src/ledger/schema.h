// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ledger/database.h"

namespace whet {

// "whet" in ASCII, in the file's header: what tells a ledger from any other SQLite file.
inline constexpr int kApplicationId = 0x77686574;

int newest_schema();

// Makes the tables of a new file, brings those of an older ledger up to date, one transaction per version. Refuses files of other programs and
// ledgers that are newer than this program.
Status bring_up_to_date(Database& database);

}  // namespace whet
