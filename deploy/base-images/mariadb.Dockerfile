FROM sluice-local/debian
RUN apt-get update -qq \
 && apt-get install -y -qq --no-install-recommends mariadb-server-core mariadb-client-core > /dev/null \
 && rm -rf /var/lib/apt/lists/* /var/cache/apt/archives/*.deb \
 && useradd --uid 999 --home-dir /var/lib/mysql --shell /usr/sbin/nologin mysql \
 && mkdir -p /var/lib/mysql /run/mysqld && chown mysql /var/lib/mysql /run/mysqld
COPY mariadb-entrypoint.sh /entrypoint.sh
COPY mariadb-healthcheck.sh /usr/local/bin/healthcheck.sh
RUN chmod 0755 /usr/local/bin/healthcheck.sh
USER mysql
VOLUME /var/lib/mysql
ENTRYPOINT ["/bin/bash", "/entrypoint.sh"]
