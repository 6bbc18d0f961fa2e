import { readFileSync, statSync } from "node:fs";
import { basename } from "node:path";
import type { Command } from "commander";
import { isoTime, timeOrNull } from "../lib/clock.js";
import { type Modules, updateDerived } from "../modules.js";
import type { Differing } from "../repositories/repositories.js";
import {
  FORMATS,
  type FormatName,
  type ImportOptions,
  type ImportReport,
  type ImportWarning,
  importFiles,
  type Problem,
  parseTime,
  Refusal,
  readManifest,
} from "../transfer/transfer.js";
import { onCopy } from "./dry-run.js";
import { CommandFault, EXIT, type Host, reportOf, showProgress, withModules } from "./host.js";
import { filesOf, listImports, undoImport } from "./imports.js";
import { commandUser, logOperation, type RemovalOptions } from "./removal.js";

interface Options extends RemovalOptions {
  list?: boolean;
  undo?: string;
  replace?: boolean;
  format?: FormatName;
  date?: string;
  manifest?: string;
  strict?: boolean;
  accept?: boolean;
  keepSample?: boolean;
}

/** Refused lines, and warnings, that are printed; further ones are only counted. */
const SHOWN = 50;

export function addImport(program: Command, host: Host, finish: (code: number) => void): void {
  program
    .command("import")
    .description(
      "import histories: Sidereal's NDJSON and daily CSV archives, also .gz, .zst and .xz, in .tar and .zip",
    )
    .argument("[files...]", 'files in date order, "-" for standard input')
    .option("--format <name>", `format, instead of detecting it: ${FORMATS.join(", ")}`)
    .option(
      "--date <time>",
      "capture time of files that contain no times, instead of the date in the file name",
    )
    .option(
      "--manifest <file>",
      "CSV with the columns file and source_commit_time: the capture time of each file",
    )
    .option("--keep-sample", "keep the bundled sample as ordinary history")
    .option("--strict", "refuse damaged files as a whole, instead of importing them with a warning")
    .option(
      "--accept",
      "record files that would wait or be held back, as they differ from those before like damaged files",
    )
    .option(
      "--replace",
      "replace readings of earlier imports that differ from those in the files; never those of a forge",
    )
    .option("--list", "list the imports that were made, with their numbers")
    .option("--undo <number>", "remove everything that an import has added; says what and asks first")
    .option("--yes", "with --undo: do it without a question")
    .option(
      "--dry-run",
      "report what would change, and change nothing: imports into a copy of the store, or only says what --undo would remove",
    )
    .option(
      "--json",
      "print the report as JSON, and refused lines and warnings as JSON lines on standard error",
    )
    .addHelpText("after", EXIT_CODES)
    .action(async (files: string[], options: Options) => finish(await run(host, files, options)));
}

async function run(host: Host, files: readonly string[], options: Options): Promise<number> {
  const { list = false, undo, dryRun = false, yes = false } = options;
  if (yes && undo === undefined) throw new CommandFault("--yes belongs to --undo.");
  if (list || undo !== undefined) {
    if (files.length > 0 || (list && (undo !== undefined || dryRun)))
      throw new CommandFault("Give files, --list or --undo, and only one of them.");
    if (undo !== undefined) return undoImport(host, undo, options);
    await listImports(host, options.json === true);
    return EXIT.ok;
  }
  if (files.length === 0)
    throw new CommandFault("missing required argument 'files'\n(sidereal import --help lists the options)");
  return dryRun ? onCopy(host, (copy) => runImport(copy, files, options)) : runImport(host, files, options);
}

const EXIT_CODES = `
Exit codes:
  0  everything was imported; there may be warnings
  1  failed: the database cannot be used
  2  wrong arguments or settings
  3  done, but some lines or files were refused, or files held back`;

