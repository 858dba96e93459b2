"""A training that is killed and resumed is the training that was never killed.

PACKTRAIN_ROUNDS sets how often it is killed at random moments (default 3), PACKTRAIN_SEED which moments those are.
"""
import csv
import io
import os
import pathlib
import random
import signal
import subprocess
import tempfile
import time
import unittest

from harness import DataNode, OnSmallSample, finished

ROUNDS = int(os.environ.get("PACKTRAIN_ROUNDS", "3"))
SEED = int(os.environ.get("PACKTRAIN_SEED") or random.SystemRandom().randrange(2**32))
STEPS = 60
# 320 graphs to train on, so 22 steps an epoch with one rank.
SPEC = ["--policy", "dynamic", "--graphs", "15"]
TRAINING = ["--dataset", "small", *SPEC, "--model", "schnet", "--lr", "1e-3", "--threads", "1", "--evaluate-every", "25"]
WHOLE = [*TRAINING, "--steps", STEPS]


def wait_until(process, condition):
    """Returns once `condition()` holds; false where the process ended before, or after five minutes."""
    deadline = time.monotonic() + 300
    while not condition():
        if time.monotonic() > deadline:
            return False
        try:
            process.wait(timeout=0.002)
            return condition()
        except subprocess.TimeoutExpired:
            pass
    return True


def wait_for_step(process):
    """Returns when the first step of the process has ended."""
    for line in process.stderr:
        if line.startswith("step "):
            return
    raise AssertionError("the trainer ended before its first step")


def kill(*processes):
    for process in processes:
        process.kill()
        process.communicate(timeout=60)


