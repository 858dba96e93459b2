#include "tests/client/scripted_services.h"

#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server_builder.h>

#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/crc32c.h"
#include "proto/base/error_details.h"
#include "proto/base/status_convert.h"
#include "proto/wire/batch_encoder.h"

namespace packtrain::testing {
namespace {

constexpr std::uint64_t kNodeFloats = 600;
constexpr char kHost[] = "127.0.0.1";

template <typename T>
void AddSection(BuiltBatch& batch, std::string field, wire::DType dtype, std::vector<std::uint64_t> dims,
                const std::vector<T>& elements) {
  const std::size_t aligned =
      (batch.body.size() + wire::kSectionAlignment - 1) / wire::kSectionAlignment * wire::kSectionAlignment;
  const std::size_t bytes = elements.size() * sizeof(T);
  batch.body.resize(aligned + bytes);
  std::memcpy(batch.body.data() + aligned, elements.data(), bytes);
  batch.header.sections.push_back({std::move(field), dtype, std::move(dims), aligned, bytes});
}

bool WriteParts(const wire::BatchHeader& header, const std::vector<std::byte>& body,
                std::uint32_t max_message_bytes, std::size_t& parts_left,
                grpc::ServerWriter<v1::StreamBatchesResponse>& writer) {
  const auto parts =
      wire::EncodeBatch(wire::EncodeHeader(header), {.build_ns = 5, .queue_ns = 7}, body, max_message_bytes);
  for (const wire::EncodedPart& part : parts.value()) {
    if (parts_left-- == 0) return false;
    v1::StreamBatchesResponse message;
    message.ParseFromString(part.prefix +
                            std::string(reinterpret_cast<const char*>(part.body.data()), part.body.size()));
    writer.Write(message);
  }
  return true;
}

}  // namespace

grpc::Status ScriptedInfo::GetServerInfo(grpc::ServerContext*, const v1::GetServerInfoRequest*,
                                         v1::GetServerInfoResponse* response) {
  response->set_version("9.9.9");
  response->set_api(api_);
  return grpc::Status::OK;
}

BuiltBatch BuildBatch(std::uint64_t epoch, std::uint64_t step, std::uint64_t epoch_steps) {
  BuiltBatch batch;
  AddSection<std::uint64_t>(batch, "graph_index", wire::DType::kU64, {2}, {2 * step, 2 * step + 1});
  AddSection<std::uint32_t>(batch, "n_node", wire::DType::kU32, {2}, {2, 3});
  AddSection<std::uint32_t>(batch, "n_edge", wire::DType::kU32, {2}, {2, 6});
  AddSection<float>(batch, "x", wire::DType::kF32, {5, kNodeFloats},
                    std::vector<float>(5 * kNodeFloats, static_cast<float>(epoch * 1000 + step)));
  batch.header.index = step;
  batch.header.step = step;
  batch.header.epoch = epoch;
  batch.header.epoch_steps = epoch_steps;
  batch.header.real = {2, 5, 8};
  batch.header.padded = {3, 64, 64};
  batch.header.fingerprint = "f00d";
  batch.header.body_bytes = batch.body.size();
  batch.header.body_crc32c = base::Crc32c(batch.body);
  return batch;
}

ScriptedBatches::Call ScriptedBatches::NextCall(const v1::StreamBatchesRequest& request) {
  base::MutexLock lock(mutex_);
  requests_.push_back(request);
  if (calls_.empty()) return {};
  Call call = calls_.front();
  calls_.pop_front();
  return call;
}

grpc::Status ScriptedBatches::StreamBatches(grpc::ServerContext* context,
                                            const v1::StreamBatchesRequest* request,
                                            grpc::ServerWriter<v1::StreamBatchesResponse>* writer) {
  Call call = NextCall(*request);
  std::uint64_t step = request->start_step() + call.skip_steps;
  std::uint64_t epoch = request->start_epoch();
  while (request->epochs() == 0 || epoch < request->start_epoch() + request->epochs()) {
    for (; step < epoch_steps_ && !context->IsCancelled(); ++step) {
      BuiltBatch batch = BuildBatch(epoch, step, epoch_steps_);
      batch.header.fingerprint = call.fingerprint;
      if (call.corrupt) batch.body.back() ^= std::byte{1};
      if (!WriteParts(batch.header, batch.body, request->max_message_bytes(), call.parts, *writer))
        return call.end;
    }
    if (context->IsCancelled()) return grpc::Status::CANCELLED;
    step = 0;
    ++epoch;
  }
  return grpc::Status::OK;
}

std::vector<v1::StreamBatchesRequest> ScriptedBatches::requests() const {
  base::MutexLock lock(mutex_);
  return requests_;
}

void ScriptedRuns::AnswerSteps(std::deque<grpc::Status> answers) {
  base::MutexLock lock(mutex_);
  answers_ = std::move(answers);
}

void ScriptedRuns::Hold() {
  base::MutexLock lock(mutex_);
  held_ = true;
}

void ScriptedRuns::Release() {
  base::MutexLock lock(mutex_);
  held_ = false;
  changed_.NotifyAll();
}

void ScriptedRuns::WaitForStepCalls(std::size_t calls) {
  base::MutexLock lock(mutex_);
  while (step_calls_.size() < calls) changed_.Wait(mutex_);
}

std::vector<std::uint64_t> ScriptedRuns::steps() const {
  base::MutexLock lock(mutex_);
  std::vector<std::uint64_t> steps;
  for (const v1::ReportStepsRequest& call : step_calls_) {
    steps.insert(steps.end(), call.steps().step().begin(), call.steps().step().end());
  }
  return steps;
}

std::vector<v1::ReportStepsRequest> ScriptedRuns::step_calls() const {
  base::MutexLock lock(mutex_);
  return step_calls_;
}

std::vector<v1::Evaluation> ScriptedRuns::evaluations() const {
  base::MutexLock lock(mutex_);
  return evaluations_;
}

std::vector<v1::Sample> ScriptedRuns::samples() const {
  base::MutexLock lock(mutex_);
  return samples_;
}

std::vector<v1::Event> ScriptedRuns::events() const {
  base::MutexLock lock(mutex_);
  return events_;
}

std::vector<v1::ReportCorruptGraphsRequest> ScriptedRuns::corrupt_graphs() const {
  base::MutexLock lock(mutex_);
  return corrupt_graphs_;
}

std::vector<v1::StartRunRequest> ScriptedRuns::starts() const {
  base::MutexLock lock(mutex_);
  return starts_;
}

std::vector<v1::ReportLostRecordsRequest> ScriptedRuns::losses() const {
  base::MutexLock lock(mutex_);
  return losses_;
}

std::vector<v1::FinishRunRequest> ScriptedRuns::finishes() const {
  base::MutexLock lock(mutex_);
  return finishes_;
}

grpc::Status ScriptedRuns::StartRun(grpc::ServerContext*, const v1::StartRunRequest* request,
                                    v1::StartRunResponse* response) {
  base::MutexLock lock(mutex_);
  starts_.push_back(*request);
  response->set_run("r1");
  response->set_attempt(4);
  return grpc::Status::OK;
}

grpc::Status ScriptedRuns::ReportSteps(grpc::ServerContext*, const v1::ReportStepsRequest* request,
                                       v1::ReportStepsResponse* response) {
  base::MutexLock lock(mutex_);
  step_calls_.push_back(*request);
  changed_.NotifyAll();
  while (held_) changed_.Wait(mutex_);
  response->set_last_step(request->steps().step(request->steps().step_size() - 1));
  if (answers_.empty()) return grpc::Status::OK;
  grpc::Status answer = answers_.front();
  answers_.pop_front();
  return answer;
}

grpc::Status ScriptedRuns::ReportEvaluation(grpc::ServerContext*, const v1::ReportEvaluationRequest* request,
                                            v1::ReportEvaluationResponse*) {
  base::MutexLock lock(mutex_);
  evaluations_.push_back(request->evaluation());
  return grpc::Status::OK;
}

grpc::Status ScriptedRuns::ReportSamples(grpc::ServerContext*, const v1::ReportSamplesRequest* request,
                                         v1::ReportSamplesResponse*) {
  base::MutexLock lock(mutex_);
  samples_.insert(samples_.end(), request->samples().begin(), request->samples().end());
  return grpc::Status::OK;
}

grpc::Status ScriptedRuns::ReportEvents(grpc::ServerContext*, const v1::ReportEventsRequest* request,
                                        v1::ReportEventsResponse*) {
  base::MutexLock lock(mutex_);
  events_.insert(events_.end(), request->events().begin(), request->events().end());
  return grpc::Status::OK;
}

grpc::Status ScriptedRuns::ReportCorruptGraphs(grpc::ServerContext*,
                                               const v1::ReportCorruptGraphsRequest* request,
                                               v1::ReportCorruptGraphsResponse*) {
  base::MutexLock lock(mutex_);
  corrupt_graphs_.push_back(*request);
  return grpc::Status::OK;
}

grpc::Status ScriptedRuns::ReportLostRecords(grpc::ServerContext*, const v1::ReportLostRecordsRequest* request,
                                             v1::ReportLostRecordsResponse*) {
  base::MutexLock lock(mutex_);
  losses_.push_back(*request);
  return grpc::Status::OK;
}

grpc::Status ScriptedRuns::FinishRun(grpc::ServerContext*, const v1::FinishRunRequest* request,
                                     v1::FinishRunResponse*) {
  base::MutexLock lock(mutex_);
  finishes_.push_back(*request);
  return grpc::Status::OK;
}

void ScriptedRuns::CutListings(std::deque<std::size_t> blocks) {
  base::MutexLock lock(mutex_);
  cuts_ = std::move(blocks);
}

grpc::Status ScriptedRuns::ListRuns(grpc::ServerContext*, const v1::ListRunsRequest* request,
                                    v1::ListRunsResponse* response) {
  const std::string& token = request->page_token();
  response->add_runs()->set_run("run" + token);
  if (token.size() < 2) response->set_next_page_token(token + "'");
  if (request->where() == "endless") response->set_next_page_token("'");
  return grpc::Status::OK;
}

std::optional<std::size_t> ScriptedRuns::NextCut() {
  base::MutexLock lock(mutex_);
  if (cuts_.empty()) return std::nullopt;
  const std::size_t cut = cuts_.front();
  cuts_.pop_front();
  return cut;
}

grpc::Status ScriptedRuns::ListSteps(grpc::ServerContext*, const v1::ListStepsRequest*,
                                     grpc::ServerWriter<v1::ListStepsResponse>* writer) {
  const std::optional<std::size_t> cut = NextCut();
  std::size_t sent = 0;
  for (const v1::ReportStepsRequest& call : step_calls()) {
    if (sent++ == cut) break;
    v1::ListStepsResponse response;
    response.set_rank(call.rank());
    *response.mutable_steps() = call.steps();
    writer->Write(response);
  }
  return cut ? grpc::Status(grpc::StatusCode::UNAVAILABLE, "draining") : grpc::Status::OK;
}

grpc::Status ScriptedDatasets::ImportGraphs(grpc::ServerContext*,
                                            grpc::ServerReader<v1::ImportGraphsRequest>* reader,
                                            v1::ImportGraphsResponse* response) {
  if (grpc::Status answer = NextAnswer(); !answer.ok()) return answer;
  v1::ImportGraphsRequest request;
  std::uint64_t graphs = 0;
  for (std::size_t block = 0; reader->Read(&request);) {
    if (!request.has_block()) continue;
    if (block++ == refused_block_) {
      return grpc::Status(grpc::StatusCode::INVALID_ARGUMENT, "graph 17: position is not finite");
    }
    graphs += static_cast<std::uint64_t>(request.block().n_node_size());
  }
  response->set_import_id("import-1");
  response->set_received(graphs);
  response->set_staged(graphs);
  return grpc::Status::OK;
}

grpc::Status ScriptedDatasets::SealDataset(grpc::ServerContext*, const v1::SealDatasetRequest* request,
                                           v1::SealDatasetResponse* response) {
  response->mutable_dataset()->set_name(request->name());
  return NextAnswer();
}

grpc::Status ScriptedDatasets::DeleteDataset(grpc::ServerContext*, const v1::DeleteDatasetRequest*,
                                             v1::DeleteDatasetResponse*) {
  return NextAnswer();
}

grpc::Status ScriptedDatasets::ExportDataset(grpc::ServerContext*, const v1::ExportDatasetRequest*,
                                             grpc::ServerWriter<v1::ExportDatasetResponse>* writer) {
  v1::ExportDatasetResponse message;
  message.mutable_columns()->add_source_ids("\xff");
  message.mutable_columns()->add_columns()->set_data(std::string(100'000, 'x'));
  while (writer->Write(message)) continue;
  return grpc::Status::CANCELLED;
}

void ScriptedDatasets::AnswerWith(std::deque<grpc::Status> statuses) {
  const base::MutexLock lock(mutex_);
  answers_ = std::move(statuses);
}

std::size_t ScriptedDatasets::calls() const {
  const base::MutexLock lock(mutex_);
  return calls_;
}

grpc::Status ScriptedDatasets::NextAnswer() {
  const base::MutexLock lock(mutex_);
  ++calls_;
  if (answers_.empty()) return grpc::Status::OK;
  grpc::Status answer = answers_.front();
  answers_.pop_front();
  return answer;
}

grpc::Status NoMemoryYet() {
  return base::ToGrpcStatus(base::WithRetryDelay(
      base::WithReason(absl::ResourceExhaustedError("the memory is in use"), base::kMemoryLimit),
      std::chrono::milliseconds(1)));
}

grpc::Status ScriptedDatasets::GetDataset(grpc::ServerContext*, const v1::GetDatasetRequest* request,
                                          v1::GetDatasetResponse* response) {
  if (request->dataset() != "qm9") {
    return grpc::Status(grpc::StatusCode::NOT_FOUND, absl::StrCat("no data set ", request->dataset()));
  }
  v1::Dataset& dataset = *response->mutable_dataset();
  dataset.set_name("qm9");
  dataset.set_version("abc");
  dataset.set_graphs(10);
  v1::Target& target = *dataset.mutable_schema()->add_targets();
  target.set_name("energy");
  target.set_unit("eV");
  v1::Split& all = *dataset.add_splits();
  all.set_name("all");
  all.set_graphs(10);
  v1::TargetStatistics& statistics = *all.add_targets();
  statistics.set_target("energy");
  statistics.set_count(9);
  statistics.set_mean(-3.5);
  statistics.set_stddev(0.25);
  statistics.set_median(-3.25);
  all.set_mean_log_degree(1.25);
  v1::Field& token = *dataset.mutable_schema()->add_fields();
  token.set_name("token");
  v1::Vocabulary& tokens = *dataset.mutable_schema()->add_vocabularies();
  tokens.set_field("token");
  for (const char* word : {"a", "b", "c"}) tokens.add_words(word);
  for (const std::uint64_t graphs : {1, 7, 2}) tokens.add_graphs(graphs);
  dataset.add_classes(1);
  dataset.add_classes(6);
  return grpc::Status::OK;
}

grpc::Status ScriptedPlans::GetPlan(grpc::ServerContext*, const v1::GetPlanRequest* request,
                                    v1::GetPlanResponse* response) {
  response->set_batches(7);
  response->set_steps(4);
  if (request->spec().policy() == v1::POLICY_DYNAMIC) {
    response->mutable_budget()->set_graphs(8);
    response->mutable_budget()->set_nodes(64);
    response->mutable_budget()->set_edges(128);
    v1::Shape& shape = *response->add_shapes()->mutable_shape();
    shape.set_graphs(9);
    shape.set_nodes(64);
    shape.set_edges(128);
  }
  response->set_fingerprint(absl::StrCat("plan-", request->world_size(), "-", request->epoch()));
  return grpc::Status::OK;
}

InProcessServer::InProcessServer(const std::vector<grpc::Service*>& services, int port) {
  grpc::ServerBuilder builder;
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.AddListeningPort(absl::StrCat(kHost, ":", port), grpc::InsecureServerCredentials(), &port_);
  for (grpc::Service* service : services) builder.RegisterService(service);
  server_ = builder.BuildAndStart();
}

std::string InProcessServer::address() const { return absl::StrCat(kHost, ":", port_); }

void InProcessServer::Shutdown() { server_->Shutdown(std::chrono::system_clock::now()); }

client::ConnectionOptions OptionsFor(const std::string& address, std::chrono::milliseconds give_up) {
  client::ConnectionOptions options;
  options.server = address;
  options.give_up = give_up;
  return options;
}

}  // namespace packtrain::testing
