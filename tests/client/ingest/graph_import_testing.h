// What an import of extended xyz gives, reading by reading.
#ifndef PACKTRAIN_TESTS_CLIENT_INGEST_GRAPH_IMPORT_TESTING_H_
#define PACKTRAIN_TESTS_CLIENT_INGEST_GRAPH_IMPORT_TESTING_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "client/ingest/formats/format_table.h"
#include "client/ingest/graph_import.h"
#include "proto/base/status_macros.h"
#include "tests/testing/temp_file.h"

namespace packtrain::testing {

template <typename T>
std::vector<T> ElementsOf(const v1::Column& column) {
  std::vector<T> elements(column.data().size() / sizeof(T));
  std::memcpy(elements.data(), column.data().data(), column.data().size());
  return elements;
}

// All that an import gave.
struct Imported {
  v1::ImportHeader header;
  std::vector<v1::GraphBlock> blocks;

  std::vector<std::string> Ids() const {
    std::vector<std::string> ids;
    for (const v1::GraphBlock& block : blocks)
      ids.insert(ids.end(), block.source_ids().begin(), block.source_ids().end());
    return ids;
  }
  std::vector<std::string> Targets() const {
    std::vector<std::string> names;
    for (const v1::Target& target : header.schema().targets()) names.push_back(target.name());
    return names;
  }
  template <typename T>
  std::vector<T> Column(const std::string& field) const {
    std::vector<T> all;
    for (const v1::GraphBlock& block : blocks) {
      for (const v1::Column& column : block.columns()) {
        if (column.field() != field) continue;
        const std::vector<T> elements = ElementsOf<T>(column);
        all.insert(all.end(), elements.begin(), elements.end());
      }
    }
    return all;
  }
};

class GraphImportTest : public ::testing::Test {
 protected:
  absl::StatusOr<Imported> Import(ingest::ImportOptions options, std::string_view format = "extxyz") {
    absl::StatusOr<std::unique_ptr<ingest::GraphImport>> import =
        ingest::GraphImport::Create(*ingest::FindFormat(format), std::move(options));
    if (!import.ok()) return import.status();
    import_ = *std::move(import);
    absl::StatusOr<Imported> imported;
    readings_ = 0;
    do {
      imported = ReadOnce();
      ++readings_;
    } while (imported.ok() && !import_->WhyBeginAgain().empty());
    return imported;
  }
  absl::StatusOr<Imported> ImportText(std::string_view text, ingest::ImportOptions options = {}) {
    options.paths = {folder_.Write("m.xyz", text)};
    return Import(std::move(options));
  }

  const ingest::Ledger& ledger() const { return import_->ledger(); }
  const std::map<std::string, std::uint64_t>& Reasons() const { return ledger().refused_by_reason(); }
  // "energy 2/3 missing_in_some" of each label, without the reason where it is a target.
  std::vector<std::string> Labels() const {
    std::vector<std::string> labels;
    const std::vector<ingest::LabelUse> uses = import_->Labels({}).value();
    for (const ingest::LabelUse& use : uses) {
      labels.push_back(
          absl::StrCat(use.name, " ", use.found, "/", use.graphs, use.used ? "" : " ", use.reason));
    }
    return labels;
  }

  TempFolder folder_;
  std::unique_ptr<ingest::GraphImport> import_;
  int readings_ = 0;

 private:
  absl::StatusOr<Imported> ReadOnce() {
    Imported imported;
    ABSL_ASSIGN_OR_RETURN(imported.header, import_->Begin());
    while (true) {
      ingest::Block block;
      ABSL_ASSIGN_OR_RETURN(const bool more, import_->Next(&block));
      if (!more) return imported;
      imported.blocks.push_back(std::get<v1::GraphBlock>(std::move(block)));
    }
  }
};

}  // namespace packtrain::testing

#endif  // PACKTRAIN_TESTS_CLIENT_INGEST_GRAPH_IMPORT_TESTING_H_
