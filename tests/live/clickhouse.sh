# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# ClickHouse servers of a test's own, each in a folder of its own on ports of 127.0.0.1; lib.sh ends them.
# The server is the one that is installed, or Debian's package unpacked into the cache of tests/vm/fetch.
# shellcheck disable=SC2153,SC2154 # DIR and ROOT are lib.sh's

CH_PASSWORD=known-to-nobody
server=() # the command

# find_clickhouse: or skips all
find_clickhouse() {
	local cache=${ISPOT_VM_CACHE:-${XDG_CACHE_HOME:-${HOME:-$DIR}/.cache}/ispot-vm} root lib
	PATH=$PATH:/usr/sbin
	if command -v clickhouse-server >/dev/null; then
		server=(clickhouse-server)
	elif command -v clickhouse >/dev/null; then
		server=(clickhouse server)
	elif [ "$(uname -m)" = x86_64 ] && command -v apt-get >/dev/null &&
		root=$("$ROOT/tests/vm/fetch" -c clickhouse "$cache" bookworm amd64 clickhouse-server 2>"$DIR/fetch.err"); then
		lib=x86_64-linux-gnu
		server=("$root/lib64/ld-linux-x86-64.so.2" --library-path "$root/usr/lib/$lib:$root/lib/$lib"
			"$root/usr/sbin/clickhouse-server")
	else
		skip_all "no clickhouse-server here, and Debian's cannot be had: $(head -c 200 "$DIR/fetch.err" 2>/dev/null)"
	fi
}

# configure NAME HTTP-PORT TCP-PORT [MORE-XML]
configure() {
	mkdir -p "$1"
	cat >"$1/config.xml" <<-EOC
		<yandex>
		<logger><level>warning</level><console>1</console></logger>
		<listen_host>127.0.0.1</listen_host><http_port>$2</http_port><tcp_port>$3</tcp_port>
		<path>$DIR/$1/data/</path><tmp_path>$DIR/$1/tmp/</tmp_path><mark_cache_size>67108864</mark_cache_size>
		<users_config>users.xml</users_config><default_profile>default</default_profile>
		<default_database>default</default_database>${4-}
		</yandex>
	EOC
	cat >"$1/users.xml" <<-EOC
		<yandex><profiles><default/></profiles><quotas><default/></quotas><users><default>
		<password>$CH_PASSWORD</password><networks><ip>127.0.0.1</ip></networks>
		<profile>default</profile><quota>default</quota></default></users></yandex>
	EOC
	echo "$2" >"$1/port"
}

# start NAME: waits until it answers
start() {
	(cd "$1" && exec "${server[@]}" --config-file=config.xml >>log 2>&1) &
	children+=($!)
	echo $! >"$1/pid"
	for _ in $(seq 300); do
		curl -sf "http://127.0.0.1:$(cat "$1/port")/ping" >/dev/null 2>&1 && return
		kill -0 "$(cat "$1/pid")" 2>/dev/null || break
		sleep 0.1
	done
	return 1
}

# stop NAME: as a machine stops that loses its power
stop() {
	local pid
	pid=$(cat "$1/pid")
	kill -9 "$pid" 2>/dev/null
	while kill -0 "$pid" 2>/dev/null; do sleep 0.05; done
}

# down NAME: within some seconds
down() {
	for _ in $(seq 100); do
		curl -sf "http://127.0.0.1:$(cat "$1/port")/ping" >/dev/null || return 0
		sleep 0.05
	done
	return 1
}

# ask NAME SQL
ask() {
	curl -sf -u "default:$CH_PASSWORD" --data-binary "$2" "http://127.0.0.1:$(cat "$1/port")/"
}
