#!/usr/bin/env bash
# Makes models/weights from published packages and ../shared/data: one command, safe to stop and start again.
#
#   models/build/all.sh [PYTHON]
#
# Every stage keeps what it has made in $AUSCULT_BUILD (default ~/.cache/auscult-build) and goes on from there.
# MINUTES is the length of the bridge's training, TEXT_MINUTES that of the text encoder's, SPEECH_MINUTES the most that
# each of WORKERS speech makers may take. Needs espeak-ng, flite and festival with its voices beside Python.
set -euo pipefail

cd "$(dirname "$0")/.."
python=${1:-python3}
WORKERS=${WORKERS:-2} SPEECH_MINUTES=${SPEECH_MINUTES:-100000} MINUTES=${MINUTES:-240} TEXT_MINUTES=${TEXT_MINUTES:-40}
cache=${AUSCULT_BUILD:-$HOME/.cache/auscult-build}
stage() { echo "== $*"; "$python" -m "build.$@"; }

stage packages
[[ -f $cache/encoder.onnx ]] || stage encoder
[[ -f $cache/plan.json ]] || stage texts
stage leak
[[ -f $cache/units.json ]] || stage units
[[ -f $cache/phones.npz ]] || stage phones
[[ -f $cache/targets.npz ]] || stage teacher

jobs=()
for ((n = 0; n < WORKERS; n++)); do
  stage make_speech train "$n" "$WORKERS" "$SPEECH_MINUTES" & jobs+=($!)
done
for job in "${jobs[@]}"; do wait "$job"; done
for kind in people spelled dev devnoise; do stage make_speech "$kind" 0 1; done

stage train --passes 999 --minutes "$MINUTES"
stage beam
stage train_text hypotheses bridge-p3 bridge-p4
stage train_text train 4 "$TEXT_MINUTES"
stage score bridge --text "$cache/ear-text-encoder.onnx"
stage export bridge
stage words_decoder
stage manifest
stage evaluate
stage plot
