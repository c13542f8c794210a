#!/bin/bash
# Understands the variables of the official image that docker-compose.yml uses; a mounted /conf/zoo.cfg goes before them.
set -euo pipefail
if [ ! -f /conf/zoo.cfg ]; then
  {
    echo "dataDir=/data"
    echo "dataLogDir=/datalog"
    echo "tickTime=${ZOO_TICK_TIME:-2000}"
    echo "initLimit=${ZOO_INIT_LIMIT:-5}"
    echo "syncLimit=${ZOO_SYNC_LIMIT:-2}"
    echo "maxClientCnxns=${ZOO_MAX_CLIENT_CNXNS:-60}"
    echo "autopurge.snapRetainCount=${ZOO_AUTOPURGE_SNAPRETAINCOUNT:-3}"
    echo "autopurge.purgeInterval=${ZOO_AUTOPURGE_PURGEINTERVAL:-0}"
    echo "standaloneEnabled=${ZOO_STANDALONE_ENABLED:-true}"
    echo "4lw.commands.whitelist=${ZOO_4LW_COMMANDS_WHITELIST:-srvr}"
    echo "admin.enableServer=false"
    for line in ${ZOO_CFG_EXTRA:-} ${ZOO_SERVERS:-server.1=localhost:2888:3888;2181}; do echo "$line"; done
  } > /conf/zoo.cfg
  echo "${ZOO_MY_ID:-1}" > /data/myid
fi
# shellcheck disable=SC2086 — several flags in one variable
exec java ${JVMFLAGS:-} -cp /usr/share/java/zookeeper.jar:/usr/share/java/slf4j-simple.jar \
  org.apache.zookeeper.server.quorum.QuorumPeerMain /conf/zoo.cfg