class Resume(OnSmallSample):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.unbroken, cls.seconds = {}, {}  # by the number of ranks

    def setUp(self):
        self.random = random.Random(f"{SEED} {self.id()}")
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name) / "checkpoints"
        self.file = self.folder / "checkpoint.bin"

    def shortDescription(self):
        return f"PACKTRAIN_SEED={SEED}"

    def start(self, *arguments, every=7, ranks=1):
        return self.node.start_training(*arguments, "--checkpoint", self.folder, "--checkpoint-every", every, "--resume",
                                        ranks=ranks)

    def finish(self, *arguments, ranks=1, every=7):
        """Resumes and expects the end of the training; returns its last line."""
        results = [finished(process) for process in self.start(*arguments, ranks=ranks, every=every)]
        for result in results:
            self.assertEqual(result.code, 0, result)
        return results[0].json

    def rows(self, run, *arguments):
        exported = self.node.run("run", "export", run, "--format", "csv", *arguments, json_output=False)
        self.assertEqual(exported.code, 0, exported)
        return list(csv.DictReader(io.StringIO(exported.out)))

    def losses(self, run, ranks=1, steps=STEPS):
        """The loss of each (rank, step), having checked that each is there once."""
        rows = self.rows(run)
        places = [(int(row["rank"]), int(row["step"])) for row in rows]
        self.assertEqual(sorted(places), [(rank, step) for rank in range(ranks) for step in range(steps)])
        return {place: row["loss"] for place, row in zip(places, rows)}

    def expected(self, ranks=1):
        """Last line and losses of a training that nothing broke."""
        if ranks not in self.unbroken:
            processes = self.node.start_training(*WHOLE, ranks=ranks)
            wait_for_step(processes[0])
            begun = time.monotonic()
            result = [finished(process) for process in processes][0]
            self.assertEqual(result.code, 0, result)
            self.seconds[ranks] = time.monotonic() - begun
            self.unbroken[ranks] = result.json, self.losses(result.json["run"], ranks)
        return self.unbroken[ranks]

    def assert_as_unbroken(self, result, ranks=1):
        """Every bit of the losses and of what follows from the model; the run was stopped before it ended."""
        expected, losses = self.expected(ranks)
        self.assertEqual(self.losses(result["run"], ranks), losses)
        for key in ("steps", "graphs", "loss", "val", "test"):
            self.assertEqual(result[key], expected[key], key)
        shown = self.node.run("run", "list", "--where", f"state = done and world_size = {ranks}").json
        self.assertIn(result["run"], [run["run"] for run in shown])

    def kill_at_random(self, process):
        """After the first step, at any moment of the time that a whole training takes."""
        wait_for_step(process)
        try:
            process.wait(timeout=self.random.uniform(0, self.seconds[1]))
        except subprocess.TimeoutExpired:
            pass
        kill(process)

    def test_killed_at_random_moments(self):
        self.expected()
        for number in range(ROUNDS):
            with self.subTest(round=number):
                self.folder = self.folder.with_name(f"round{number}")
                for _ in range(self.random.randint(1, 2)):
                    self.kill_at_random(*self.start(*WHOLE))
                self.assert_as_unbroken(self.finish(*WHOLE))

    def test_killed_twice_in_one_epoch(self):
        for behind in (3, 9):
            (process,) = self.start(*WHOLE, every=3)
            self.assertTrue(wait_until(process, lambda: self.steps_kept() >= behind))
            kill(process)
            self.assertLess(self.steps_kept(), 22)
        self.assert_as_unbroken(self.finish(*WHOLE))

    def test_killed_at_an_epochs_edge(self):
        epoch = self.node.run("plan", "--dataset", "small", *SPEC).json["steps"]
        (process,) = self.start(*WHOLE, every=epoch)
        self.assertTrue(wait_until(process, self.file.exists))
        kill(process)
        self.assertEqual(self.steps_kept() % epoch, 0)
        result = self.finish(*WHOLE)
        self.assert_as_unbroken(result)
        first = [row for row in self.rows(result["run"]) if row["attempt"] == "1"][0]
        self.assertEqual((int(first["step"]) % epoch, first["batch_index"]), (0, "0"))

    def steps_kept(self):
        """Of the checkpoint; 0: there is none. See trainer/CHECKPOINT.md."""
        if not self.file.exists():
            return 0
        content = self.file.read_bytes()[20:]

        def number():
            nonlocal content
            value, content = int.from_bytes(content[:8], "little"), content[8:]
            return value

        def skip_text():
            nonlocal content
            size = number()
            content = content[size:]

        for _ in range(2 * number() + 2):
            skip_text()
        return number()

    def test_goes_on_in_the_same_precision_alone(self):
        short, whole = [*TRAINING, "--steps", 20, "--precision", "bf16"], [*WHOLE, "--precision", "bf16"]
        self.finish(*short)
        refused = finished(*self.start(*WHOLE))
        self.assertEqual(refused.code, 1, refused)
        self.assertIn("--precision was 'bf16' and is 'f32'", refused.err)
        resumed = self.finish(*whole)
        unbroken = finished(*self.node.start_training(*whole)).json
        for key in ("loss", "val", "test"):
            self.assertEqual(resumed[key], unbroken[key], key)
            self.assertNotEqual(resumed[key], self.expected()[0][key], key)

    def test_a_write_to_a_closed_connection_does_not_end_it(self):
        (process,) = self.start(*WHOLE)
        wait_for_step(process)
        process.send_signal(signal.SIGPIPE)
        result = finished(process)
        self.assertEqual(result.code, 0, result)
        self.assert_as_unbroken(result.json)

    def test_asked_to_stop(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            (process,) = self.start(*WHOLE, every=1000)
            wait_for_step(process)
            process.send_signal(number)
            stopped = finished(process)
            self.assertEqual(stopped.code, 1, stopped)
            self.assertIn("stopped by a signal", stopped.err)
            self.assertIn(f"checkpoint of {self.steps_kept()} steps", stopped.err)
        self.assert_as_unbroken(self.finish(*WHOLE))

    def test_two_signals_at_one_time_are_one(self):
        (process,) = self.start(*WHOLE)
        wait_for_step(process)
        process.send_signal(signal.SIGTERM)
        process.send_signal(signal.SIGINT)
        stopped = finished(process)
        self.assertEqual(stopped.code, 1, stopped)
        self.assertIn(f"checkpoint of {self.steps_kept()} steps", stopped.err)
        self.assert_as_unbroken(self.finish(*WHOLE))

    def test_a_later_signal_ends_it_at_once(self):
        processes = self.start(*WHOLE, every=1000, ranks=2)
        wait_for_step(processes[0])
        processes[1].send_signal(signal.SIGSTOP)  # rank 0 waits for it within a step
        try:
            processes[0].send_signal(signal.SIGTERM)
            time.sleep(1.1)
            processes[0].send_signal(signal.SIGINT)
            stopped = finished(processes[0])
        finally:
            kill(processes[1])
        self.assertEqual(stopped.code, 1, stopped)
        self.assertIn("ended at once by a second signal", stopped.err)
        self.assertEqual(self.steps_kept(), 0)
        self.assert_as_unbroken(self.finish(*WHOLE, ranks=2), ranks=2)

    def test_the_data_node_is_away_for_a_while(self):
        (process,) = self.start(*WHOLE)
        wait_for_step(process)
        self.restart_node_after(lambda: None)
        result = finished(process)
        self.assertEqual(result.code, 0, result)
        self.assert_as_unbroken(result.json)

    def test_killed_while_the_data_node_is_away(self):
        (process,) = self.start(*WHOLE)
        self.assertTrue(wait_until(process, self.file.exists))
        self.restart_node_after(lambda: kill(process))
        self.assert_as_unbroken(self.finish(*WHOLE))

    def test_gives_up_on_the_data_node_and_keeps_what_it_trained(self):
        (process,) = self.start(*WHOLE, "--give-up", 1, every=1000)
        wait_for_step(process)
        results = []
        self.restart_node_after(lambda: results.append(finished(process)))
        self.assertEqual(results[0].code, 3, results)
        self.assertEqual(results[0].err.count("--give-up"), 1, results)
        self.assertIn("--resume", results[0].err)
        self.assert_as_unbroken(self.finish(*WHOLE))

    def test_asked_to_stop_while_the_data_node_is_away(self):
        (process,) = self.start(*WHOLE, "--give-up", 3600, every=1000)
        wait_for_step(process)
        results = []

        def stop():
            process.send_signal(signal.SIGTERM)
            results.append(finished(process))

        self.restart_node_after(stop)
        self.assertEqual(results[0].code, 1, results)
        self.assertIn("stopped by a signal", results[0].err)
        self.assertIn("--resume", results[0].err)
        self.assert_as_unbroken(self.finish(*WHOLE))

    def restart_node_after(self, action):
        """Kills the data node, acts, and starts it on the same port over the same store."""
        self.node.process.kill()
        self.node.process.wait()
        self.node.process.stdout.close()
        try:
            action()
        finally:
            self.node.start(listen=self.node.address)

    def test_one_of_two_ranks_is_killed(self):
        for killed in (1, 0):
            processes = self.start(*WHOLE, every=4, ranks=2)
            self.assertTrue(wait_until(processes[0], lambda before=self.steps_kept(): self.steps_kept() > before))
            processes[killed].kill()
            results = [finished(process) for process in processes]
            self.assertEqual(results[1 - killed].code, 1, results)
            self.assertIn(f"rank {killed} is gone", results[1 - killed].err)
            self.assertNotIn("[c10d]", results[1 - killed].err)  # which goes on with a stack
        self.assert_as_unbroken(self.finish(*WHOLE, ranks=2), ranks=2)

    def test_one_of_two_ranks_is_asked_to_stop(self):
        for asked in (0, 1):
            processes = self.start(*WHOLE, every=1000, ranks=2)
            wait_for_step(processes[0])
            processes[asked].send_signal(signal.SIGTERM)
            results = [finished(process) for process in processes]
            self.assertEqual([result.code for result in results], [1, 1], results)
            self.assertIn(f"rank {asked} failed: stopped by a signal", results[1 - asked].err)
        self.assert_as_unbroken(self.finish(*WHOLE, ranks=2), ranks=2)

    def test_another_number_of_ranks_goes_on_with_the_rest_of_the_epoch(self):
        for worlds, balance in (((2, 1), "none"), ((1, 2), "none"), ((2, 1, 2), "cost")):
            with self.subTest(worlds=worlds, balance=balance):
                training = [*WHOLE, "--balance", balance]
                self.folder = self.folder.with_name("to".join(map(str, worlds)))
                self.file = self.folder / "checkpoint.bin"
                kept = [0]
                for ranks in worlds[:-1]:
                    processes = self.start(*training, every=3, ranks=ranks)
                    self.assertTrue(wait_until(processes[0], lambda: self.steps_kept() > kept[-1]))
                    kill(*processes)
                    kept.append(self.steps_kept())
                # Killed once more, before there is another checkpoint.
                processes = self.start(*training, every=1000, ranks=worlds[-1])
                wait_for_step(processes[0])
                kill(*processes)
                result = self.finish(*training, ranks=worlds[-1])
                self.assertEqual(result["steps"], STEPS)
                self.assert_first_epoch_is_whole(result["run"], [*kept, STEPS])

    def assert_first_epoch_is_whole(self, run, kept):
        """Each run goes on where the checkpoint of the one before is, `kept` steps, the last one to the end."""
        runs = {entry["run"]: entry for entry in self.node.run("run", "list").json}
        batches = []
        follower = None
        for begin, end in reversed(list(zip(kept, kept[1:]))):
            rows = self.rows(run)  # none stands in two runs, however far the former one had got
            shown = self.shown(run)
            self.assertEqual((shown["followed_by"], shown["followed_at_step"]), (follower, end if follower else None))
            self.assertEqual(runs[run]["steps"], end - begin)
            follower = run
            places = sorted((int(row["step"]), int(row["rank"])) for row in rows)
            ranks = range(runs[run]["world_size"])
            self.assertEqual(places, [(step, rank) for step in range(begin, end) for rank in ranks])
            batches += [row for row in rows if row["epoch"] == "0"]
            run = runs[run]["labels"].get("resumed_from")
        self.assertIsNone(run)
        self.assertEqual(sum(int(row["real_graphs"]) for row in batches), 320)
        self.assertEqual(sorted(int(row["batch_index"]) for row in batches), list(range(len(batches))))

    def test_a_training_that_is_done_says_so_again(self):
        result = self.finish(*WHOLE)
        self.assert_as_unbroken(result)
        again = self.finish(*WHOLE)
        self.assertEqual(again, result)
        self.assert_as_unbroken(again)

    def shown(self, run):
        return self.node.run("run", "show", run).json

    def test_more_steps_go_on(self):
        first = self.finish(*TRAINING, "--steps", 20)
        shown = self.shown(first["run"])
        self.assertEqual(shown["planned_steps"], 20)
        # Checkpoints behind 7, 14 and 20 steps.
        self.assertEqual({event["name"]: event["count"] for event in shown["events"]}, {"checkpoint": 3, "evaluation": 1})
        result = self.finish(*WHOLE)
        self.assertEqual(result["run"], first["run"])
        self.assertEqual(self.shown(first["run"])["planned_steps"], STEPS)
        self.assert_as_unbroken(result)

    def curve(self, run):
        return [(point["step"], point["split"], point["mae"]) for point in self.node.run("run", "curve", run).json]

    def kill_behind(self, steps, checkpoint, training=TRAINING):
        """Kills a training of 200 steps once the server has `steps` of it, and leaves the checkpoint of `checkpoint`."""
        (process,) = self.start(*training, "--steps", 200, every=checkpoint)
        self.assertTrue(wait_until(process, lambda: self.steps_kept() >= checkpoint))
        kept = self.file.read_bytes()
        run = self.node.run("run", "list").json[0]["run"]
        self.assertTrue(wait_until(process, lambda: self.shown(run)["steps"] >= steps))
        kill(process)
        self.file.write_bytes(kept)
        self.assertEqual(self.steps_kept(), checkpoint)
        return run

    def test_an_earlier_end_leaves_nothing_of_what_was_beyond(self):
        # Evaluated behind 25 and 50 steps, killed behind 65 or more, and resumed from step 49 to end behind 54.
        run = self.kill_behind(65, 49)
        result = self.finish(*TRAINING, "--steps", 54, every=1000)
        self.assertEqual(result["run"], run)
        shown = self.shown(run)
        self.assertEqual((shown["steps"], shown["whole"]["steps"], shown["end_step"]), (54, 54, 54))
        self.assertIn("54 of 54 steps", self.node.run("run", "show", run, json_output=False).out)
        self.assertEqual(len(self.rows(run)), 54)
        self.assertGreaterEqual(len(self.rows(run, "--all-attempts")), 65 + 5)
        unbroken = finished(*self.node.start_training(*TRAINING, "--steps", 54)).json
        self.assertEqual(self.curve(run), self.curve(unbroken["run"]))
        self.assertEqual({step for step, _, _ in self.curve(run)}, {25, 50, 54})

    def test_another_evaluate_every_leaves_no_evaluation_of_a_model_that_was_given_up(self):
        run = self.kill_behind(60, 21, [*TRAINING[:-1], 10])
        self.finish(*TRAINING, "--steps", 54, every=1000)
        self.assertEqual([step for step, split, _ in self.curve(run) if split == "val"], [10, 20, 25, 50, 54])

    def test_resumed_twice_counts_each_step_once(self):
        run = self.kill_behind(40, 21)
        (process,) = self.start(*TRAINING, "--steps", 200, every=1000)
        wait_for_step(process)
        kill(process)
        self.assert_as_unbroken(self.finish(*WHOLE, every=1000))
        self.assertEqual(self.shown(run)["steps"], STEPS)
        self.assertEqual(self.curve(run), self.curve(self.expected()[0]["run"]))

    def test_a_run_that_is_done_stays_done_in_another_world(self):
        first = self.finish(*TRAINING, "--steps", 20, ranks=2)
        done = self.shown(first["run"])
        self.assertEqual(done["state"], "done")
        runs = len(self.node.run("run", "list").json)
        again = self.finish(*TRAINING, "--steps", 20)
        self.assertEqual(again["run"], first["run"])
        self.assertEqual(again["graphs"], first["graphs"])
        self.assertEqual(len(self.node.run("run", "list").json), runs)
        self.assertEqual(self.shown(first["run"]), done)
        more = self.finish(*TRAINING, "--steps", 25)
        self.assertNotEqual(more["run"], first["run"])
        self.assertEqual(self.shown(more["run"])["labels"]["resumed_from"], first["run"])
        self.assertEqual(self.shown(first["run"]), {**done, "followed_by": more["run"], "followed_at_step": 20})

    def test_a_server_that_lacks_the_run(self):
        first = self.finish(*TRAINING, "--steps", 20)
        with DataNode() as other:
            self.assertEqual(other.import_sample("--limit", 400, name="small").code, 0)
            arguments = [*TRAINING, "--steps", 25, "--checkpoint", self.folder, "--resume"]
            (result,) = other.train(*arguments)
            self.assertEqual(result.code, 0, result)
            self.assertIn(f"has no run {first['run']}", result.err)
            shown = other.run("run", "show", result.json["run"]).json
            self.assertEqual((shown["state"], shown["steps"]), ("done", 5))
            self.assertEqual(shown["labels"]["resumed_from"], first["run"])

    def test_two_trainers_in_one_folder(self):
        (first,) = self.start(*WHOLE)
        wait_for_step(first)
        (second,) = [finished(process) for process in self.start(*WHOLE)]
        self.assertEqual(second.code, 1, second)
        self.assertIn(f"{self.folder} is in use by process {first.pid} on host", second.err)
        result = finished(first)
        self.assertEqual(result.code, 0, result)
        self.assert_as_unbroken(result.json)

    def test_labels_belong_to_the_run(self):
        labelled = [*TRAINING, "--steps", 3, "--labels"]
        first = self.finish(*labelled, "note=a")
        self.assertEqual(self.shown(first["run"])["labels"], {"note": "a"})
        (other,) = [finished(process) for process in self.start(*labelled, "note=b")]
        self.assertEqual(other.code, 1, other)
        self.assertIn("--labels was 'note=a' and is 'note=b'", other.err)
        self.assertEqual(self.finish(*labelled, "note=a")["run"], first["run"])

    def test_refusals(self):
        self.finish(*TRAINING, "--steps", 3)
        other_lr = ["1e-4" if word == "1e-3" else word for word in WHOLE]
        (other,) = [finished(process) for process in self.start(*other_lr, "--seed", 5, "--model-seed", 6)]
        self.assertEqual(other.code, 1, other)
        for words in ("--seed was '0' and is '5'", "--model-seed was '0' and is '6'", "--lr was '0.001' and is '0.0001'"):
            self.assertIn(words, other.err)
        self.assertNotIn("--graphs", other.err)
        (fewer,) = [finished(process) for process in self.start(*TRAINING, "--steps", 2)]
        self.assertEqual(fewer.code, 2, fewer)
        self.assertIn("has made 3", fewer.err)
        damaged = bytearray(self.file.read_bytes())
        damaged[100] ^= 1
        self.file.write_bytes(damaged)
        (result,) = [finished(process) for process in self.start(*WHOLE)]
        self.assertEqual(result.code, 1, result)
        self.assertIn(f"{self.file} cannot be used", result.err)

    def test_starting_anew(self):
        (process,) = self.start(*TRAINING, "--steps", 3)
        self.assertIn(f"no checkpoint in {self.folder}: starting anew", finished(process).err)
        anew = self.node.train(*TRAINING, "--steps", 2, "--checkpoint", self.folder)[0]
        self.assertEqual(anew.code, 0, anew)
        self.assertIn("checkpoint.bin.before", anew.err)
        self.assertEqual(self.steps_kept(), 2)

    def test_a_step_behind_a_checkpoint_is_marked(self):
        result = self.finish(*WHOLE, every=10)
        marked = [int(row["step"]) for row in self.rows(result["run"]) if int(row["flags"]) & 16]
        self.assertEqual(marked, [10, 20, 30, 40, 50])


if __name__ == "__main__":
    unittest.main()
