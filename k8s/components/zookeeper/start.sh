#!/bin/bash
# In place of the image's own entry point, which would write to a root that is read-only here.
set -euo pipefail
# The first pod is server.1.
echo $((${HOSTNAME##*-} + 1)) > /data/myid
if [ -d /secrets/zookeeper-server ]; then
  # ZooKeeper wants key and certificates in one file; /keys is in memory.
  cat /secrets/zookeeper-server/tls.key /secrets/zookeeper-server/tls.crt > /keys/server.pem
fi
cat /config/*.cfg > /tmp/zoo.cfg
exec zkServer.sh start-foreground /tmp/zoo.cfg
