# A Slurm of this machine alone, without systemd: source this, then start_slurm FOLDER and, at the
# end, stop_slurm. Needs root and the packages slurm-wlm and munge. Its state is in FOLDER; SLURM_CONF
# names its configuration.

start_slurm() {
  local folder host cpus
  folder=$(realpath -m "$1")
  host=$(hostname -s)
  cpus=$(nproc)
  slurm_folder=$folder
  rm -rf "$folder"
  mkdir -p "$folder"/{state,spool}
  cat >"$folder/slurm.conf" <<END
ClusterName=campaigns
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/slurmd.log
ReturnToService=2
JobAcctGatherType=jobacct_gather/none
KillWait=5
NodeName=$host NodeAddr=127.0.0.1 CPUs=$cpus State=UNKNOWN
PartitionName=campaigns Nodes=ALL Default=YES MaxTime=INFINITE State=UP
END
  export SLURM_CONF=$folder/slurm.conf
  if ! munge -n 2>/dev/null | unmunge >/dev/null 2>&1; then
    mkdir -p /run/munge
    chown munge: /run/munge /var/log/munge /var/lib/munge /etc/munge
    if [[ ! -e /etc/munge/munge.key ]]; then
      dd if=/dev/urandom of=/etc/munge/munge.key bs=1024 count=1 status=none
      chown munge: /etc/munge/munge.key
      chmod 400 /etc/munge/munge.key
    fi
    runuser -u munge -- munged
    slurm_has_own_munge=yes
  fi
  slurmctld
  slurmd
  local tries
  for ((tries = 0; tries < 60; ++tries)); do
    if [[ $(sinfo --noheader --format=%t 2>/dev/null) == idle ]]; then return; fi
    sleep 0.5
  done
  echo "start_slurm: no node is idle after 30 s; $folder has the logs" >&2
  return 1
}

stop_slurm() {
  scancel --user=root --quiet 2>/dev/null || true
  local name
  for name in slurmd slurmctld; do
    if [[ -e $slurm_folder/$name.pid ]]; then
      kill "$(cat "$slurm_folder/$name.pid")" 2>/dev/null || true
    fi
  done
  if [[ -n ${slurm_has_own_munge:-} && -e /run/munge/munged.pid ]]; then
    kill "$(cat /run/munge/munged.pid)" 2>/dev/null || true
  fi
}
