#!/usr/bin/env bash
# Publishes the list of a repository on a branch of its own: reads what the branch has, runs `sidereal publish`, and commits if anything has
# changed. For action.yml and the CI of other forges. Run it in a clone whose remote accepts pushes.
#
#   PROGRAM  sidereal.cjs or main.js of the program
#   LIST     the list; default repos.txt if it exists, else the repository whose job this is
#   REPOSITORIES  the lines of a list, in place of LIST
#   BRANCH   the branch, which nothing else may use; default sidereal
#   README   a file of the default branch whose blocks show the charts
#   THEME    auto, light or dark
#   SITE     folder for a site, outside of the clone; default: none
#   URL      public address of the site, for feeds and a site map
#   SUMMARY  file that a report is added to
#   OUTPUT   file that total-stars=…, new-stars=…, changed=… and commit=… are added to
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
work="$(mktemp -d)"
end() {
  for tree in tree home; do git worktree remove --force "$work/$tree" 2>/dev/null || true; done
  rm -rf "$work"
}
trap end EXIT
list="${LIST:-}"
if [ -n "${REPOSITORIES:-}" ]; then
  [ -z "$list" ] || { echo "LIST and REPOSITORIES cannot be used together."; exit 2; }
  list="$work/list"
  printf '%s\n' "$REPOSITORIES" > "$list"
elif [ -z "$list" ] && [ -e repos.txt ]; then
  list=repos.txt
fi
branch="${BRANCH:-sidereal}"
remote=origin
ref="refs/heads/$branch"
git check-ref-format "$ref" || { echo "BRANCH is no name of a branch."; exit 2; }
publish=(publish --state state --readme README.md --branch "$branch" --theme "${THEME:-auto}")
[ -z "$list" ] || publish+=(--list "$(realpath -m -- "$list")")
[ -z "${SITE:-}" ] || publish+=(--site "$(realpath -m -- "$SITE")")
[ -z "${URL:-}" ] || publish+=(--url "$URL")

# The text of files in which no line contains a command (`##[…]`), and no address has a password.
clean() { cat "$@" | tr -d '\000-\010\013-\037\177' | sed 's/##\[/##(/g; s#://[^/@ ]*@#://#g'; }
# The same with `$1` before each line, so that none begins with a command (`::…`).
report() { clean "${@:2}" | sed "s/^/$1| /"; }
# Ends a run: in a job of GitHub Actions with an annotation for each problem, and a summary: the report, in which names are escaped, and
# the problems, which are indented and so no markup.
summarize() {
  [ "${GITHUB_ACTIONS:-}" != true ] || clean "$work/problems" "$@" | sed "s/%/%25/g; s/^/::$kind title=Charts::/"
  [ -z "${SUMMARY:-}" ] || { clean "$work/report"; echo; report "    " "$work/problems" "$@"; echo; } >> "$SUMMARY"
}
commit() { git -c user.name=Sidereal -c user.email=sidereal@localhost commit --quiet --message "$1"; }
push() { LC_ALL=C git push --quiet "$remote" "HEAD:${1:-$ref}" 2> "$work/push"; }
# The words of a push that was refused; `$1` is what could not be pushed.
refusal() {
  echo "$1 could not be pushed:"
  cat "$work/push"
  if grep -qiE 'error: 403|permission (to .*)?denied|not allowed to push|write access' "$work/push"; then
    echo "The token may not push. On GitHub the job needs permissions: contents: write."
  fi
}
# Whether another run has pushed since this one began with the commit `$1`; empty: none.
is_overtaken() {
  local now
  now="$(git ls-remote --quiet "$remote" "$ref")" && [ "${now%%[[:space:]]*}" != "$1" ]
}

# Puts the default branch into a folder.
open_home() {
  home="$(git ls-remote --symref "$remote" HEAD | sed -n 's#^ref: \(.*\)\tHEAD$#\1#p')"
  git fetch --quiet "$remote" "$home"
  git worktree remove --force "$work/home" 2>/dev/null || true
  git worktree add --quiet --detach "$work/home" FETCH_HEAD
  case "$(realpath -m -- "$work/home/$README")" in
    "$(realpath -- "$work/home")"/*) ;;
    *) echo "README must be a file of the repository."; exit 2 ;;
  esac
}
# Commits the README, without changes that came later. Nothing else of the default branch changes.
push_home() (
  cd "$work/home"
  git add -- ":(literal)$README"
  ! git diff --cached --quiet || return 0
  commit "Show charts [skip ci]"
  push "$home" && return
  own="$(git rev-parse HEAD)"
  git fetch --quiet "$remote" "$home"
  git checkout --quiet --detach FETCH_HEAD
  git -c user.name=Sidereal -c user.email=sidereal@localhost cherry-pick "$own" > /dev/null 2>&1 && push "$home"
)

# Writes the parts of a report in JSON: the text, and the outputs of a step.
parts='
  const [json, text, totals] = process.argv.slice(1);
  const { markdown = "", totalStars, newStars } = JSON.parse(fs.readFileSync(json, "utf8") || "{}");
  fs.writeFileSync(text, markdown);
  fs.writeFileSync(totals, `total-stars=${Number(totalStars)}\nnew-stars=${Number(newStars)}\n`);
'

# Twice: if another run has pushed first, the second begins with what that has published.
for attempt in 1 2; do
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
  [ -z "${README:-}" ] || open_home
  cd "$work/tree"
  [ -e README.md ] || printf '# Charts\n\n<!-- sidereal -->\n<!-- /sidereal -->\n' > README.md
  # Earlier versions had everything in a folder of its own.
  out=.
  [ ! -e charts/repositories.json ] || out=charts
  status=0
  node "$program" "${publish[@]}" --out "$out" ${README:+--readme "$work/home/$README"} --json \
    > "$work/json" 2> "$work/problems" || status=$?
  node -e "$parts" "$work/json" "$work/report" "$work/totals"
  reports=true
  if [ -L report.md ] || { [ -e report.md ] && ! head -n 1 report.md | grep -q '^## Stars on '; }; then
    reports=false
    echo "report.md: not written: it exists, and was not written by this command" >> "$work/problems"
  fi
  report "" "$work/report" "$work/problems"
  # 3: something could not be read, and keeps what it had. 4: somebody should look.
  kind=error
  case "$status" in
    0 | 3) result=0; kind=warning ;;
    4) result=1 ;;
    *) summarize; exit "$status" ;;
  esac
  changed=false
  pushed=""
  git add --all
  if ! git diff --cached --quiet; then
    # No reason for a commit by itself.
    if [ "$reports" = true ]; then
      cp "$work/report" report.md
      git add report.md
    fi
    commit "Update charts"
    # Twice, as another run may hold the lock of the branch for a moment.
    if ! push && ! push; then
      is_overtaken "$began" || break
      cd - > /dev/null
      continue
    fi
    changed=true
    pushed="$(git rev-parse HEAD)"
  fi
  [ -z "${OUTPUT:-}" ] || { cat "$work/totals"; printf '%s\n' "changed=$changed" "commit=$pushed"; } >> "$OUTPUT"
  if [ -n "${README:-}" ] && ! push_home; then
    refusal "$README" > "$work/refused"
    report "" "$work/refused"
    kind=error summarize "$work/refused"
    exit 1
  fi
  summarize
  exit "$result"
done
refusal "The branch" > "$work/refused"
report "" "$work/refused"
kind=error summarize "$work/refused"
exit 1
