/** The imports that were made: their list, and undoing one. */
import { isoDay, isoTime, timeOrNull } from "../lib/clock.js";
import { AppError } from "../lib/errors.js";
import { followChanges } from "../modules.js";
import type { ImportRow, Undoing } from "../repositories/repositories.js";
import { CommandFault, EXIT, type Host, reportOf, requireStore, withModules } from "./host.js";
import { logOperation, type RemovalOptions, remove } from "./removal.js";

/** Prints all imports, the newest first. */
export async function listImports(host: Host, json: boolean): Promise<void> {
  requireStore(host.config);
  await withModules(host, async ({ catalog }) => {
    const imports = await catalog.listImports();
    for (const row of imports) host.stdout.write(reportOf(json, factsOf(row), sentenceOf(row)));
    if (imports.length === 0 && !json) host.stdout.write("no imports\n");
  });
}

/** Undoes an import, after a question. Returns the exit code. */
export async function undoImport(host: Host, given: string, options: RemovalOptions): Promise<number> {
  if (!/^[1-9]\d{0,14}$/.test(given))
    throw new CommandFault("--undo: must be the number of an import; import --list shows them");
  requireStore(host.config);
  return withModules(host, async (modules) => {
    const { catalog } = modules;
    const plan = await catalog.planUndo(Number(given));
    const name = `import ${given} (${filesOf(plan.row)})`;
    const going = `${countOf(plan.readings, "reading")} and ${countOf(plan.repositories, "repository", "repositories")}`;
    const code = await remove(host, options, {
      items: [plan],
      question: `Undo ${name}: remove ${going}?`,
      verb: "undone",
      describe: () => ({ name, words: wordsOf(plan, going), facts: undoFacts(plan) }),
      carryOut: async () => {
        await catalog.undoImport(plan.row.id);
        await logOperation(host, modules, { event: "import_undone", target: name });
      },
    });
    await followChanges(modules);
    return code;
  }).catch((error: unknown) => {
    throw error instanceof AppError ? new CommandFault(error.message, EXIT.failed) : error;
  });
}

const countOf = (count: number, one: string, many = `${one}s`): string =>
  `${count} ${count === 1 ? one : many}`;

function wordsOf({ row: { replaced }, kept }: Undoing, going: string): string {
  return [
    `: removes ${going}`,
    ...(kept === 0 ? [] : [`${countOf(kept, "reading")} that other imports have too stay`]),
    ...(replaced === 0
      ? []
      : [
          `${countOf(replaced, "reading")} that it replaced stay as they are: import the right values with --replace, or restore a backup`,
        ]),
  ].join("; ");
}

const undoFacts = ({ row, readings, repositories, kept }: Undoing): object => ({
  import: row.id,
  readings,
  repositories,
  kept,
  replaced: row.replaced,
});

/** The names of the first files. */
export function filesOf({ files, fileCount }: Pick<ImportRow, "files" | "fileCount">): string {
  const [first = "", second] = files;
  if (fileCount <= 2) return second === undefined ? first : `${first}, ${second}`;
  return `${first} and ${fileCount - 1} more`;
}

function stateOf({ undoneAt, undoBeganAt, endedAt }: ImportRow): string {
  if (undoneAt !== null) return "undone";
  if (undoBeganAt !== null) return "partly undone";
  return endedAt === null ? "not ended" : "imported";
}

function factsOf(row: ImportRow): object {
  const { id, importedBy, fromAt, untilAt, beganAt, endedAt, undoBeganAt, undoneAt, ...rest } = row;
  return {
    import: id,
    state: stateOf(row),
    ...rest,
    from: timeOrNull(fromAt),
    until: timeOrNull(untilAt),
    beganAt: isoTime(beganAt),
    endedAt: timeOrNull(endedAt),
    undoneAt: timeOrNull(undoneAt),
    by: importedBy,
  };
}

function sentenceOf(row: ImportRow): string {
  const { id, sources, rows, repositories, readings, replaced, fromAt, untilAt, beganAt, importedBy } = row;
  const times = fromAt === null || untilAt === null ? "" : ` of ${daysOf(fromAt, untilAt)}`;
  const added = `${countOf(readings, "reading")} and ${countOf(repositories, "repository", "repositories")} added`;
  const others = replaced === 0 ? "" : `, ${countOf(replaced, "reading")} replaced`;
  const format = sources.length === 0 ? "" : ` as ${sources.join(", ")}`;
  return `${id}  ${isoTime(beganAt)}  ${importedBy}  ${filesOf(row)}${format}: ${countOf(rows, "row")}${times}, ${added}${others}; ${stateOf(row)}`;
}

function daysOf(fromAt: number, untilAt: number): string {
  const [from, until] = [isoDay(fromAt), isoDay(untilAt)];
  return from === until ? from : `${from} to ${until}`;
}
