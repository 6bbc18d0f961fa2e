import type { Command } from "commander";
import { AppError } from "../lib/errors.js";
import { repositoryKey as keyOf } from "../lib/page-addresses.js";
import { shellCommand } from "../lib/shell-words.js";
import { followChanges } from "../modules.js";
import { readRepositoryName } from "../repositories/repositories.js";
import { CommandFault, EXIT, type Host, reportOf, requireStore, withModules } from "./host.js";
import { logOperation } from "./removal.js";

const USAGE =
  "Give both names of one forge, such as github:owner/old github:owner/new, or with --undo the old one alone.";

interface Options {
  undo?: boolean;
  json?: boolean;
}

export function addRename(program: Command, host: Host): void {
  program
    .command("rename")
    .description("join the repository with an old name to the one with its new name, in archives without ids")
    .argument("<old>", "such as github:owner/name")
    .argument("[new]", "of the same forge")
    .option("--undo", "undo a rename; needs only the old name")
    .option("--json", "print a JSON object")
    .action((old: string, present: string | undefined, options: Options) =>
      rename(host, [old, present], options),
    );
}

async function rename(
  host: Host,
  [old, present]: readonly [string, string | undefined],
  { undo = false, json = false }: Options,
): Promise<void> {
  const from = readRepositoryName(old);
  const to = present === undefined ? undefined : readRepositoryName(present);
  if (from === undefined || undo !== (present === undefined) || (!undo && to?.provider !== from.provider))
    throw new CommandFault(USAGE);
  requireStore(host.config);
  await withModules(host, async (modules) => {
    const stated = { provider: from.provider, from: from.fullName };
    const snapshots =
      to === undefined
        ? await modules.catalog.partRenamed(stated)
        : await modules.catalog.joinRenamed({ ...stated, to: to.fullName });
    await logOperation(host, modules, {
      event: to === undefined ? "rename_undone" : "repository_renamed",
      target: to === undefined ? keyOf(from) : `${keyOf(from)} to ${to.fullName}`,
      undo: to === undefined ? undefined : shellCommand("sidereal", "rename", "--undo", keyOf(from)),
    });
    await followChanges(modules);
    const sentence =
      to === undefined
        ? `${from.fullName} is a repository of its own again; ${snapshots} snapshots removed from its new name`
        : `${from.fullName} is now ${to.fullName}; ${snapshots} snapshots joined`;
    host.stdout.write(reportOf(json, { ...stated, to: to?.fullName ?? null, snapshots }, sentence));
  }).catch((error: unknown) => {
    throw error instanceof AppError ? new CommandFault(error.message, EXIT.failed) : error;
  });
}
