// How many molecules a second the format `smiles` reads from a file, beside RDKit's SmilesToMol with its
// default parameters on one thread over the same SMILES, in turn.
#include <GraphMol/GraphMol.h>
#include <GraphMol/SmilesParse/SmilesParse.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "client/ingest/formats/smiles_columns.h"
#include "client/ingest/formats/smiles_reader.h"
#include "client/ingest/formats/smiles_rows.h"
#include "client/ingest/graph_reader.h"
#include "client/ingest/refusal.h"

namespace {

namespace ingest = packtrain::ingest;

using Clock = std::chrono::steady_clock;

struct Flags {
  std::string file;
  ingest::ReadOptions read;
  std::string smiles;
  std::string features;
  int repeats = 3;
};

template <typename Value>
Value Checked(absl::StatusOr<Value> value) {
  if (!value.ok()) throw std::runtime_error(std::string(value.status().message()));
  return *std::move(value);
}

std::unique_ptr<ingest::ByteSource> OpenBytes(const Flags& flags) {
  return Checked(ingest::ByteSource::Open(flags.file, flags.read.limits.max_unpacked_bytes));
}

// The SMILES of the file, with their CXSMILES blocks.
std::vector<std::string> SmilesOf(const Flags& flags) {
  ingest::SmilesRows rows(std::make_unique<ingest::LineReader>(OpenBytes(flags), flags.read.limits),
                          flags.read.limits);
  std::vector<std::string> row, smiles;
  if (!Checked(rows.Next(&row))) throw std::runtime_error("the file is empty");
  const ingest::SmilesColumns columns = Checked(ingest::FindColumns(row, {flags.smiles, ""}));
  rows.SetColumns(columns.names.size(), columns.has_header);
  if (!columns.has_header) smiles.push_back(row[columns.smiles]);
  while (Checked(rows.Next(&row))) smiles.push_back(row[columns.smiles]);
  return smiles;
}

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double SecondsOfRdkit(const std::vector<std::string>& smiles) {
  const Clock::time_point start = Clock::now();
  for (const std::string& text : smiles) {
    try {
      const std::unique_ptr<RDKit::RWMol> molecule(RDKit::SmilesToMol(text, RDKit::SmilesParserParams()));
    } catch (const std::exception&) {
      // Some molecules are chemically odd.
    }
  }
  return SecondsSince(start);
}

// Of reading the file, unpacking too, and how many molecules were stored.
std::pair<double, std::uint64_t> SecondsOfReader(const Flags& flags) {
  const Clock::time_point start = Clock::now();
  const std::unique_ptr<ingest::GraphReader> reader = Checked(ingest::OpenSmiles(OpenBytes(flags), flags.read));
  ingest::SourceGraph graph(reader->layout());
  std::uint64_t stored = 0;
  while (true) {
    const absl::StatusOr<bool> more = reader->Next(&graph);
    if (more.ok() && !*more) return {SecondsSince(start), stored};
    if (!more.ok() && !ingest::IsRefusal(more.status())) Checked(more);
    if (more.ok()) ++stored;
  }
}

void Measure(Flags flags) {
  if (!flags.smiles.empty()) flags.read.flags["--smiles"] = flags.smiles;
  if (!flags.features.empty()) flags.read.flags["--features"] = flags.features;
  const std::vector<std::string> smiles = SmilesOf(flags);
  std::vector<double> ratios;
  for (int repeat = 0; repeat < flags.repeats; ++repeat) {
    const double rdkit = SecondsOfRdkit(smiles);
    const auto [seconds, stored] = SecondsOfReader(flags);
    ratios.push_back(rdkit / seconds);
    std::printf(
        "{\"rdkit_per_second\": %.0f, \"smiles_per_second\": %.0f, \"ratio\": %.3f, \"stored\": %llu}\n",
        smiles.size() / rdkit, smiles.size() / seconds, rdkit / seconds,
        static_cast<unsigned long long>(stored));
  }
  std::sort(ratios.begin(), ratios.end());
  std::printf("{\"file\": \"%s\", \"molecules\": %zu, \"median_ratio\": %.3f, \"min_ratio\": %.3f}\n",
              flags.file.c_str(), smiles.size(), ratios[ratios.size() / 2], ratios.front());
}

int Run(int argc, char** argv) {
  CLI::App app(
      "How fast the format smiles reads a file, beside RDKit's SmilesToMol on one thread.\n\n"
      "  smiles_bench HIV.csv.gz\n");
  Flags flags;
  app.add_option("FILE", flags.file, "A file that `packtrain import smiles` reads")->required();
  app.add_option("--smiles", flags.smiles, "Column of the SMILES");
  app.add_option("--features", flags.features, "As of `packtrain import`");
  app.add_option("--threads", flags.read.threads, "Threads of the reader; 0: one for each core")
      ->capture_default_str();
  app.add_option("--repeats", flags.repeats, "Pairs of measurements")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  Measure(std::move(flags));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return Run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "smiles_bench: %s\n", error.what());
    return 1;
  }
}
