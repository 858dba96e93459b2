"""The dashboard and the alert rules name metrics that packtraind exports, by labels that those have."""
import json
import pathlib
import re
import sys
import unittest

import scrape

MONITORING = pathlib.Path(sys.argv.pop())
NAME = re.compile(r"\b(?:packtrain|process)_[a-z0-9_]+")
PARTS = {"histogram": ("_bucket", "_sum", "_count"), "summary": ("", "_sum", "_count")}


def exported_series():
    return {name + part for name, kind in scrape.families().items() for part in PARTS.get(kind, ("",))}


class Monitoring(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.exported = exported_series()

    def check(self, expressions):
        named = {name for expression in expressions for name in NAME.findall(expression)}
        self.assertGreater(len(named), 5)
        self.assertLessEqual(named, self.exported)

    def test_each_metric_of_the_dashboard_is_exported(self):
        board = json.loads((MONITORING / "grafana_dashboard.json").read_text())
        self.check(target["expr"] for panel in board["panels"] for target in panel["targets"])

    def test_each_metric_of_the_alert_rules_is_exported(self):
        lines = (MONITORING / "alert_rules.yml").read_text().splitlines()
        self.check(line for line in lines if not line.lstrip().startswith(("#", "-", "summary:")))

    def test_the_names_that_are_documented_are_exported(self):
        for name in ("packtrain_batches_sent_total", "packtrain_batch_build_duration_seconds_bucket",
                     "packtrain_padding_ratio_bucket", "packtrain_stream_queue_bytes",
                     "packtrain_oversize_graphs_total", "packtrain_corrupt_graphs_total",
                     "packtrain_step_duration_seconds_bucket", "packtrain_build_info"):
            self.assertIn(name, self.exported)


if __name__ == "__main__":
    unittest.main()
