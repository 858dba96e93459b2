// Converts a reading to families with the names that dashboards and alerts rely on. A new metric is a member of
// ServerReading, a family in families.cc, and a row of deploy/OPERATIONS.md.
#ifndef PACKTRAIN_SERVER_METRICS_FAMILIES_H_
#define PACKTRAIN_SERVER_METRICS_FAMILIES_H_

#include <prometheus/metric_family.h>

#include <vector>

#include "server/metrics/server_reading.h"

namespace packtrain::metrics {

std::vector<prometheus::MetricFamily> ToFamilies(const ServerReading& reading);

}  // namespace packtrain::metrics

#endif  // PACKTRAIN_SERVER_METRICS_FAMILIES_H_
