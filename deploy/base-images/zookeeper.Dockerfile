FROM sluice-local/debian
RUN apt-get update -qq \
 && apt-get install -y -qq --no-install-recommends openjdk-17-jre-headless zookeeper > /dev/null \
 && rm -rf /var/lib/apt/lists/* /var/cache/apt/archives/*.deb \
 && mkdir -p /conf /data /datalog && chown zookeeper /conf /data /datalog
COPY zookeeper-entrypoint.sh /entrypoint.sh
USER zookeeper
VOLUME /data /datalog
ENTRYPOINT ["/bin/bash", "/entrypoint.sh"]
