#!/usr/bin/env bash
# From nothing to a verdict: sets up, builds, starts a data node on loopback, imports a sample of QM9, trains SchNet on
# it with two data-parallel processes under two batching policies, and asks which policy was faster.
# usage: quickstart.sh [--keep]
#   --keep  leaves the data node running. Its data stays in build/quickstart/kept, with all that is imported into it:
#           another quickstart.sh --keep goes on with them, and one without --keep leaves data and node alone.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=deploy/lib.sh
source deploy/lib.sh

keep=no
for argument in "$@"; do
  case "$argument" in
    -h | --help)
      show_help
      exit
      ;;
    --keep) keep=yes ;;
    *) fail "quickstart.sh: unknown argument '$argument'; known: --keep" 2 ;;
  esac
done

readonly GRAPHS=31 STEPS=50 SEEDS=(1 2 3)
readonly ROOM=build/quickstart BIN=build/release/bin
# Labels the runs of this pass, to tell them from others on a data node that is kept.
PASS=$(date -u +%Y%m%dT%H%M%SZ)
readonly PASS
readonly DYNAMIC=(--policy dynamic --graphs "$GRAPHS") STATIC=(--policy static --pad multiple --graphs "$GRAPHS")

# Two data nodes cannot have one folder open.
stop_kept_daemon() {
  local pid
  pid=$(cat "$ROOM/kept.pid" 2>/dev/null) || return 0
  if [ "$(cat "/proc/$pid/comm" 2>/dev/null)" != packtraind ]; then return 0; fi
  say "stopping the data node that an earlier --keep left running (process $pid), to go on with its data"
  kill "$pid"
  tail --pid="$pid" -f /dev/null
}

# Sets `data` to the folder of the data node. A kept folder is never emptied; the other one belongs to this script.
choose_data() {
  mkdir -p "$ROOM"
  if [ $keep = yes ]; then
    data=$ROOM/kept
    stop_kept_daemon
    if [ -e "$data" ]; then say "going on with the data of an earlier --keep, in $data"; fi
  else
    data=$ROOM/scratch
    rm -rf "$data"
  fi
}

start_daemon() {
  choose_data
  rm -f "$ROOM/ready"
  mkfifo "$ROOM/ready"
  setsid "$BIN/packtraind" --data "$data" --listen 127.0.0.1:0 >"$ROOM/ready" 2>"$data.log" &
  daemon=$!
  if [ $keep = yes ]; then echo "$daemon" >"$data.pid"; fi
  trap stop_daemon EXIT
  local line
  read -rt 60 line <"$ROOM/ready" || fail "packtraind did not open its port: $(cat "$data.log")"
  PACKTRAIN_SERVER=${line#listening on }
  export PACKTRAIN_SERVER
}

stop_daemon() {
  if [ $keep = yes ] && [ "${finished:-no}" = yes ]; then return; fi
  kill "$daemon" 2>/dev/null || true
  wait "$daemon" 2>/dev/null || true
}

free_port() { /usr/bin/python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

# train NAME SEED SPEC...: one run of two processes.
train() {
  local name=$1 seed=$2
  shift 2
  local port pids=() rank
  port=$(free_port)
  for rank in 0 1; do
    RANK=$rank WORLD_SIZE=2 LOCAL_RANK=$rank LOCAL_WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=$port \
      "$BIN/packtrain-trainer" --dataset qm9-sample --model schnet "$@" --seed "$seed" --model-seed "$seed" \
      --steps "$STEPS" --labels "quickstart=$PASS" >"$ROOM/$name-$seed-$rank.out" 2>"$ROOM/$name-$seed-$rank.log" &
    pids+=($!)
  done
  for rank in 0 1; do
    wait "${pids[$rank]}" || fail "rank $rank of $name, seed $seed, failed: $(tail -5 "$ROOM/$name-$seed-$rank.log")"
  done
  printf '%-16s seed %s: %s\n' "$name" "$seed" "$(summary_line "$ROOM/$name-$seed-0.out")"
}

# summary_line FILE: the figures of a trainer's last line, for people.
summary_line() {
  tail -1 "$1" | /usr/bin/python3 -c '
import json, sys
r = json.load(sys.stdin)
print("run %s, %d steps, %.1f ms a step (median), %.0f graphs/s" % (
    r["run"], r["steps"], r["steady_step_us"]["median"] / 1000, r["graphs_per_second"]))'
}

./deploy/setup.sh
./deploy/build.sh release packtraind packtrain packtrain-trainer
say "starting a data node"
start_daemon
say "importing 2,778 molecules of QM9"
"$BIN/packtrain" import extxyz tests/data/qm9/qm9_sample.xyz.gz --name qm9-sample --edges full \
  --join tests/data/qm9/qm9_sample_targets.csv.gz --key name --split-permille 800,100,100
say "the data set"
"$BIN/packtrain" dataset show qm9-sample
say "the plan of each policy, $GRAPHS graphs a batch, two ranks"
"$BIN/packtrain" plan --dataset qm9-sample "${STATIC[@]}" --world-size 2
"$BIN/packtrain" plan --dataset qm9-sample "${DYNAMIC[@]}" --world-size 2
say "training SchNet, two processes, $STEPS steps, three seeds under each policy"
for seed in "${SEEDS[@]}"; do
  train static-multiple "$seed" "${STATIC[@]}"
  train dynamic "$seed" "${DYNAMIC[@]}"
done
say "which policy was faster?"
"$BIN/packtrain" run compare --where "label.quickstart = '$PASS'" --by policy
last_run=$("$BIN/packtrain" run list --where "label.quickstart = '$PASS'" --csv | sed -n '2s/,.*//p')
finished=yes

if [ $keep = yes ]; then
  say "the data node stays up, with its data in $data; worth typing next"
  cat <<END
  export PACKTRAIN_SERVER=$PACKTRAIN_SERVER
  $BIN/packtrain run list
  $BIN/packtrain run summary $last_run
  $BIN/packtrain plan --dataset qm9-sample --policy dynamic --graphs 127
  kill $daemon     # stops the data node and leaves its data
END
else
  say "the data node is stopped; the next quick start removes its data. To ask one about its runs, type"
  echo "  ./deploy/quickstart.sh --keep     # the same, but the data node stays up; says how to ask it"
fi
say "quick start: done"
