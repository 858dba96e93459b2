// What became of everything that an import read.
#ifndef PACKTRAIN_CLIENT_INGEST_LEDGER_H_
#define PACKTRAIN_CLIENT_INGEST_LEDGER_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/ingest/label_table.h"
#include "client/ingest/origin.h"
#include "client/ingest/source_files.h"
#include "client/ingest/target_table.h"
#include "proto/base/whole_file.h"

namespace packtrain::ingest {

struct RefusedGraph {
  Origin origin;
  std::string id;  // empty: it is no graph, as of an archive
  std::string reason;
  std::string message;
  std::optional<std::uint64_t> position = std::nullopt;  // among the graphs sent, from 0; none: it was not sent
  bool leaves_rest = false;  // its file is not read on behind it: whatever graphs follow are not counted
};

// A graph that is stored, and what is odd about it.
struct RemarkedGraph {
  Origin origin;
  std::string id;
  std::string remark;  // a word, such as "unsanitized"
};

// Used by one thread.
class Ledger {
 public:
  void AddRead(std::uint64_t graphs = 1) { read_ += graphs; }
  void AddRefused(RefusedGraph graph);
  // Refused graphs of which no more than the reason is known.
  void AddUnlisted(const std::string& reason, std::uint64_t graphs);

  // Of remarked graphs the first 100,000 are listed.
  void AddRemark(RemarkedGraph graph);
  // Takes back the remarks on graphs that were not stored after all.
  void DropRemarks(const std::set<std::string>& origins);
  // What became of the labels, behind the last graph; absent where nobody has looked at them.
  void SetLabels(std::optional<std::vector<LabelUse>> labels) { labels_ = std::move(labels); }
  // How the graphs met the rows of --join, likewise.
  void SetJoin(std::optional<JoinUse> join) { join_ = std::move(join); }
  // Files of a folder or an archive that are not of the format.
  void AddPassedOver(PassedOver files) { passed_over_.push_back(std::move(files)); }

  // Graphs met in the files, refused ones counted.
  std::uint64_t read() const { return read_; }
  // Of those refused, the graphs that are known one by one.
  const std::vector<RefusedGraph>& refused() const { return refused_; }
  std::uint64_t unlisted() const { return unlisted_; }
  std::uint64_t refused_graphs() const { return refused_.size() + unlisted_; }
  const std::map<std::string, std::uint64_t>& refused_by_reason() const { return by_reason_; }
  // From where on a file was not read, of each such file.
  std::vector<Origin> unread() const;

  const std::vector<RemarkedGraph>& remarked() const { return remarked_; }
  const std::map<std::string, std::uint64_t>& stored_by_remark() const { return by_remark_; }
  const std::optional<std::vector<LabelUse>>& labels() const { return labels_; }
  const std::optional<JoinUse>& join() const { return join_; }

  // Files that were passed over, in all and by folder or archive.
  std::uint64_t passed_over() const;
  const std::vector<PassedOver>& passed_over_by_source() const { return passed_over_; }

  // One JSON object a listed refused graph and line: file, frame (the record's number, whatever its format
  // calls a record), line, id, reason, message, and `rest_unread` true where the file is not read on behind it;
  // file and line are those of what is wrong, which may stand behind the record's first line. A file, folder or
  // archive as a whole has neither frame nor line, and an archive no id. Then those stored
  // with a remark: file, frame, line, id, remark; then the folders and archives of which files were passed
  // over: file, passed_over, names (the first few).
  std::string ToJsonLines() const;

 private:
  std::uint64_t read_ = 0;
  std::vector<RefusedGraph> refused_;
  std::uint64_t unlisted_ = 0;
  std::map<std::string, std::uint64_t> by_reason_;
  std::vector<RemarkedGraph> remarked_;
  std::map<std::string, std::uint64_t> by_remark_;
  std::optional<std::vector<LabelUse>> labels_;
  std::optional<JoinUse> join_;
  std::vector<PassedOver> passed_over_;
};

// The file that a ledger goes to, whole or not at all. Used by one thread.
class LedgerFile {
 public:
  // Opens a file beside `path`, so that it shows early whether the ledger can be written. INVALID_ARGUMENT: it
  // cannot.
  static absl::StatusOr<std::unique_ptr<LedgerFile>> Open(std::string path);
  // Writes ToJsonLines and puts it in place. To be called once.
  absl::Status Write(const Ledger& ledger);

 private:
  explicit LedgerFile(std::unique_ptr<base::WholeFile> file) : file_(std::move(file)) {}

  const std::unique_ptr<base::WholeFile> file_;
};

}  // namespace packtrain::ingest

#endif  // PACKTRAIN_CLIENT_INGEST_LEDGER_H_
