#!/bin/bash
# The official image's name for it. A server that answers, even with "who are you?", is there.
said=$(mariadb --no-defaults --socket=/run/mysqld/mysqld.sock --user=health --execute "select 1" 2>&1) || [[ $said == *"ERROR 1045"* ]]
