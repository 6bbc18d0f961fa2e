import type { Command } from "commander";
import { AppError } from "../lib/errors.js";
import type { RepositoryName } from "../lib/page-addresses.js";
import { followChanges } from "../modules.js";
import { providerName, splitFullName } from "../repositories/repositories.js";
import { EXIT, type Host, reportOf } from "./host.js";

const USAGE =
  "Give both names of one forge, such as github:owner/old github:owner/new, or with --undo the old one alone.\n";

interface Options {
  undo?: boolean;
  json?: boolean;
}

export function addRename(program: Command, host: Host, finish: (code: number) => void): void {
  program
    .command("rename")
    .description("join the repository with an old name to the one with its new name, in archives without ids")
    .argument("<old>", "such as github:owner/name")
    .argument("[new]", "of the same forge")
    .option("--undo", "undo a rename; needs only the old name")
    .option("--json", "print a JSON object")
    .action(async (old: string, present: string | undefined, options: Options) =>
      finish(await rename(host, [old, present], options)),
    );
}

async function rename(
  host: Host,
  [old, present]: readonly [string, string | undefined],
  { undo = false, json = false }: Options,
): Promise<number> {
  const from = readName(old);
  const to = present === undefined ? undefined : readName(present);
  if (from === undefined || undo !== (present === undefined) || (!undo && to?.provider !== from.provider)) {
    host.stderr.write(USAGE);
    return EXIT.usage;
  }
  const modules = await host.openModules();
  try {
    const stated = { provider: from.provider, from: from.fullName };
    const snapshots =
      to === undefined
        ? await modules.catalog.partRenamed(stated)
        : await modules.catalog.joinRenamed({ ...stated, to: to.fullName });
    await followChanges(modules);
    const sentence =
      to === undefined
        ? `${from.fullName} is a repository of its own again; ${snapshots} snapshots removed from its new name`
        : `${from.fullName} is now ${to.fullName}; ${snapshots} snapshots joined`;
    host.stdout.write(reportOf(json, { ...stated, to: to?.fullName ?? null, snapshots }, sentence));
    return EXIT.ok;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    host.stderr.write(`${error.message}\n`);
    return EXIT.failed;
  } finally {
    await modules.database.close();
  }
}

function readName(text: string): RepositoryName | undefined {
  const [, prefix = "", fullName = ""] = /^([^:]*):(.*)$/s.exec(text) ?? [];
  const provider = providerName(prefix);
  return provider === undefined || splitFullName(fullName) === undefined ? undefined : { provider, fullName };
}