async function runImport(host: Host, files: readonly string[], options: Options): Promise<number> {
  const { json = false, dryRun = false } = options;
  const reading = readOptions(options, files, host.clock.now());
  return withModules(host, async (modules) => {
    if ((await modules.catalog.kind()) === "synthetic")
      throw new CommandFault(
        "This database holds made-up data; real repositories are not mixed in. Use another SIDEREAL_DATA_DIR.",
        EXIT.failed,
      );
    if (options.keepSample === true) await modules.catalog.keepSample();
    const began = host.clock.monotonic();
    const { importId, ...result } = await importWithProgress(host, modules, files, { ...reading, json });
    showWarnings(host, result.warnings, json);
    const importSeconds = (host.clock.monotonic() - began) / 1_000;
    const namesJoined = dryRun
      ? await modules.catalog.joinContinuedNames()
      : await deriveWithProgress(modules);
    const undo = `sidereal import --undo ${importId}`;
    if (!dryRun) await logOperation(host, modules, { event: "files_imported", target: namesOf(files), undo });
    const report = {
      ...result,
      importId: dryRun ? null : importId,
      namesJoined,
      warnings: result.warnings.map(dated),
      seconds: (host.clock.monotonic() - began) / 1_000,
      importSeconds,
      rowsPerSecond: Math.round(result.rows / importSeconds),
      databaseBytes: await modules.database.dialect.size(modules.database.read),
      memoryPeakBytes: process.resourceUsage().maxRSS * 1_024,
    };
    const { seconds, rowsPerSecond, databaseBytes, memoryPeakBytes } = report;
    const sentence = [
      `${result.files} files, ${result.rows} rows in ${importSeconds.toFixed(1)} s (${rowsPerSecond} rows/s), ${seconds.toFixed(1)} s with growth and search`,
      ...sentencesOf({ ...result, importId }, namesJoined),
      `database ${(databaseBytes / 1e6).toFixed(1)} MB, memory peak ${(memoryPeakBytes / 1e6).toFixed(0)} MB`,
      dryRun ? "dry run: nothing was changed" : `import ${importId}; to undo it: ${undo}`,
    ];
    host.stdout.write(reportOf(json, report, sentence.join("\n")));
    return result.refused + result.heldBack === 0 ? EXIT.ok : EXIT.refused;
  });
}

const namesOf = (files: readonly string[]): string =>
  filesOf({ files: files.map((file) => basename(file)), fileCount: files.length });

/** Imports files, with a bar, and shows the first refused lines and differing readings. */
async function importWithProgress(
  host: Host,
  { catalog }: Modules,
  files: readonly string[],
  { json, ...reading }: ImportOptions & { json: boolean },
): Promise<ImportReport> {
  const began = host.clock.monotonic();
  const progress = showProgress(
    totalBytes(files),
    "  {bar} {percentage} %  {rate} rows/s  {eta_formatted} left  {file}",
  );
  const shown = { refused: 0, differing: 0 };
  const show = (kind: keyof typeof shown, line: string) => {
    if (json || ++shown[kind] <= SHOWN) host.stderr.write(`${line}\n`);
  };
  const result = await importFiles(catalog, files, {
    ...reading,
    by: commandUser(),
    onDiffering: (differing) => show("differing", describeDiffering(differing, json)),
    onRefused: (problem) => show("refused", describe(problem, json)),
    onProgress: ({ bytes, rows, file }) => {
      const rate = String(Math.round(rows / ((host.clock.monotonic() - began) / 1_000)));
      progress.update(bytes, { rate, file });
    },
  });
  progress.stop();
  for (const [kind, words] of [
    ["refused", "more"],
    ["differing", "more that differ"],
  ] as const)
    if (shown[kind] > SHOWN) host.stderr.write(`… and ${shown[kind] - SHOWN} ${words}\n`);
  return result;
}

function sentencesOf(report: ImportReport, namesJoined: number): string[] {
  const { repositoriesAdded, repositoriesChanged, snapshotsAdded, skipped, refused, warnings } = report;
  return [
    `${repositoriesAdded} repositories added, ${repositoriesChanged} changed; ${snapshotsAdded} snapshots added`,
    `${skipped} rows skipped, ${refused} refused; ${warnings.length} warnings`,
    ...(namesJoined === 0 ? [] : [`${namesJoined} names joined to those under which they continue`]),
    ...(report.differing === 0
      ? []
      : [`${report.differing} readings differ from stored ones; ${report.replaced} of them replaced these`]),
    ...heldBackSentences(report),
  ];
}

