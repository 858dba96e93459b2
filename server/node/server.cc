#include "server/node/server.h"

#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/impl/server_builder_option.h>
#include <grpcpp/impl/server_builder_plugin.h>
#include <grpcpp/resource_quota.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <algorithm>
#include <functional>
#include <future>
#include <optional>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "server/batches/build_ahead.h"
#include "server/batches/dataset_reclaimer.h"
#include "server/batching/spec_rules.h"
#include "server/metrics/exposer.h"
#include "server/node/call_counter.h"
#include "server/node/connection_meter.h"
#include "server/node/descriptor_limit.h"
#include "server/node/listen_address.h"
#include "server/node/listener.h"
#include "server/node/memory_shares.h"
#include "server/node/open_stores.h"
#include "server/node/option_checks.h"
#include "server/node/replica_graph_store.h"
#include "server/node/replicator.h"
#include "server/serving/admin_service.h"
#include "server/serving/batch_service.h"
#include "server/serving/bench_service.h"
#include "server/serving/dataset_service.h"
#include "server/serving/plan_service.h"
#include "server/serving/run_service.h"
#include "server/serving/server_info_service.h"

namespace packtrain::node {
namespace {

using std::chrono::milliseconds;

// The health of the data sets: NOT_SERVING while any that was sealed here is lost. The services go on.
constexpr char kStoresHealth[] = "packtrain.stores";
// Bounds of what a client that is not known can make the server hold: calls of one connection, threads of all
// synchronous calls, and the time until a connection has begun to speak HTTP/2.
constexpr int kMaxCallsOfConnection = 1'000;
constexpr int kMaxThreads = 2'000;
constexpr milliseconds kHandshake{20'000};
// The time that connections have for their last writes when the server ends.
constexpr milliseconds kLastWrites{1'000};

// Keepalive, a pair with the client's: a client may ping every 10 s, also while it has no call open. Clients
// ping every 30 s.
constexpr milliseconds kMinClientPingInterval{10'000};

int BuildersOf(const ServerOptions& options) {
  if (options.builders > 0) return options.builders;
  return static_cast<int>(std::max(std::thread::hardware_concurrency(), 1u));
}

v1::Limits LimitsOf(const ServerOptions& options, const limits::MemoryBudget& memory) {
  v1::Limits limits;
  limits.set_max_receive_message_bytes(ReceivedMessageBytes(options, memory));
  limits.set_max_batch_bytes(options.max_batch_bytes);
  limits.set_max_streams(options.max_streams);
  limits.set_builders(static_cast<std::uint32_t>(BuildersOf(options)));
  return limits;
}

std::vector<std::string> FeaturesOf(const ServerOptions& options) {
  std::vector<std::string> features;
  if (options.enable_bench) features.push_back("bench");
  if (!options.replica_of.empty()) features.push_back("replica");
  return features;
}

// Which runs pin a data set: those that are running on it. `runs` is borrowed.
batches::DatasetReclaimer::RunningRuns RunningRunsIn(const runs::RunStore& runs) {
  return [&runs](std::string_view dataset) -> absl::StatusOr<std::vector<std::string>> {
    std::vector<std::string> running;
    ABSL_RETURN_IF_ERROR(runs.ListAfter(runs::kListBegin, [&](runs::ListPosition, const v1::Run& run) {
      const bool pins = run.state() == v1::RUN_STATE_RUNNING && run.description().dataset() == dataset;
      if (pins) running.push_back(run.run());
      return true;
    }));
    return running;
  };
}

absl::Status MayStartRuns(const ServerOptions& options) {
  return options.replica_of.empty() ? absl::OkStatus() : WrittenAtPrimary(options.replica_of);
}

// What is held before a store is touched.
struct Addresses {
  std::unique_ptr<Listener> listener;
  std::unique_ptr<metrics::Exposer> exposer;  // null: no scrapes
};

void SetKeepalive(const ServerOptions& options, grpc::ServerBuilder& builder) {
  const auto set = [&builder](const char* name, milliseconds value) {
    builder.AddChannelArgument(name, static_cast<int>(value.count()));
  };
  set(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, kMinClientPingInterval);
  set(GRPC_ARG_KEEPALIVE_TIME_MS, options.ping_after);
  set(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, options.ping_timeout);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  // gRPC stops pinging after two without data, though a stream that nobody reads sends none.
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
}

// Of data sets that are stored; nullopt where the store cannot say.
std::optional<std::set<std::string>> NamesIn(const storage::GraphStore& store) {
  std::set<std::string> names;
  const absl::Status listed = store.ListAfter("", [&names](const v1::Dataset& dataset) {
    names.insert(dataset.name());
    return true;
  });
  if (!listed.ok()) return std::nullopt;
  return names;
}

// What gRPC serves, and what that stands on. Members are destroyed in reverse order.
class GrpcServer final : public Server {
 public:
  GrpcServer(const ServerOptions& options, Stores stores)
      : memory_(stores.memory != nullptr ? stores.memory : BudgetOf(options)),
        fixed_(TakeFixedParts(*memory_)),
        bodies_(wire::BodyPool::Create(KeptBodyBytes(memory_->cap_bytes()))),
        bounds_(memory_, {.max_bytes = InboundBytes(*memory_),
                          .max_message_bytes = ReceivedMessageBytes(options, *memory_),
                          .meter = &connections_}),
        stores_(std::move(stores)),
        replica_(*stores_.graphs, options.replica_of),
        graphs_(options.replica_of.empty() ? *stores_.graphs : replica_),
        residents_(options.resident_bytes, memory_),
        plans_(options.plan_cache_bytes, memory_,
               [this](std::size_t tasks, const std::function<void(std::size_t)>& run) {
                 planners_.RunAll(tasks, run);
               }),
        shared_(KeptBodyBytes(memory_->cap_bytes()), *memory_),
        planners_(BuildersOf(options)),
        builders_(BuildersOf(options)),
        idle_(options.idle_timeout),
        reclaimer_(graphs_, RunningRunsIn(*stores_.runs), residents_, plans_),
        dataset_service_(bounds_, graphs_, reclaimer_, idle_, options.max_message_bytes, memory_,
                         {.idle_limit = options.idle_timeout}),
        plan_service_(bounds_, graphs_, plans_, options.max_batch_bytes, {memory_, bodies_}),
        batch_service_({.store = graphs_,
                        .residents = residents_,
                        .plans = plans_,
                        .shared = shared_,
                        .builders = builders_,
                        .planners = planners_,
                        .corrupt_log = corrupt_log_,
                        .memory = {memory_, bodies_},
                        .window_bytes = StreamWindowBytes(options, *memory_),
                        .max_batch_bytes = options.max_batch_bytes,
                        .max_part_bytes = options.max_message_bytes},
                       options.max_streams, idle_),
        run_service_(bounds_, *stores_.runs, options.max_message_bytes, idle_, MayStartRuns(options)),
        server_info_service_(
            bounds_, LimitsOf(options, *memory_), FeaturesOf(options), [this] { return ReadMemory(); },
            [this] { return ReadDisk(); }),
        admin_service_(bounds_, stores_.check, idle_) {
    if (!options.replica_of.empty()) {
      replicator_.emplace(*stores_.graphs, memory_,
                          ReplicatorOptions{.primary = options.replica_of,
                                            .process_id = server_info_service_.process_id(),
                                            .max_message_bytes = options.max_message_bytes});
    }
    if (options.enable_bench) bench_service_.emplace(options.max_message_bytes, memory_);
  }

  ~GrpcServer() override { Drain(milliseconds(0)); }

  absl::Status Serve(const ServerOptions& options, Addresses addresses);
  const std::string& address() const override { return address_; }
  const std::string& metrics_address() const override { return metrics_address_; }
  bool Drain(milliseconds patience) override;

 private:
  // Takes no connection any more and closes those there are, also those whose peers do not read.
  void EndConnections();
  metrics::ServerReading Read();
  metrics::MemoryReading ReadMemory() const;
  metrics::DiskReading ReadDisk() const { return stores_.disk ? stores_.disk() : metrics::DiskReading(); }
  std::vector<const char*> ServiceNames() const {
    std::vector<const char*> names = {
        v1::DatasetService::service_full_name(),    v1::PlanService::service_full_name(),
        v1::BatchService::service_full_name(),      v1::RunService::service_full_name(),
        v1::ServerInfoService::service_full_name(), v1::AdminService::service_full_name()};
    if (bench_service_.has_value()) names.push_back(v1::BenchService::service_full_name());
    return names;
  }
  std::vector<grpc::Service*> Services() {
    std::vector<grpc::Service*> services = {&dataset_service_, &plan_service_,        &batch_service_,
                                            &run_service_,     &server_info_service_, &admin_service_};
    if (bench_service_.has_value()) services.push_back(&*bench_service_);
    return services;
  }

  const std::shared_ptr<limits::MemoryBudget> memory_;
  const std::vector<limits::MemoryBudget::Reservation> fixed_;
  const std::shared_ptr<wire::BodyPool> bodies_;
  ConnectionMeter connections_;
  serving::CallBounds bounds_;
  CallCounter calls_;
  const Stores stores_;
  ReplicaGraphStore replica_;    // what clients of a replica read
  storage::GraphStore& graphs_;  // what clients read and write
  batches::ResidentDatasets residents_;
  batches::PlanCache plans_;
  batches::SharedBatches shared_;
  batches::CorruptGraphLog corrupt_log_;
  batches::WorkerPool planners_;
  batches::WorkerPool builders_;
  serving::IdleWatch idle_;
  batches::DatasetReclaimer reclaimer_;
  serving::DatasetService dataset_service_;
  serving::PlanService plan_service_;
  serving::BatchService batch_service_;
  serving::RunService run_service_;
  serving::ServerInfoService server_info_service_;
  serving::AdminService admin_service_;
  std::optional<serving::BenchService> bench_service_;
  std::optional<Replicator> replicator_;
  std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> acceptor_;
  std::unique_ptr<grpc::Server> server_;
  std::unique_ptr<Listener> listener_;
  std::string address_;
  std::string metrics_address_;
  std::unique_ptr<metrics::Exposer> exposer_;
};

// Takes reflection away from one server; gRPC gives it to all of a process that links it.
class NoReflection final : public grpc::ServerBuilderOption {
 public:
  void UpdateArguments(grpc::ChannelArguments*) override {}
  void UpdatePlugins(std::vector<std::unique_ptr<grpc::ServerBuilderPlugin>>* plugins) override {
    const std::string name = grpc::reflection::ProtoServerReflectionPlugin().name();
    std::erase_if(*plugins, [&name](const auto& plugin) { return plugin->name() == name; });
  }
};

void SetLimits(const ServerOptions& options, const limits::MemoryBudget& memory, grpc::ServerBuilder& builder) {
  builder.SetMaxReceiveMessageSize(static_cast<int>(ReceivedMessageBytes(options, memory)));
  builder.SetMaxSendMessageSize(static_cast<int>(options.max_message_bytes));
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, kMaxCallsOfConnection);
  // Windows stay as they are, so that of each call gRPC holds 64 KiB at most beside the message that is read.
  builder.AddChannelArgument(GRPC_ARG_HTTP2_BDP_PROBE, 0);
  // So that a message holds no more than it brings (serving::InboundLimit).
  for (const grpc_compression_algorithm algorithm : {GRPC_COMPRESS_DEFLATE, GRPC_COMPRESS_GZIP}) {
    builder.SetCompressionAlgorithmSupportStatus(algorithm, false);
  }
  builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, static_cast<int>(kHandshake.count()));
  grpc::ResourceQuota quota;
  quota.SetMaxThreads(kMaxThreads);
  quota.Resize(memory.max_bytes(limits::MemoryPart::kTransport));
  builder.SetResourceQuota(quota);
}

metrics::MemoryReading GrpcServer::ReadMemory() const {
  metrics::MemoryReading reading;
  reading.cap_bytes = memory_->cap_bytes();
  reading.resident_dataset_bytes = residents_.loaded_bytes();
  for (const limits::MemoryBudget::PartUse& part : memory_->parts()) {
    reading.parts.push_back({std::string(part.name), part.max_bytes, part.used_bytes});
    reading.used_bytes += part.used_bytes;
  }
  return reading;
}

metrics::ServerReading GrpcServer::Read() {
  metrics::ServerReading reading;
  reading.version = PACKTRAIN_VERSION;
  reading.api = serving::kApi;
  reading.plan_version = batching::kPlanVersion;
  reading.datasets = NamesIn(*stores_.graphs);
  reading.streams = batch_service_.Read(reading.datasets);
  if (bench_service_.has_value()) {
    for (const auto& [code, refused] : bench_service_->refused()) reading.streams.ended[code] += refused;
  }
  reading.memory = ReadMemory();
  reading.disk = ReadDisk();
  reading.oversize = plans_.oversize();
  reading.plans = plans_.planned();
  if (stores_.steps != nullptr) reading.steps = stores_.steps->Read();
  if (stores_.databases) reading.databases = stores_.databases();
  reading.process = metrics::ReadProcess();
  return reading;
}

absl::Status GrpcServer::Serve(const ServerOptions& options, Addresses addresses) {
  ABSL_ASSIGN_OR_RETURN(const int descriptors, DescriptorsForConnections());
  grpc::EnableDefaultHealthCheckService(true);
  grpc::reflection::InitProtoReflectionServerBuilderPlugin();
  grpc::ServerBuilder builder;
  if (!options.reflection) builder.SetOption(std::make_unique<NoReflection>());
  SetLimits(options, *memory_, builder);
  SetKeepalive(options, builder);
  acceptor_ = builder.experimental().AddExternalConnectionAcceptor(
      grpc::ServerBuilder::experimental_type::ExternalConnectionType::FROM_FD,
      grpc::InsecureServerCredentials());
  std::vector<std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface>> interceptors;
  interceptors.push_back(calls_.NewInterceptors());
  builder.experimental().SetInterceptorCreators(std::move(interceptors));
  for (grpc::Service* service : Services()) builder.RegisterService(service);
  server_ = builder.BuildAndStart();
  if (server_ == nullptr) return absl::InternalError("gRPC could not start; its log has the reason");
  for (const char* name : ServiceNames()) server_->GetHealthCheckService()->SetServingStatus(name, true);
  if (stores_.watch_lost) {
    stores_.watch_lost([health = server_->GetHealthCheckService()](bool any_lost) {
      health->SetServingStatus(kStoresHealth, !any_lost);
    });
  }
  if (addresses.exposer != nullptr) {
    exposer_ = std::move(addresses.exposer);
    metrics_address_ = exposer_->address();
    exposer_->Serve([this] { return Read(); });
  }
  listener_ = std::move(addresses.listener);
  address_ = listener_->address().ToString();
  return listener_->Start(descriptors, [this](int socket, FileDescriptor connection) {
    grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters parameters;
    connections_.Add(connection.get());
    parameters.listener_fd = socket;
    parameters.fd = connection.Release();
    acceptor_->HandleNewConnection(&parameters);
  });
}

bool GrpcServer::Drain(milliseconds patience) {
  if (server_ == nullptr) return true;
  if (stores_.watch_lost) stores_.watch_lost(nullptr);
  const auto deadline = std::chrono::steady_clock::now() + patience;
  server_->GetHealthCheckService()->SetServingStatus(false);
  dataset_service_.Drain();
  admin_service_.Drain();
  batch_service_.Drain();
  plans_.EndPreparing();
  const bool streams_ended = batch_service_.AwaitNoStreams(deadline);
  const bool calls_ended = calls_.AwaitNone(deadline);
  memory_->EndWaiting();
  EndConnections();
  return streams_ended && calls_ended;
}

void GrpcServer::EndConnections() {
  const ListenAddress address = listener_ == nullptr ? ListenAddress() : listener_->address();
  listener_.reset();
  std::promise<void> ended;
  std::thread last_resort([&address, done = ended.get_future()] {
    // gRPC waits for a write that is under way, which a peer that does not read holds up for ever.
    if (done.wait_for(kLastWrites) == std::future_status::timeout) CutOffConnections(address);
  });
  server_->Shutdown(std::chrono::system_clock::now());
  server_->Wait();
  server_.reset();
  ended.set_value();
  last_resort.join();
}

// Null where no metrics port is given.
absl::StatusOr<std::unique_ptr<metrics::Exposer>> StartExposer(const ServerOptions& options) {
  if (options.metrics_port.empty()) return std::unique_ptr<metrics::Exposer>();
  ABSL_ASSIGN_OR_RETURN(const ListenAddress address, ListenAddress::ParseMetricsPort(options.metrics_port));
  return metrics::Exposer::Start(address.host, address.port);
}

// What has to be in order before a store is touched.
absl::StatusOr<Addresses> Prepare(const ServerOptions& options) {
  ABSL_RETURN_IF_ERROR(CheckOptions(options));
  ABSL_RETURN_IF_ERROR(CheckPrimary(options));
  ABSL_ASSIGN_OR_RETURN(ListenAddress address, CheckAddress(options));
  ABSL_ASSIGN_OR_RETURN(std::unique_ptr<metrics::Exposer> exposer, StartExposer(options));
  ABSL_ASSIGN_OR_RETURN(std::unique_ptr<Listener> listener,
                        Listener::Bind(std::move(address), options.ping_after + options.ping_timeout));
  return Addresses{std::move(listener), std::move(exposer)};
}

absl::StatusOr<std::unique_ptr<Server>> Serve(const ServerOptions& options, Stores stores,
                                              Addresses addresses) {
  auto server = std::make_unique<GrpcServer>(options, std::move(stores));
  ABSL_RETURN_IF_ERROR(server->Serve(options, std::move(addresses)));
  return server;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Server>> Server::Start(const ServerOptions& options) {
  if (options.data.empty()) return absl::InvalidArgumentError("--data is missing: the folder of the stores");
  ABSL_ASSIGN_OR_RETURN(Addresses addresses, Prepare(options));
  ABSL_ASSIGN_OR_RETURN(Stores stores, OpenStores(options));
  return Serve(options, std::move(stores), std::move(addresses));
}

absl::StatusOr<std::unique_ptr<Server>> Server::Start(const ServerOptions& options, Stores stores) {
  ABSL_ASSIGN_OR_RETURN(Addresses addresses, Prepare(options));
  return Serve(options, std::move(stores), std::move(addresses));
}

}  // namespace packtrain::node
