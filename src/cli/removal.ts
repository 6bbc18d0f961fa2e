/** Shared by all commands that remove something: the question before it, the report after it, and the log of operators. */
import { userInfo } from "node:os";
import { createInterface } from "node:readline/promises";
import type { Command } from "commander";
import type { OperatorEventName } from "../accounts/accounts.js";
import type { Modules } from "../modules.js";
import { EXIT, type Host, reportOf } from "./host.js";

export interface RemovalOptions {
  yes?: boolean;
  dryRun?: boolean;
  json?: boolean;
}

/** The codes that every such command returns besides 0 and its own. */
export const REMOVAL_EXIT_CODES = `  1  failed, or the question was answered with no
  2  wrong arguments or settings; or nobody is there to answer, and --yes is missing: nothing is changed`;

export function addRemovalOptions(command: Command): Command {
  return command
    .option("--yes", "do it without a question")
    .option("--dry-run", "only say what would be removed")
    .option("--json", "print JSON objects");
}

/** A number of things, such as "1 session". */
export const countOf = (count: number, one: string, many = `${one}s`): string =>
  `${count} ${count === 1 ? one : many}`;

/** Something that a command removes. */
export interface Removal<T> {
  items: readonly T[];
  /** Counts them, such as "Delete 2 repositories with 40 snapshots?". */
  question: string;
  /** What happens to each, such as "deleted". */
  verb: string;
  /** Its name, the words after the verb, and its facts. */
  describe(item: T): { name: string; words: string; facts: object };
  carryOut(item: T): Promise<void>;
}

/**
 * Removes things after a person at a terminal has agreed, or with `--yes`. The default is no. Prints one line for each: what happened to
 * it, or what would. Returns the exit code.
 */
export async function remove<T>(
  host: Host,
  { yes = false, dryRun = false, json = false }: RemovalOptions,
  { items, question, verb, describe, carryOut }: Removal<T>,
): Promise<number> {
  if (items.length === 0) return EXIT.ok;
  const report = (item: T, isDone: boolean) => {
    const { name, words, facts } = describe(item);
    return reportOf(
      json,
      { ...facts, result: isDone ? verb : "unchanged" },
      `${name}: ${isDone ? verb : `would be ${verb}`}${words}`,
    );
  };
  if (dryRun || !yes) {
    for (const item of items) host.stdout.write(report(item, false));
    if (dryRun) return EXIT.ok;
    if (host.stdin.isTTY !== true) {
      host.stderr.write("Nothing is changed without --yes.\n");
      return EXIT.usage;
    }
    if (!(await isAgreed(host, question))) {
      host.stderr.write("Nothing is changed.\n");
      return EXIT.failed;
    }
  }
  for (const item of items) {
    await carryOut(item);
    host.stdout.write(report(item, true));
  }
  return EXIT.ok;
}

/** Asks a question whose default is no. */
async function isAgreed({ stdin, stderr }: Host, question: string): Promise<boolean> {
  const asking = createInterface({ input: stdin, output: stderr });
  const closed = new Promise<string>((resolve) => asking.once("close", () => resolve("")));
  const answer = await Promise.race([asking.question(`${question} [y/N] `), closed]);
  asking.close();
  return /^y(es)?$/i.test(answer.trim());
}

/** What an operator did, for the log. */
export interface Operation {
  event: OperatorEventName;
  /** What it was done to. */
  target: string;
  /** The command that undoes it; absent: it cannot be undone. */
  undo?: string | undefined;
  reason?: string | undefined;
}

/** Adds to the log of operators what a command has just done. */
export async function logOperation(
  { clock }: Host,
  { database }: Pick<Modules, "database">,
  { event, ...detail }: Operation,
): Promise<void> {
  const { insertEvent } = await import("../accounts/accounts.js");
  const at = clock.now();
  const given = Object.entries(detail).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value]],
  );
  await insertEvent(database.write, {
    ...{ at, accountId: null, event, network: "local" },
    detail: { by: commandUser(), ...Object.fromEntries(given) },
  });
}

/** Who runs this command. */
export function commandUser(): string {
  try {
    return `cli ${userInfo().username}`;
  } catch {
    // A container may run it as a user without a name.
    return `cli ${process.getuid?.() ?? ""}`.trim();
  }
}
