# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Pages by Python's parser and in headless Chromium, for the checks. $work is a directory to write in.
# shellcheck disable=SC2154 # work is the test's

# parsed FILE: what is wrong with its markup, one line each
parsed() { python3 "$top/tests/check/markup.py" "$1"; }

browse() { # browse FILE [OPTION...]: the page after its scripts ran
	timeout 120 chromium --headless --no-sandbox --disable-gpu --user-data-dir="$work/chromium" \
		--window-size=1280,800 --virtual-time-budget=20000 "${@:2}" --dump-dom "file://$1" 2>/dev/null
}

# told WORD FILE SCRIPT...: what the scripts, run behind the page, say between WORD and END
told() {
	python3 - "${@:2}" >"$work/scripted.html" <<-'EOP'
	import sys, re
	page, *scripts = (open(f, encoding="utf-8").read() for f in sys.argv[1:])
	page = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", page)  # the page runs none itself
	behind = "".join("<script>" + s + "</script>" for s in scripts)
	print(page.replace("</body>", behind + "</body>"))
	EOP
	browse "$work/scripted.html" >"$work/dom"
	grep -o "$1 .*END" "$work/dom" || echo "$1: nothing was said"
}

find_axe() { # axe-core is no package of the distribution: npm's, or a file named by AXE_JS
	axe=${AXE_JS-}
	[ -n "$axe" ] && return
	command -v npm >/dev/null || return
	(cd "$work" && timeout 120 npm pack --silent axe-core >/dev/null 2>&1 && tar xf axe-core-*.tgz) || return
	axe=$work/package/axe.min.js
}

# audited FILE: what axe-core finds that keeps people out (impact serious or critical), and the first
# place of each, with all that is folded unfolded.
audited() {
	cat >"$work/audit.js" <<-'EOP'
		for (const d of document.querySelectorAll("details"))
			d.open = true
		axe.run().then(r => {
			const bad = r.violations.filter(v => ["serious", "critical"].includes(v.impact))
			document.body.innerHTML = "<pre id=audit></pre>"
			document.getElementById("audit").textContent = "AUDIT " + r.passes.length + " " + bad.map(v =>
				v.id + " in " + v.nodes.length + ": " + v.nodes[0].html.replace(/\s+/g, " ").slice(0, 120)).join("; ") + " END"
		})
	EOP
	told AUDIT "$1" "$axe" "$work/audit.js" | grep -v '^AUDIT [0-9][0-9]*  *END'
}

# dark FILE: a copy as who prefers dark sees it; prints its path
dark() {
	sed 's/(prefers-color-scheme: dark)/all/' "$1" >"${1%.html}-dark.html"
	echo "${1%.html}-dark.html"
}
