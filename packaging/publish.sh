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

# The report, in which no line begins with a command (`::…`) and none contains one (`##[…]`). `$1` goes before each line.
report() { cat "$work/report" "$work/problems" | tr -d '\000-\010\013-\037\177' | sed "s/\[/(/g; s/^/$1| /"; }
# Indented, it is no markup.
summarize() { [ -z "${SUMMARY:-}" ] || { echo "### Charts"; echo; report "    "; echo; } >> "$SUMMARY"; }

for attempt in 1 2 3 4 5; do
  git worktree remove --force "$work/tree" 2>/dev/null || true
  status=0
  git ls-remote --exit-code --quiet "$remote" "$ref" > /dev/null || status=$?
  if [ "$status" = 0 ]; then
    git fetch --quiet --depth=1 "$remote" "$ref"
    git worktree add --quiet --detach "$work/tree" FETCH_HEAD
  elif [ "$status" = 2 ]; then
    git worktree add --quiet --detach --no-checkout "$work/tree" HEAD
    git -C "$work/tree" checkout --quiet --orphan "sidereal-new-$$-$attempt"
    git -C "$work/tree" rm -rfq .
  else
    exit 1
  fi
  cd "$work/tree"
  [ -e README.md ] || printf '# Charts\n\n<!-- sidereal -->\n<!-- /sidereal -->\n' > README.md
  status=0
  node "$program" "${publish[@]}" > "$work/report" 2> "$work/problems" || status=$?
  report ""
  # 3: something could not be read, and keeps what it had.
  [ "$status" = 0 ] || [ "$status" = 3 ] || { summarize; exit "$status"; }
  git add --all
  if git diff --cached --quiet; then summarize; exit 0; fi
  git -c user.name=Sidereal -c user.email=sidereal@localhost commit --quiet --message "Update charts"
  if git push --quiet "$remote" "HEAD:$ref"; then summarize; exit 0; fi
  # Another run was faster: begin with what it has published.
  cd - > /dev/null
done
echo "The branch could not be pushed."
exit 1
