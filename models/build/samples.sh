#!/usr/bin/env bash
# Speaks the sample questions of the web page: one 16 kHz mono 16-bit wav a question.
#
#   models/build/samples.sh PYTHON VOICE.onnx SAMPLES_DIR
#
# PYTHON       an interpreter with piper-tts installed
# VOICE.onnx   the Piper voice en_US-joe-medium (CC0), its .onnx.json beside it
# SAMPLES_DIR  the folder with samples.json; the recordings are written into it
#
# Piper draws noise for every run, so a second run sounds the same and is not the same byte for byte.
# Needs sox for the resampling. Each recording gets 0.2 s of silence before it and 0.4 s after it, so that
# the start of speech is not clipped and its end looks as it does with a person who stops talking.
set -euo pipefail

if [[ $# -ne 3 ]]; then
  echo "usage: $0 PYTHON VOICE.onnx SAMPLES_DIR" >&2
  exit 2
fi
python=$1 voice=$2 samples=$3
command -v sox >/dev/null || { echo "sox is missing: install it and run this again" >&2; exit 1; }
for file in "$voice" "$voice.json" "$samples/samples.json"; do
  [[ -f $file ]] || { echo "not found: $file" >&2; exit 1; }
done

# The page holds every recording at once, so all of them together stay small.
limit_bytes=1200000
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

"$python" -c '
import json, sys
for sample in json.load(open(sys.argv[1], encoding="utf-8")):
    print(sample["id"], sample["text"], sep="\t")
' "$samples/samples.json" >"$scratch/questions.tsv"

# What the voice is given to say. It swallows the stress of some words unless their parts are apart, and
# hypertension and hypotension must not sound the same.
spoken() {
  sed -E 's/\b([Hh]yp(er|o))tension\b/\1 tension/g' <<<"$1"
}

while IFS=$'\t' read -r id text; do
  # A little slower than the voice's own pace, which a listener who does not know the question follows better.
  "$python" -m piper --model "$voice" --length-scale 1.15 --output-file "$scratch/$id.wav" \
    -- "$(spoken "$text")" </dev/null
  # -D: no dither, so that only the voice decides what the samples are. -G: never clip.
  sox -D -G "$scratch/$id.wav" -r 16000 -c 1 -b 16 "$samples/$id.wav" silence 1 0.02 0.1% pad 0.2 0.4
done <"$scratch/questions.tsv"

total_bytes=$(cat "$samples"/*.wav | wc -c)
echo "$(wc -l <"$scratch/questions.tsv") samples, $total_bytes bytes"
if ((total_bytes > limit_bytes)); then
  echo "too large: more than $limit_bytes bytes in all; shorten the questions" >&2
  exit 1
fi
