#!/usr/bin/env bash
# Runs a Python script with a python3 that has PyTorch: run_with_torch.sh INTERLOCK SCRIPT [ARG...]
# Exit status: that of the script; 77 where no python3 has PyTorch.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
INTERLOCK=$(realpath "$1")
shift
export INTERLOCK PYTHONPATH="$root/capture/torch" PYTHONDONTWRITEBYTECODE=1 OMP_NUM_THREADS=1
# A folder of that name, without a package in it, is found too, and has no origin.
has_torch='import importlib.util, sys
spec = importlib.util.find_spec("torch")
sys.exit(spec is None or spec.origin is None)'
for python in python3 /usr/bin/python3; do
  if "$python" -c "$has_torch" 2>/dev/null; then exec "$python" "$@"; fi
done
echo "Skipped: no python3 here has PyTorch (apt-get install python3-torch, or ./dev torch)."
exit 77
