// Converts a reading to families with the names that dashboards and alerts rely on.
#ifndef PACKTRAIN_SERVER_METRICS_FAMILIES_H_
#define PACKTRAIN_SERVER_METRICS_FAMILIES_H_

#include <prometheus/metric_family.h>

#include <vector>

#include "server/metrics/server_reading.h"

namespace packtrain::metrics {

std::vector<prometheus::MetricFamily> ToFamilies(const ServerReading& reading);

}  // namespace packtrain::metrics

#endif  // PACKTRAIN_SERVER_METRICS_FAMILIES_H_
