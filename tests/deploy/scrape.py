"""What a packtraind of $PACKTRAIN_BIN answers to a scrape."""
import os
import pathlib
import re
import subprocess
import tempfile
import urllib.request

PACKTRAIND = pathlib.Path(os.environ["PACKTRAIN_BIN"]) / "packtraind"


def families():
    """The type of each family of metrics by its name, those without a sample yet included."""
    with tempfile.TemporaryDirectory() as data:
        process = subprocess.Popen([PACKTRAIND, "--data", data, "--listen", "127.0.0.1:0", "--metrics-port", "0"],
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        with process:
            process.stdout.readline()
            url = process.stdout.readline().removeprefix("metrics on ").strip()
            with urllib.request.urlopen(url, timeout=60) as answer:
                text = answer.read().decode()
            process.terminate()
    return dict(re.findall(r"^# TYPE (\S+) (\S+)$", text, re.M))
