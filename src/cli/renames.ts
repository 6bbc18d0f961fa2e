import type { Command } from "commander";
import { isoTime } from "../lib/clock.js";
import { AppError } from "../lib/errors.js";
import { followChanges, type Modules } from "../modules.js";
import {
  describeEvidence,
  RENAME_DECISIONS,
  RENAME_STATUSES,
  type Rename,
  type RenameDecision,
  repositoryId,
} from "../repositories/repositories.js";
import { EXIT, type Host, reportOf } from "./host.js";

const DESCRIPTIONS: Readonly<Record<RenameDecision, string>> = {
  accept: "join the history of the earlier name to the later one, and let the earlier name lead there",
  reject: "keep both apart, and list both",
  undo: "make an accepted or rejected rename a suspected one again",
};

/** Renames read by one statement. */
const PAGE = 500;

export function addRenames(program: Command, host: Host, finish: (code: number) => void): void {
  const renames = program
    .command("renames")
    .description("list names that seem to continue as others in archives without ids, and decide about them");
  renames
    .command("list", { isDefault: true })
    .description("list renames with their evidence")
    .option("--status <status>", `only those with this status: ${RENAME_STATUSES.join(", ").toLowerCase()}`)
    .option("--json", "print one JSON object per rename")
    .action(async (options: { status?: string; json?: boolean }) => finish(await list(host, options)));
  for (const decision of RENAME_DECISIONS)
    renames
      .command(decision)
      .description(DESCRIPTIONS[decision])
      .argument("<id...>", "as listed")
      .option("--json", "print one JSON object per rename")
      .action(async (ids: string[], { json }: { json?: boolean }) =>
        finish(await decide(host, decision, { texts: ids, json: json === true })),
      );
}

async function list(host: Host, { status, json }: { status?: string; json?: boolean }): Promise<number> {
  const wanted = RENAME_STATUSES.find((one) => one === status?.toUpperCase());
  if (status !== undefined && wanted === undefined) {
    host.stderr.write(`--status: must be one of ${RENAME_STATUSES.join(", ").toLowerCase()}\n`);
    return EXIT.usage;
  }
  const modules = await host.openModules();
  try {
    let isEmpty = true;
    for (let after = 0; ; ) {
      const page = await modules.catalog.renames({
        after,
        limit: PAGE,
        ...(wanted === undefined ? {} : { status: wanted }),
      });
      for (const rename of page)
        host.stdout.write(reportOf(json === true, factsOf(rename), describe(rename)));
      const last = page.at(-1);
      if (last === undefined) break;
      after = last.id;
      isEmpty = false;
    }
    if (isEmpty && json !== true) host.stdout.write("no renames\n");
    return EXIT.ok;
  } finally {
    await modules.database.close();
  }
}

async function decide(
  host: Host,
  decision: RenameDecision,
  { texts, json }: { texts: readonly string[]; json: boolean },
): Promise<number> {
  const wrong = texts.find((text) => (repositoryId(text) ?? 0) === 0);
  if (wrong !== undefined) {
    host.stderr.write(`${wrong}: must be the number of a rename, as \`sidereal renames\` lists it\n`);
    return EXIT.usage;
  }
  const modules = await host.openModules();
  try {
    let code: number = EXIT.ok;
    for (const id of texts.map(Number)) {
      const result = await decideOne(modules, id, decision);
      if (result.failed === true) code = EXIT.failed;
      host.stdout.write(reportOf(json, { id: String(id), ...result }, `${id}: ${result.result}`));
    }
    await followChanges(modules, false);
    return code;
  } finally {
    await modules.database.close();
  }
}

const DONE: Readonly<Record<RenameDecision, string>> = {
  accept: "accepted",
  reject: "rejected",
  undo: "suspected again",
};

async function decideOne(
  { catalog }: Modules,
  id: number,
  decision: RenameDecision,
): Promise<{ result: string; failed?: true }> {
  try {
    const isChanged = await catalog.decideRename(id, decision);
    if (isChanged) return { result: DONE[decision] };
    return { result: `was ${decision === "undo" ? "suspected" : DONE[decision]} already` };
  } catch (error) {
    if (!(error instanceof AppError) || (error.code !== "NOT_FOUND" && error.code !== "CONFLICT"))
      throw error;
    return { result: error.message, failed: true };
  }
}

/** A rename as JSON. */
function factsOf({ id, status, from, to, evidence, suspectedAt, decidedAt }: Rename): object {
  const name = ({ id: repository, provider, fullName }: Rename["from"]) => ({
    id: String(repository),
    provider,
    fullName,
  });
  const counts = ({ at, stars, forks }: Rename["evidence"]["from"]) => ({ at: isoTime(at), stars, forks });
  return {
    id: String(id),
    status,
    from: name(from),
    to: name(to),
    evidence: { ...evidence, from: counts(evidence.from), to: counts(evidence.to) },
    reasons: describeEvidence(evidence),
    suspectedAt: isoTime(suspectedAt),
    decidedAt: decidedAt === null ? null : isoTime(decidedAt),
  };
}

function describe({ id, status, from, to, evidence }: Rename): string {
  const day = (at: number) => isoTime(at).slice(0, 10);
  return [
    `${id}  ${status.toLowerCase()}  ${from.provider.toLowerCase()}:${from.fullName} → ${to.fullName}`,
    `   until ${day(evidence.from.at)}, from ${day(evidence.to.at)} in ${evidence.source}: ${describeEvidence(evidence).join(", ")}`,
  ].join("\n");
}
