# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What recording through registered probes (ispot probe) costs a user who is not root, beside a
# recording of root's: a call, and a thread's creation with few and with many probes.

REGISTERED_CALLS=${REGISTERED_CALLS:-220000}

as_user() {
	(cd user && TMPDIR=$PWD exec setpriv --reuid 65534 --regid 65534 --clear-groups \
		--inh-caps=-all "$@")
}

# registered RECORD-ARGS... -- ARGS...: the user's recording of call_cost; what it says is in user.out
registered() {
	as_user "$DIR/own_ispot" record -o own.data "$@" >user.out 2>user.err ||
		die "a user cannot record: $(head -1 user.err)"
}

registered_round() {
	"$MB/call_cost" -n "$REGISTERED_CALLS" >alone.out && ns_per_call alone.out >>call.alone
	ispot_ns -F hot -- "$MB/call_cost" -n "$REGISTERED_CALLS" >>call.root
	registered -F hot -- "$DIR/own_call_cost" -n "$REGISTERED_CALLS"
	ns_per_call user.out >>call.user
	"$DIR/own_ispot" dump --meta -i user/own.data |
		sed -n 's/.*"kind":"end".*"made_records":\([0-9]*\),"lost_records":\([0-9]*\).*/\1 \2/p' |
		awk '{ print 100 * $2 / $1 }' >>call.lost
	"$MB/call_cost" --creates 500 >alone.out && value ns_per_create alone.out >>create.alone
	registered -F hot -- "$DIR/own_call_cost" --creates 500
	value ns_per_create user.out >>create.1
	registered -F hot -F 'many_*' -- "$DIR/own_call_cost" --creates 500
	value ns_per_create user.out >>create.all
}

# more KIND: what the kind's median has over that of the program alone, in us
more() { compute "($(median <"create.$1") - $(median <create.alone)) / 1000" 0f; }

bench_registered() {
	local n root user each
	head_line "Probes that root registered, recorded by a user (medians of $ROUNDS, in turn)"
	command -v setpriv >/dev/null || die "no setpriv; install util-linux"
	cp "$MB/call_cost" own_call_cost && cp "$ISPOT" own_ispot && mkdir -m 777 user && chmod 755 .
	"$ISPOT" probe add -F hot -F 'many_00*' ./own_call_cost >add.out 2>&1 ||
		die "$(head -1 add.out)"
	n=$("$ISPOT" probe list --json -F "$DIR/own_call_cost:*" | jq '.probes | length')
	for _ in $(seq "$ROUNDS"); do
		registered_round
	done
	"$ISPOT" probe remove -F "$DIR/own_call_cost:*" >/dev/null 2>&1
	root=$(compute "$(median <call.root) - $(median <call.alone)" 0f)
	user=$(compute "$(median <call.user) - $(median <call.alone)" 0f)
	row "a traced call, recorded by root" "$root" ns
	row "a traced call, by a user" "$user" ns
	row "a traced call, by a user / by root" "$(compute "$user / $root")" "" "<=" 2.5
	row "of a loop without pause lost, and said" "$(compute "$(median <call.lost)" 1f)" %
	row "pthread_create, untraced" "$(compute "$(median <create.alone) / 1000" 0f)" us
	row "pthread_create, added by 1 function" "$(more 1)" us
	row "pthread_create, added by $n probes" "$(more all)" us
	each=$(compute "($(more all)) / ($n * $(nproc))" 1f)
	row "pthread_create, added for each probe and CPU" "$each" us "<=" 30
}
