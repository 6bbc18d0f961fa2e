#!/usr/bin/env bash
# Publishes the list of a repository on a branch of its own: reads what the branch has, runs `sidereal publish`, and commits if anything has
# changed. For action.yml and the CI of other forges. Run it in a clone whose remote accepts pushes.
#
#   PROGRAM  sidereal.cjs or main.js of the program
#   LIST     the list; default repos.txt
#   BRANCH   the branch, which nothing else may use; default sidereal
#   THEME    auto, light or dark
#   SITE     folder for a site, outside of the clone; default: none
#   URL      public address of the site, for feeds and a site map
#   SUMMARY  file that a report is added to
#
# Names and texts of repositories reach no command line, no commit message and no line of the log that a CI could take for a command.
set -euo pipefail

# Only events that need write access: a pull request may bring its own list, also from a fork.
event="${GITHUB_EVENT_NAME:-${CI_PIPELINE_SOURCE:-}}"
case "$event" in
  "" | schedule | push | workflow_dispatch | repository_dispatch | web | api | trigger | pipeline) ;;
  *) echo "Nothing is published for this event."; exit 0 ;;
esac

program="$(realpath -- "$PROGRAM")"
list="$(realpath -- "${LIST:-repos.txt}")"
publish=(publish --list "$list" --state state --out charts --readme README.md --theme "${THEME:-auto}")
[ -z "${SITE:-}" ] || publish+=(--site "$(realpath -m -- "$SITE")")
[ -z "${URL:-}" ] || publish+=(--url "$URL")
branch="${BRANCH:-sidereal}"
remote=origin
ref="refs/heads/$branch"
git check-ref-format "$ref" || { echo "BRANCH is no name of a branch."; exit 2; }
work="$(mktemp -d)"
end() { git worktree remove --force "$work/tree" 2>/dev/null || true; rm -rf "$work"; }
trap end EXIT

# The text of files in which no line contains a command (`##[…]`), and no address has a password.
clean() { cat "$@" | tr -d '\000-\010\013-\037\177' | sed "s/\[/(/g; s#://[^/@ ]*@#://#g"; }
# The same with `$1` before each line, so that none begins with a command (`::…`).
report() { clean "${@:2}" | sed "s/^/$1| /"; }
# Ends a run: in a job of GitHub Actions with an annotation for each problem, and a summary: the report, in which names are escaped, and
# the problems, which are indented and so no markup.
summarize() {
  [ "${GITHUB_ACTIONS:-}" != true ] || clean "$work/problems" "$@" | sed "s/%/%25/g; s/^/::$kind title=Charts::/"
  [ -z "${SUMMARY:-}" ] || { clean "$work/report"; echo; report "    " "$work/problems" "$@"; echo; } >> "$SUMMARY"
}
push() { LC_ALL=C git push --quiet "$remote" "HEAD:$ref" 2> "$work/push"; }
# Whether another run has pushed since this one began with the commit `$1`; empty: none.
is_overtaken() {
  local now
  now="$(git ls-remote --quiet "$remote" "$ref")" && [ "${now%%[[:space:]]*}" != "$1" ]
}

for attempt in 1 2 3 4 5; do
  git worktree remove --force "$work/tree" 2>/dev/null || true
  status=0
  git ls-remote --exit-code --quiet "$remote" "$ref" > /dev/null || status=$?
  if [ "$status" = 0 ]; then
    git fetch --quiet --depth=1 "$remote" "$ref"
    began="$(git rev-parse FETCH_HEAD)"
    git worktree add --quiet --detach "$work/tree" FETCH_HEAD
  elif [ "$status" = 2 ]; then
    began=""
    git worktree add --quiet --detach --no-checkout "$work/tree" HEAD
    git -C "$work/tree" checkout --quiet --orphan "sidereal-new-$$-$attempt"
    git -C "$work/tree" rm -rfq .
  else
    exit 1
  fi
  cd "$work/tree"
  [ -e README.md ] || printf '# Charts\n\n<!-- sidereal -->\n<!-- /sidereal -->\n' > README.md
  status=0
  node "$program" "${publish[@]}" --json > "$work/json" 2> "$work/problems" || status=$?
  node -e 'const { markdown = "" } = JSON.parse(fs.readFileSync(0, "utf8") || "{}"); process.stdout.write(markdown)' < "$work/json" > "$work/report"
  report "" "$work/report" "$work/problems"
  # 3: something could not be read, and keeps what it had. 4: somebody should look.
  kind=error
  case "$status" in
    0 | 3) result=0; kind=warning ;;
    4) result=1 ;;
    *) summarize; exit "$status" ;;
  esac
  git add --all
  if git diff --cached --quiet; then summarize; exit "$result"; fi
  # No reason for a commit by itself.
  cp "$work/report" report.md
  git add report.md
  git -c user.name=Sidereal -c user.email=sidereal@localhost commit --quiet --message "Update charts"
  # Twice, as another run may hold the lock of the branch for a moment.
  if push || push; then summarize; exit "$result"; fi
  is_overtaken "$began" || break
  # Begin with what the other run has published.
  cd - > /dev/null
done
{
  echo "The branch could not be pushed:"
  cat "$work/push"
  if grep -qiE 'error: 403|permission (to .*)?denied|not allowed to push|write access' "$work/push"; then
    echo "The token may not push. On GitHub the job needs permissions: contents: write."
  fi
} > "$work/refused"
report "" "$work/refused"
kind=error summarize "$work/refused"
exit 1
