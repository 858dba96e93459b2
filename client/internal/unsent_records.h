// What a reporter has of steps and evaluations that no server has acknowledged.
#ifndef PACKTRAIN_CLIENT_INTERNAL_UNSENT_RECORDS_H_
#define PACKTRAIN_CLIENT_INTERNAL_UNSENT_RECORDS_H_

#include "client/internal/record_spool.h"
#include "client/internal/report_kinds.h"
#include "client/run_reporter.h"

namespace packtrain::client {

// In the order in which they were added: what is in flight, in the spool, and waits in memory. A block on its
// way to the spool may be there twice. Of a spool that is corrupt only what is before the damage.
UnsentRecords CollectUnsent(const Outboxes& outboxes, const RecordSpool& spool);

}  // namespace packtrain::client

#endif  // PACKTRAIN_CLIENT_INTERNAL_UNSENT_RECORDS_H_