function heldBackSentences({ heldBack, waiting, confirmed }: ImportReport): string[] {
  const files = (count: number) => (count === 1 ? "1 file" : `${count} files`);
  const withdrawn = heldBack - waiting;
  return [
    ...(confirmed === 0 ? [] : [`${files(confirmed)} that had waited recorded: the next one agrees`]),
    ...(withdrawn === 0
      ? []
      : [`${files(withdrawn)} held back: nothing of them counts. Import one that is right with --accept`]),
    ...(waiting === 0
      ? []
      : [
          `${files(waiting)} waiting for the next one, which decides. Import one that is right with --accept`,
        ]),
  ];
}

function showWarnings(host: Host, warnings: readonly ImportWarning[], json: boolean): void {
  for (const warning of json ? warnings : warnings.slice(0, SHOWN)) {
    const line = json ? JSON.stringify(dated(warning)) : `warning: ${warning.file}: ${warning.reason}`;
    host.stderr.write(`${line}\n`);
  }
  if (!json && warnings.length > SHOWN) host.stderr.write(`… and ${warnings.length - SHOWN} more warnings\n`);
}

const dated = ({ capturedAt, ...warning }: ImportWarning) => ({
  ...warning,
  capturedAt: timeOrNull(capturedAt),
});

/** Updates all derived data, with a bar. Returns the number of names joined. */
export async function deriveWithProgress(modules: Modules): Promise<number> {
  const { repositories } = await modules.rankings.counters();
  const progress = showProgress(repositories, "  growth {bar} {value} repositories");
  const joined = await updateDerived(modules, (done) => progress.update(done));
  progress.stop();
  return joined;
}

/** The options of the import. Throws CommandFault. */
function readOptions(
  { format, date, manifest, strict = false, accept = false, replace = false }: Options,
  files: readonly string[],
  now: number,
): ImportOptions {
  if (strict && files.includes("-"))
    throw new CommandFault("--strict: standard input cannot be read twice; write it to a file first");
  if (format !== undefined && !FORMATS.includes(format))
    throw new CommandFault(`--format: must be one of ${FORMATS.join(", ")}`);
  try {
    return {
      isStrict: strict,
      accepts: accept,
      replaces: replace,
      ...(format === undefined ? {} : { format }),
      ...(date === undefined ? {} : { capturedAt: parseTime(date, now) }),
      ...(manifest === undefined ? {} : { manifest: readManifest(readFileSync(manifest, "utf8"), now) }),
    };
  } catch (error) {
    if (error instanceof Refusal)
      throw new CommandFault(
        `${manifest === undefined ? "--date" : "--date or --manifest"}: ${error.message}`,
      );
    throw new CommandFault(`--manifest: ${manifest} cannot be read`);
  }
}

function describe({ file, line, reason }: Problem, json: boolean): string {
  if (json) return JSON.stringify({ file, line, reason });
  return line === 0 ? `${file}: ${reason}` : `${file}:${line}: ${reason}`;
}

function describeDiffering(differing: Differing, json: boolean): string {
  const { provider, fullName, capturedAt, stars, storedStars, isOfForge, isReplaced } = differing;
  const kept = isOfForge ? "kept, as the forge reported it" : "kept; --replace takes the new one";
  const reason = `differs from the stored reading, ${isReplaced ? "replaced" : kept}`;
  const at = isoTime(capturedAt);
  if (json) return JSON.stringify({ provider, fullName, capturedAt: at, stars, storedStars, reason });
  return `${provider.toLowerCase()}:${fullName} at ${at}: ${stars} stars, ${storedStars} stored: ${reason}`;
}

function totalBytes(files: readonly string[]): number {
  return files.reduce(
    (sum, file) => sum + (file === "-" ? 0 : (statSync(file, { throwIfNoEntry: false })?.size ?? 0)),
    0,
  );
}
