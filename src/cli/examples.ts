import type { Command } from "commander";

/** Examples in the help of each runnable command, by its words: lines that work as they are, and their effect. */
const EXAMPLES: Readonly<Record<string, readonly (readonly [line: string, effect: string])[]>> = {
  init: [
    ["sidereal init", "asks four questions and writes .env"],
    ["sidereal init --yes --base-url https://repositories.example", "asks nothing"],
  ],
  start: [
    ["sidereal start", "serves http://127.0.0.1:3000 with the sample, or tracks the configured forges"],
    ["SIDEREAL_PORT=8080 sidereal start --no-sample", "another port, and an empty catalogue"],
  ],
  serve: [["sidereal serve", "serves the store, next to a worker on this or another machine"]],
  health: [
    ["sidereal health", "for a supervisor: exits with 1 if the service on this machine does not respond"],
  ],
  work: [
    ["sidereal work", "tracks until it is stopped"],
    ["sidereal work --once", "for a timer: does all work that is due, then ends"],
    ["sidereal work --explain --limit 5", "lists the requests that would be sent now"],
    ["sidereal work --force", "tracks, and deletes old data although nothing confirms the clock"],
  ],
  chart: [
    ["sidereal chart github:acme/kite --out kite.svg", "its stars so far, without a store or a server"],
    ["sidereal chart acme/kite acme/loom --align age --scale log > both.svg", "two, by age"],
  ],
  publish: [
    ["sidereal publish --readme README.md", "reads repos.txt and state, writes state, charts and the README"],
    ["sidereal publish --site public --url https://acme.example/stars", "pages, feeds and a site map too"],
  ],
  status: [["sidereal status --json", "the state of tracking, for a script"]],
  mcp: [
    ["sidereal mcp", "tools over the local store; hosts of language models start it"],
    ["sidereal mcp --url https://repositories.example", "tools over a service"],
  ],
  track: [
    ["sidereal track github:acme/kite https://codeberg.org/acme/loom", "tracks two repositories"],
    ["sidereal track --from README.md --list Favourites", "queues all that a text links to"],
  ],
  refresh: [["sidereal refresh github:acme/kite", "reads its counts now"]],
  untrack: [
    ["sidereal untrack github:acme/kite", "its history stays"],
    ["sidereal untrack --delete-history github:acme/kite", "lists the data that --yes would delete"],
  ],
  hide: [
    [
      'sidereal hide github:evil/abuse --reason "abuse" --for 30d',
      "asks, and shows it again after that time",
    ],
  ],
  unhide: [["sidereal unhide github:evil/abuse", "takes back exactly that"]],
  import: [
    ["sidereal import history.ndjson.zst", "imports Sidereal's own format"],
    ["sidereal import --manifest manifest.csv github-ranking-2026-04.tar.xz", "imports an archive of days"],
    ["sidereal import --date 2026-04-30T04:00:00Z -", "imports one day from standard input"],
    ["sidereal import --dry-run history.ndjson", "says what it would change"],
    ["sidereal import --undo 7", "asks, and removes what import 7 added"],
  ],
  export: [["sidereal export everything.ndjson", "writes a file that can be imported"]],
  dump: [["sidereal dump", "for a timer: writes the file that people may download"]],
  derive: [["sidereal derive", "brings growth, ranks and search up to date"]],
  backup: [["sidereal backup sidereal-2026-04-30.backup", "while the service runs"]],
  restore: [
    ["sidereal restore --check sidereal-2026-04-30.backup", "changes nothing"],
    ["sidereal restore --replace sidereal-2026-04-30.backup", "while the service is stopped; asks"],
  ],
  check: [
    ["sidereal check", "changes nothing"],
    ["sidereal check --repair", "builds derived data again"],
  ],
  migrate: [
    ["sidereal migrate --check", "changes nothing"],
    ["sidereal migrate", "before the service of a new version starts"],
  ],
  "database distribute": [
    ["sidereal database distribute", "while the service runs; run it again if it was interrupted"],
    ["sidereal database distribute --shards 64", "for a cluster that will grow"],
  ],
  rename: [
    ["sidereal rename github:acme/kite github:acme/kites", "one repository with the history of both names"],
    ["sidereal rename --undo github:acme/kite", "two repositories again"],
  ],
  "operator-key": [
    [
      "sidereal operator-key",
      "while the service runs: prints an address to open in a browser on this machine",
    ],
  ],
  "sessions end": [
    ["sidereal sessions end --account ada@example.org", "signs one person out everywhere, after a question"],
  ],
  "accounts list": [["sidereal accounts list example.org", "those with this in their address"]],
  "accounts delete": [["sidereal accounts delete ada@example.org", "says what it has, and asks"]],
  "accounts revoke-key": [["sidereal accounts revoke-key 12", "a key with the id that accounts list prints"]],
  ban: [
    ["sidereal ban ada@example.org --for 30d --reason spam", "she cannot sign in, and her keys are refused"],
    ["sidereal ban 203.0.113.0/24 2001:db8::/48 --for 1d", "requests from there get a 403"],
  ],
  unban: [["sidereal unban 203.0.113.0/24", "lifts the ban of exactly this network"]],
  events: [
    ["sidereal events --since 2026-04-30 --account ada@example.org", "lists the events of an account"],
  ],
};

/** The runnable commands below a command, each with its words. */
export function runnableCommands(
  command: Command,
  words: readonly string[] = [],
): { words: readonly string[]; command: Command }[] {
  return command.commands.flatMap((child) => {
    const path = [...words, child.name()];
    return child.commands.length === 0 ? [{ words: path, command: child }] : runnableCommands(child, path);
  });
}

export function addExamples(program: Command): void {
  for (const { words, command } of runnableCommands(program)) {
    const lines = examplesOf(words).flatMap(([line, effect]) => [`  ${line}`, `      ${effect}`]);
    if (lines.length > 0) command.addHelpText("after", `\nExamples:\n${lines.join("\n")}`);
  }
}

export function examplesOf(words: readonly string[]): readonly (readonly [line: string, effect: string])[] {
  return EXAMPLES[words.join(" ")] ?? [];
}
