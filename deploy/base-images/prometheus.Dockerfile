FROM sluice-local/debian
RUN apt-get update -qq \
 && apt-get install -y -qq --no-install-recommends prometheus > /dev/null \
 && rm -rf /var/lib/apt/lists/* /var/cache/apt/archives/*.deb \
 && mkdir -p /prometheus && chown nobody /prometheus
USER nobody
VOLUME /prometheus
ENTRYPOINT ["/usr/bin/prometheus"]
