import type { Command } from "commander";
import { findMeant, readName } from "../discovery/discovery.js";
import { isoDay } from "../lib/clock.js";
import { repositoryKey } from "../lib/page-addresses.js";
import { shellCommand } from "../lib/shell-words.js";
import { followChanges, type Modules } from "../modules.js";
import { findAny, type Holding, readHolding, untrack } from "../tracking/tracking.js";
import { CommandFault, EXIT, type Host, reportOf, requireStore, withModules } from "./host.js";
import {
  addRemovalOptions,
  countOf,
  logOperation,
  REMOVAL_EXIT_CODES,
  type RemovalOptions,
  remove,
} from "./removal.js";

interface Options extends RemovalOptions {
  deleteHistory?: boolean;
  reason?: string;
}

const EXIT_CODES = `
Exit codes:
  0  no repository is read anymore, or all are deleted, or would be
${REMOVAL_EXIT_CODES}`;

export function addUntrack(program: Command, host: Host, finish: (code: number) => void): void {
  const command = program
    .command("untrack")
    .description("stop reading repositories, which keep their history, or delete them with it")
    .argument("<repository...>", "such as github:owner/name or a page of a repository")
    .option(
      "--delete-history",
      "delete them with all snapshots, also from watchlists; says what and asks first",
    )
    .option("--reason <text>", "for the log of operators");
  addRemovalOptions(command)
    .addHelpText("after", EXIT_CODES)
    .action(async (texts: string[], options: Options) => finish(await run(host, texts, options)));
}

async function run(host: Host, texts: readonly string[], options: Options): Promise<number> {
  const { deleteHistory = false, yes, dryRun, json = false } = options;
  if (!deleteHistory && (yes ?? dryRun) !== undefined)
    throw new CommandFault("--yes and --dry-run belong to --delete-history.");
  const names = texts.map(readName);
  const wrong = texts.find((_, i) => names[i] === undefined);
  if (wrong !== undefined)
    throw new CommandFault(`${wrong}: must be forge:owner/name or the address of a repository.`);
  requireStore(host.config);
  return withModules(host, async (modules) => {
    await modules.forges.read();
    const held: Holding[] = [];
    let code: number = EXIT.ok;
    for (const [i, meant] of (await findMeant(modules, names)).entries()) {
      const repository = await findAny(modules, names[i], meant?.id);
      if (repository !== undefined) held.push(await readHolding(modules, repository));
      else {
        code = EXIT.failed;
        host.stdout.write(
          reportOf(json, { given: texts[i], result: "unknown" }, `${texts[i]}: unknown here`),
        );
      }
    }
    const done = await (deleteHistory ? deleteAll : stopAll)(host, modules, { held, options });
    await followChanges(modules);
    return Math.max(code, done);
  });
}

interface Untracking {
  held: readonly Holding[];
  options: Options;
}

async function deleteAll(host: Host, modules: Modules, { held, options }: Untracking): Promise<number> {
  const snapshots = held.reduce((sum, one) => sum + one.snapshots, 0);
  return remove(host, options, {
    items: held,
    question: `Delete ${countOf(held.length, "repository", "repositories")} with ${countOf(snapshots, "snapshot")} for good?`,
    verb: "deleted",
    describe: (one) => ({
      name: repositoryKey(one.repository),
      words: deletedWords(one),
      facts: factsOf(one),
    }),
    carryOut: async ({ repository }) => {
      await untrack(modules, repository, { deletes: true });
      const target = repositoryKey(repository);
      await logOperation(host, modules, { event: "repository_deleted", target, reason: options.reason });
    },
  });
}

async function stopAll(
  host: Host,
  modules: Modules,
  { held, options: { json = false, reason } }: Untracking,
): Promise<number> {
  let code: number = EXIT.ok;
  for (const one of held) {
    const { repository, isWhole, isRead } = one;
    const target = repositoryKey(repository);
    const result = isWhole ? "refused" : "untracked";
    if (isWhole) code = EXIT.failed;
    else {
      await untrack(modules, repository, { deletes: false });
      const undo = shellCommand("sidereal", "track", target);
      await logOperation(host, modules, { event: "repository_untracked", target, reason, undo });
    }
    const words = isWhole
      ? `still tracked: ${repository.provider} is read as a whole, and would be read again`
      : `${isRead ? "no longer read" : "was not read"}; keeps ${historyWords(one)}`;
    host.stdout.write(reportOf(json, { ...factsOf(one), result }, `${target}: ${words}`));
  }
  return code;
}

function factsOf({ repository: { id, provider, fullName }, isRead, snapshots, watchlists }: Holding): object {
  return { id: String(id), provider, fullName, wasRead: isRead, snapshots, watchlists };
}

const historyWords = ({ snapshots, since }: Holding): string =>
  `${countOf(snapshots, "snapshot")}${since === null ? "" : ` since ${isoDay(since)}`}`;

function deletedWords(held: Holding): string {
  const { repository, watchlists, isWhole } = held;
  const lists = watchlists === 0 ? "" : ` and its place on ${countOf(watchlists, "watchlist")}`;
  const again = isWhole ? `; discovery on ${repository.provider} may find it again` : "";
  return ` for good, with ${historyWords(held)}${lists}${again}`;
}
