// packtrain dataset export
#include <chrono>
#include <memory>
#include <string>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "client/cli/commands.h"
#include "client/cli/dataset/graph_lines.h"
#include "client/cli/service_call.h"
#include "client/ingest/formats/native_file.h"
#include "client/ingest/whole_file.h"
#include "proto/base/status_macros.h"
#include "proto/wire/full_name.h"

namespace packtrain::cli {
namespace {

struct ExportFlags {
  std::string dataset;
  std::string format;
  std::string file;
};

// Turns the messages of one export into the bytes of a file. Used by one thread.
class ExportWriter {
 public:
  ExportWriter(bool native, ingest::WholeFile& file) : native_(native), file_(file) {}

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
    const bool is_first = graphs_ == 0;
    graphs_ += static_cast<std::uint64_t>(block.n_node_size());
    return GraphLines(dataset_.schema(), block, is_first);
  }

  static std::string NativeBytes(const v1::ExportDatasetResponse& message) {
    const std::string begin(message.has_header() ? ingest::kNativeMagic : "");
    return begin + ingest::NativeFrame(message);
  }

  const bool native_;
  ingest::WholeFile& file_;
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
  const auto start = std::chrono::steady_clock::now();
  ABSL_ASSIGN_OR_RETURN(const std::shared_ptr<client::Connection> connection, Connect(global));
  const absl::StatusOr<std::unique_ptr<ingest::WholeFile>> file = ingest::WholeFile::Create(flags.file);
  if (!file.ok()) return DataError(output, file.status());
  v1::ExportDatasetRequest request;
  request.set_dataset(flags.dataset);
  request.set_as_columns(flags.format == "jsonl");
  ExportWriter writer(flags.format == "native", **file);
  absl::Status status =
      client::ServiceClient(connection).ExportDataset(request, [&](const v1::ExportDatasetResponse& message) {
        return writer.Take(message);
      });
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
                                  "packtrain dataset export qm9@0123456789abcdef --format jsonl -o qm9.jsonl"});
  const auto flags = std::make_shared<ExportFlags>();
  command->add_option("DATASET", flags->dataset, "NAME or NAME@VERSION")->required();
  command
      ->add_option(
          "--format", flags->format,
          "native: as it is stored, for `packtrain import native`, which gives the same version; jsonl: a "
          "graph a line, an object with id, n_node, n_edge, senders and receivers (absent where all nodes "
          "are joined), and each field by its name, for `packtrain import jsonl`, which gives the same graphs")
      ->required()
      ->check(CLI::IsMember({"native", "jsonl"}))
      ->option_text("native|jsonl");
  command->add_option("-o,--output", flags->file, "File to write; it is there whole or not at all")
      ->required()
      ->option_text("FILE");
  OnChosen(*command, invocation, WithFlags(flags, Export));
}

}  // namespace packtrain::cli
