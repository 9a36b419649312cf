#!/usr/bin/env bash
# Judges the PTX files that differ from BASE. Writes a table of verdicts to GITHUB_STEP_SUMMARY,
# the findings to SARIF and an annotation for each of them. Ends with 1 if a kernel is rejected.
set -euo pipefail

base=${BASE:-HEAD^}
pattern=${KERNELS:-*.ptx}
plan=${PLAN:-smoke}
summary=${GITHUB_STEP_SUMMARY:-/dev/stdout}
sarif=${SARIF:-attest.sarif}

changed=()
while IFS= read -r -d '' file; do
	changed+=("$file")
done < <(git diff -z --name-only --diff-filter=ACMR "$base" -- "$pattern")
# A kernel is judged, too, if only its call changed.
while IFS= read -r -d '' file; do
	ptx=${file%.json}.ptx
	if [ -e "$ptx" ] && git ls-files --error-unmatch -- "$pattern" 2>/dev/null | grep -qxF "$ptx"; then
		changed+=("$ptx")
	fi
done < <(git diff -z --name-only --diff-filter=ACMR "$base" -- '*.json')

if [ ${#changed[@]} -eq 0 ]; then
	echo "No kernel changed." >>"$summary"
	exit 0
fi
mapfile -d '' -t changed < <(printf '%s\0' "${changed[@]}" | sort -zu)

# report FILE RULE LINE TEXT writes an annotation and a result of SARIF.
separator=''
report() {
	printf '::error file=%s,line=%s::%s\n' "$1" "$3" "$4"
	printf '%s{"ruleId":"%s","level":"error","message":{"text":"%s"},"locations":[{"physicalLocation":{"artifactLocation":{"uri":"%s"},"region":{"startLine":%s}}}]}' \
		"$separator" "$2" "$4" "$(printf '%s' "$1" | tr -d '"\\')" "$3" >>"$sarif"
	separator=','
}

red=0
printf '| kernel | verdict | why |\n|---|---|---|\n' >>"$summary"
printf '{"version":"2.1.0","$schema":"https://json.schemastore.org/sarif-2.1.0.json","runs":[{"tool":{"driver":{"name":"attest"}},"results":[' >"$sarif"
for file in "${changed[@]}"; do
	if ! answer=$(attest gate "$file" --plan "$plan" --device emu --evidence "" --json 2>&1); then
		red=$((red + 1))
	fi
	outcome=$(printf '%s' "$answer" | sed -n 's/.*"outcome":"\([A-Z-]*\)".*/\1/p' | head -n 1)
	# The text is for a table, for one line of a log and for JSON: no bars, quotes or backslashes.
	why=$(printf '%s' "$answer" | sed -n 's/.*"why":"\(\([^"\\]\|\\.\)*\)".*/\1/p' | head -n 1)
	why=$(printf '%s' "${why:-$answer}" | tr -d '"\\|\r' | tr '\n\t' '  ' | cut -c 1-400)
	printf '| `%s` | %s | %s |\n' "${file//|/}" "${outcome:-ERROR}" "$why" >>"$summary"
	if [ "${outcome:-ERROR}" != REJECT ] && [ -n "$outcome" ]; then
		continue
	fi
	found=0
	while IFS= read -r reason; do # "shared-race at line 612: read of …"
		rule=${reason%% *}
		line=${reason#* at line }
		report "$file" "$rule" "${line%%:*}" "$reason"
		found=1
	done < <(printf '%s' "$answer" | grep -oE '"[a-z-]+ at line [0-9]+: [^"\\]*"' | tr -d '"' | sort -u)
	if [ "$found" = 0 ]; then
		report "$file" attest-gate 1 "$why"
	fi
done
printf ']}]}\n' >>"$sarif"
if [ -n "${GITHUB_OUTPUT:-}" ]; then
	printf 'red=%s\nsarif=%s\n' "$red" "$sarif" >>"$GITHUB_OUTPUT"
fi
[ "$red" -eq 0 ]
