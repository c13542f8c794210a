#!/bin/bash
# Understands the variables of the official image that docker-compose.yml and the tests use.
set -euo pipefail
secret() { local file="${1}_FILE"; if [ -n "${!file:-}" ]; then cat "${!file}"; else printf %s "${!1:-}"; fi; }

if [ ! -d /var/lib/mysql/mysql ]; then
  mariadb-install-db --no-defaults --datadir=/var/lib/mysql --auth-root-authentication-method=normal --skip-test-db > /dev/null
fi
password=$(secret MARIADB_PASSWORD)
{
  echo "create database if not exists \`${MARIADB_DATABASE:?}\`;"
  echo "create user if not exists '${MARIADB_USER:?}'@'%' identified by '$password';"
  echo "grant all on \`$MARIADB_DATABASE\`.* to '$MARIADB_USER'@'%';"
  echo "alter user root@localhost identified by '$(secret MARIADB_ROOT_PASSWORD)';"
} > /run/mysqld/init.sql
chmod 0600 /run/mysqld/init.sql
exec mariadbd --no-defaults --datadir=/var/lib/mysql --socket=/run/mysqld/mysqld.sock --skip-name-resolve \
  --init-file=/run/mysqld/init.sql "$@"
