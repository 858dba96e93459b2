#include "client/cli/dataset/renumber_flag.h"

#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "proto/wire/import_words.h"

namespace packtrain::cli {

void AddRenumberFlag(CLI::App& command, v1::Renumbering& renumber) {
  std::vector<std::string> words;
  for (const auto& word : wire::kRenumberingWords) words.emplace_back(word.text);
  command
      .add_option_function<std::string>(
          "--renumber",
          [&renumber](const std::string& word) {
            renumber = wire::ParseWord(word, wire::kRenumberingWords)->value;
          },
          "Number the nodes of each graph by its edges, which must be stored ones: rcm, reverse Cuthill-McKee, "
          "lets edges join nodes with near numbers; field source_node keeps the index of each node in the "
          "source")
      ->check(CLI::IsMember(words))
      ->option_text("rcm");
}

}  // namespace packtrain::cli
