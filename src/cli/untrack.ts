import type { Command } from "commander";
import { findMeant, readName } from "../discovery/discovery.js";
import { isoDay } from "../lib/clock.js";
import { repositoryKey } from "../lib/page-addresses.js";
import { followChanges } from "../modules.js";
import { type Holding, readHolding, untrack } from "../tracking/tracking.js";
import { CommandFault, EXIT, type Host, reportOf, requireStore, withModules } from "./host.js";

interface Options {
  deleteHistory?: boolean;
  yes?: boolean;
  json?: boolean;
}

const EXIT_CODES = `
Exit codes:
  0  no repository is read anymore, or all are deleted
  1  failed: a repository is unknown, or its forge is read as a whole
  2  wrong arguments or settings; or --delete-history without --yes, which changes nothing`;

export function addUntrack(program: Command, host: Host, finish: (code: number) => void): void {
  program
    .command("untrack")
    .description("stop reading repositories, which keep their history, or delete them with it")
    .argument("<repository...>", "such as github:owner/name or a page of a repository")
    .option("--delete-history", "delete them with all snapshots, also from watchlists; first says how many")
    .option("--yes", "with --delete-history: do it")
    .option("--json", "print one JSON object per repository")
    .addHelpText("after", EXIT_CODES)
    .action(async (texts: string[], options: Options) => finish(await run(host, texts, options)));
}

async function run(
  host: Host,
  texts: readonly string[],
  { deleteHistory: deletes = false, yes = false, json = false }: Options,
): Promise<number> {
  if (yes && !deletes) throw new CommandFault("--yes belongs to --delete-history.");
  const names = texts.map(readName);
  const wrong = texts.find((_, i) => names[i] === undefined);
  if (wrong !== undefined)
    throw new CommandFault(`${wrong}: must be forge:owner/name or the address of a repository.`);
  requireStore(host.config);
  return withModules(host, async (modules) => {
    await modules.forges.read();
    let code: number = EXIT.ok;
    for (const [i, meant] of (await findMeant(modules, names)).entries()) {
      if (meant === undefined) {
        code = EXIT.failed;
        host.stdout.write(
          reportOf(json, { given: texts[i], result: "unknown" }, `${texts[i]}: unknown here`),
        );
        continue;
      }
      const held = await readHolding(modules, meant.id);
      const { repository, isWhole } = held;
      const result = deletes ? (yes ? "deleted" : "unchanged") : isWhole ? "refused" : "untracked";
      if (result === "refused") code = EXIT.failed;
      else if (result === "unchanged") code = EXIT.usage;
      else await untrack(modules, repository, { deletes });
      const { id, provider, fullName } = repository;
      const { isRead, snapshots, watchlists } = held;
      const facts = { id: String(id), provider, fullName, result, wasRead: isRead, snapshots, watchlists };
      host.stdout.write(reportOf(json, facts, `${repositoryKey(repository)}: ${wordsOf(held, result)}`));
    }
    await followChanges(modules);
    return code;
  });
}

function wordsOf(
  { repository, isRead, snapshots, since, watchlists, isWhole }: Holding,
  result: "deleted" | "unchanged" | "refused" | "untracked",
): string {
  const history = `${snapshots} snapshot${snapshots === 1 ? "" : "s"}${since === null ? "" : ` since ${isoDay(since)}`}`;
  const lists =
    watchlists === 0 ? "" : ` and its place on ${watchlists} watchlist${watchlists === 1 ? "" : "s"}`;
  const again = isWhole ? `; discovery on ${repository.provider} may find it again` : "";
  switch (result) {
    case "deleted":
      return `deleted, with ${history}${lists}${again}`;
    case "unchanged":
      return `would be deleted for good, with ${history}${lists}${again}; nothing is changed without --yes`;
    case "refused":
      return `still tracked: ${repository.provider} is read as a whole, and would be read again`;
    case "untracked":
      return `${isRead ? "no longer read" : "was not read"}; keeps ${history}`;
  }
}
