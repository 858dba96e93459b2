// Which records may be stored as they come.
#ifndef PACKTRAIN_SERVER_RECORDS_RECORD_CHECK_H_
#define PACKTRAIN_SERVER_RECORDS_RECORD_CHECK_H_

#include <string_view>
#include <vector>

#include "server/records/graph_record.h"
#include "server/records/graph_validator.h"

namespace packtrain::records {

// Checks one record after the other; borrows both. Used by one thread.
class RecordCheck {
 public:
  RecordCheck(const RecordLayout& layout, const GraphValidator& validator)
      : layout_(layout), validator_(validator) {}

  // Whether `validator` finds nothing wrong with the graph of a record of `layout`, and EncodeRecord makes
  // these very bytes of it, its edges in order. Says not why: that is found out by way of the graph
  // (RecordGraph).
  bool IsAsStored(const RecordView& record);

 private:
  // Looks at the gaps of a record, too: they are zero.
  bool TakeSections(const RecordView& record);
  bool HasSoundEdges(const RecordView& record) const;

  const RecordLayout& layout_;
  const GraphValidator& validator_;
  std::vector<std::string_view> sections_;  // of one record: fields, senders, receivers
};

}  // namespace packtrain::records

#endif  // PACKTRAIN_SERVER_RECORDS_RECORD_CHECK_H_
