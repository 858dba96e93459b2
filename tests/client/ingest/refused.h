// Refusals as people are told of them.
#ifndef PACKTRAIN_TESTS_CLIENT_INGEST_REFUSED_H_
#define PACKTRAIN_TESTS_CLIENT_INGEST_REFUSED_H_

#include <gmock/gmock.h>

#include <string>

#include "absl/status/statusor.h"
#include "client/ingest/graph_reader.h"
#include "client/ingest/origin.h"
#include "client/ingest/refusal.h"
#include "tests/testing/status_matchers.h"

namespace packtrain::testing {

// GraphReader::Next, with refusals that call the graph by its own id, or else its title.
inline absl::StatusOr<bool> NextNamed(ingest::GraphReader& reader, ingest::SourceGraph* graph) {
  absl::StatusOr<bool> more = reader.Next(graph);
  if (more.ok()) return more;
  return ingest::WithPlace(more.status(), graph->id.empty() ? graph->title : graph->id);
}

// By its reason and a part of what is told.
MATCHER_P2(Refused, reason, part,
           "is refused as " + std::string(reason) + " with '" + std::string(part) + "'") {
  const absl::Status status = ingest::WithPlace(StatusOf(arg), "");
  *result_listener << "which is " << status.ToString();
  return ingest::IsRefusal(status) && ingest::ReasonOf(status) == reason &&
         std::string(status.message()).find(part) != std::string::npos;
}

}  // namespace packtrain::testing

#endif  // PACKTRAIN_TESTS_CLIENT_INGEST_REFUSED_H_
