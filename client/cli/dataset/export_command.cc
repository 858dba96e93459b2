// packtrain dataset export
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "client/cli/commands.h"
#include "client/cli/dataset/graph_lines.h"
#include "client/cli/service_call.h"
#include "client/ingest/formats/native_file.h"
#include "proto/base/status_macros.h"
#include "proto/base/whole_file.h"
#include "proto/wire/full_name.h"

namespace packtrain::cli {
namespace {

constexpr char kStandardOutput[] = "-";

struct ExportFlags {
  std::string dataset;
  std::string format;
  std::string file;
};

absl::StatusOr<v1::Dataset> FindDataset(client::ServiceClient& services, const std::string& name) {
  v1::GetDatasetRequest request;
  request.set_dataset(name);
  ABSL_ASSIGN_OR_RETURN(v1::GetDatasetResponse response,
                        services.Read<v1::GetDatasetResponse>(request, client::kLookUp));
  return std::move(*response.mutable_dataset());
}

// The splits follow the graphs of an export, so that they are asked for alone.
absl::StatusOr<SplitNames> ReadSplits(client::ServiceClient& services, const v1::Dataset& dataset) {
  static constexpr std::array<std::string_view, 3> kSplits = {"train", "val", "test"};
  if (dataset.splits_size() < 2) return SplitNames();
  SplitNames names(dataset.graphs());
  v1::ExportDatasetRequest request;
  request.set_dataset(wire::FullName(dataset));
  request.set_first_graph(dataset.graphs());
  ABSL_RETURN_IF_ERROR(services.ExportDataset(request, [&](const v1::ExportDatasetResponse& message) {
    const auto split = std::ranges::find(kSplits, message.split().split());
    for (const std::uint32_t graph : message.split().graphs()) {
      if (split != kSplits.end() && graph < names.size()) names[graph] = *split;
    }
    return absl::OkStatus();
  }));
  return names;
}

// Turns the messages of one export into the bytes of a file. Used by one thread.
class ExportWriter {
 public:
  // `splits` is for lines.
  ExportWriter(bool native, SplitNames splits, base::WholeFile& file)
      : native_(native), splits_(std::move(splits)), file_(file) {}

  absl::Status Take(const v1::ExportDatasetResponse& message) {
    if (message.has_header()) dataset_ = message.header().dataset();
    const std::string bytes = native_ ? NativeBytes(message) : Lines(message.columns());
    bytes_ += bytes.size();
    return file_.Write(bytes);
  }

  const v1::Dataset& dataset() const { return dataset_; }
  // Written.
  std::uint64_t bytes() const { return bytes_; }

 private:
  std::string Lines(const v1::GraphBlock& block) {
    const std::uint64_t first = graphs_;
    graphs_ += static_cast<std::uint64_t>(block.n_node_size());
    return GraphLines(dataset_.schema(), block, first, splits_);
  }

  static std::string NativeBytes(const v1::ExportDatasetResponse& message) {
    const std::string begin(message.has_header() ? ingest::kNativeMagic : "");
    return begin + ingest::NativeFrame(message);
  }

  const bool native_;
  const SplitNames splits_;
  base::WholeFile& file_;
  v1::Dataset dataset_;
  std::uint64_t graphs_ = 0;  // in lines
  std::uint64_t bytes_ = 0;
};

Json ToJson(const ExportFlags& flags, const ExportWriter& writer, double seconds) {
  return {{"dataset", writer.dataset().name()},
          {"version", writer.dataset().version()},
          {"graphs", writer.dataset().graphs()},
          {"format", flags.format},
          {"file", flags.file},
          {"bytes", writer.bytes()},
          {"seconds", seconds}};
}

absl::StatusOr<ExitCode> Export(const ExportFlags& flags, const GlobalOptions& global, Output& output) {
  if (flags.file == kStandardOutput && flags.format != "jsonl") {
    return UsageError(output, "--output -: a native file is no text for standard output; name a file");
  }
  const auto start = std::chrono::steady_clock::now();
  ABSL_ASSIGN_OR_RETURN(const std::shared_ptr<client::Connection> connection, Connect(global));
  const std::string path = flags.file == kStandardOutput ? "/dev/stdout" : flags.file;
  const absl::StatusOr<std::unique_ptr<base::WholeFile>> file = base::WholeFile::Create(path);
  if (!file.ok()) return DataError(output, file.status());
  client::ServiceClient services(connection);
  v1::ExportDatasetRequest request;
  request.set_dataset(flags.dataset);
  request.set_as_columns(flags.format == "jsonl");
  SplitNames splits;
  if (request.as_columns()) {
    ABSL_ASSIGN_OR_RETURN(const v1::Dataset dataset, FindDataset(services, flags.dataset));
    ABSL_ASSIGN_OR_RETURN(splits, ReadSplits(services, dataset));
    request.set_dataset(wire::FullName(dataset));  // of these splits, whatever the name comes to mean
  }
  ExportWriter writer(flags.format == "native", std::move(splits), **file);
  absl::Status status = services.ExportDataset(
      request, [&](const v1::ExportDatasetResponse& message) { return writer.Take(message); });
  const bool to_stdout = (*file)->IsStandardOutput();
  if (status.ok()) status = (*file)->Commit();
  if (!status.ok()) return DataError(output, status);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const std::string text = absl::StrCat(
      wire::FullName(writer.dataset()), ": ", FormatCount(static_cast<double>(writer.dataset().graphs())),
      " graphs, ", FormatBytes(static_cast<double>(writer.bytes())), " in ", flags.file);
  if (to_stdout) {
    output.Note(text);
  } else {
    output.Print(ToJson(flags, writer, seconds), text + "\n");
  }
  return ExitCode::kDone;
}

}  // namespace

void AddDatasetExport(CLI::App& dataset, Invocation& invocation) {
  CLI::App* command = AddCommand(dataset, "export", "Writes a data set to a file",
                                 {"packtrain dataset export qm9 --format native -o qm9.packtrain",
                                  "packtrain dataset export qm9@0123456789abcdef --format jsonl -o qm9.jsonl",
                                  "packtrain dataset export qm9 --format jsonl -o - | head -n 1"});
  const auto flags = std::make_shared<ExportFlags>();
  command->add_option("DATASET", flags->dataset, "NAME or NAME@VERSION")->required();
  command
      ->add_option(
          "--format", flags->format,
          "native: as it is stored, for `packtrain import native`, which gives the same version; jsonl: a "
          "graph a line, an object with id, n_node, n_edge, senders and receivers (absent where all nodes "
          "are joined), split, and each field by its name, for `packtrain import jsonl`, which gives the same "
          "graphs and splits")
      ->required()
      ->check(CLI::IsMember({"native", "jsonl"}))
      ->option_text("native|jsonl");
  command
      ->add_option("-o,--output", flags->file,
                   "File to write; it is there whole or not at all. - with jsonl: standard output")
      ->required()
      ->option_text("FILE");
  OnChosen(*command, invocation, WithFlags(flags, Export));
}

}  // namespace packtrain::cli
