/** The commands that hide repositories, and show them again. */
import type { Command } from "commander";
import { DAY_MS, isoTime, readDays } from "../lib/clock.js";
import { AppError } from "../lib/errors.js";
import { shellCommand } from "../lib/shell-words.js";
import { followChanges, type Modules } from "../modules.js";
import {
  HIDING_FORMS,
  type HidingPreview,
  type HidingTarget,
  hiddenWords,
  MAX_NOTE,
  MAX_REASON,
  readHidingTarget,
  repositoriesText,
} from "../repositories/repositories.js";
import { CommandFault, EXIT, type Host, reportOf, requireStore, withModules } from "./host.js";
import {
  addRemovalOptions,
  commandUser,
  logOperation,
  REMOVAL_EXIT_CODES,
  type RemovalOptions,
  remove,
} from "./removal.js";

interface HideOptions extends RemovalOptions {
  reason?: string;
  note?: string;
  for?: string;
  list?: boolean;
}

const EXIT_CODES = `
Exit codes:
  0  all are hidden, or would be
${REMOVAL_EXIT_CODES}`;

export function addHide(program: Command, host: Host, finish: (code: number) => void): void {
  const command = program
    .command("hide")
    .description("hide repositories from everybody, also future ones; their history stays stored")
    .argument("[what...]", HIDING_FORMS)
    .option("--reason <text>", "why; only operators see it")
    .option("--note <text>", "more for operators, such as a reference to a mail")
    .option("--for <days>", "end it after this time, such as 30d")
    .option("--list", "list what is hidden");
  addRemovalOptions(command)
    .addHelpText("after", EXIT_CODES)
    .action(async (texts: string[], options: HideOptions) =>
      finish(await (options.list === true ? list(host, options) : run(host, texts, options))),
    );
}

export function addUnhide(program: Command, host: Host): void {
  program
    .command("unhide")
    .description("take back what hide did, for exactly what was given to it")
    .argument("<what...>", HIDING_FORMS)
    .option("--reason <text>", "for the log of operators")
    .option("--json", "print JSON objects")
    .action((texts: string[], options: Pick<HideOptions, "json" | "reason">) => unhide(host, texts, options));
}

function targetsOf(texts: readonly string[]): HidingTarget[] {
  return texts.map((text) => {
    const target = readHidingTarget(text);
    if (target === undefined) throw new CommandFault(`${text}: must be ${HIDING_FORMS}.`);
    return target;
  });
}

async function run(host: Host, texts: readonly string[], options: HideOptions): Promise<number> {
  const { reason = "", note = null, for: length } = options;
  if (texts.length === 0) throw new CommandFault(`Say what to hide: ${HIDING_FORMS}.`);
  const targets = targetsOf(texts);
  if (reason.trim() === "" || reason.length > MAX_REASON)
    throw new CommandFault(`--reason: must be given, in at most ${MAX_REASON} characters`);
  if ((note?.length ?? 0) > MAX_NOTE)
    throw new CommandFault(`--note: must have at most ${MAX_NOTE} characters`);
  const days = length === undefined ? null : readDays(length);
  if (days === undefined)
    throw new CommandFault("--for: must be a number of days such as 30d, at most 3650d");
  const endsAt = days === null ? null : host.clock.now() + days * DAY_MS;
  requireStore(host.config);
  return withModules(host, async (modules) => {
    const items = await Promise.all(
      targets.map(async (target) => ({ target, preview: await modules.catalog.hiding.preview(target) })),
    );
    const total = items.reduce((sum, { preview }) => sum + preview.repositories, 0);
    const code = await remove(host, options, {
      items,
      question: `Hide ${repositoriesText(total)}, and later ones with such names?`,
      verb: "hidden",
      describe: ({ target, preview }) => describe(target, preview, endsAt),
      carryOut: async ({ target }) => {
        await hideOne(modules, { target, reason, note, by: commandUser(), endsAt });
        const undo = undoOf(target);
        await logOperation(host, modules, { event: "hidden", target: target.text, reason, undo });
      },
    });
    await followChanges(modules);
    return code;
  });
}

async function hideOne(
  { catalog }: Modules,
  rule: Parameters<Modules["catalog"]["hiding"]["hide"]>[0],
): Promise<void> {
  try {
    await catalog.hiding.hide(rule);
  } catch (error) {
    throw error instanceof AppError ? new CommandFault(error.message, EXIT.failed) : error;
  }
}

const undoOf = ({ text }: HidingTarget): string => shellCommand("sidereal", "unhide", text);

function describe(target: HidingTarget, preview: HidingPreview, endsAt: number | null) {
  const { text } = target;
  const end = endsAt === null ? "" : ` until ${isoTime(endsAt)}`;
  return {
    name: text,
    words: `${end}, with ${hiddenWords(preview)}; undo: ${undoOf(target)}`,
    facts: { target: text, ...preview, endsAt: endsAt === null ? null : isoTime(endsAt) },
  };
}

async function unhide(
  host: Host,
  texts: readonly string[],
  { json = false, reason }: Pick<HideOptions, "json" | "reason">,
): Promise<void> {
  const targets = targetsOf(texts);
  requireStore(host.config);
  await withModules(host, async (modules) => {
    for (const target of targets) {
      const { text } = target;
      const shown = await modules.catalog.hiding.unhide(target);
      if (shown === undefined)
        throw new CommandFault(`${text} is not hidden by that name: see sidereal hide --list`, EXIT.failed);
      await logOperation(host, modules, { event: "unhidden", target: text, reason });
      const words = `${text}: taken back; shown again: ${repositoriesText(shown)}`;
      host.stdout.write(reportOf(json, { target: text, repositories: shown }, words));
    }
    await followChanges(modules);
  });
}

async function list(host: Host, { json = false }: HideOptions): Promise<number> {
  requireStore(host.config);
  const { addressesOf } = await import("../accounts/accounts.js");
  return withModules(host, async ({ catalog, database }) => {
    const rules = await catalog.hiding.rules();
    const addresses = await addressesOf(
      database,
      rules.map(({ by }) => by),
    );
    for (const { text: target, reason, note, by, hiddenAt, endsAt, repositories } of rules) {
      const who = addresses.get(by) ?? (by || "operator");
      const [since, until] = [isoTime(hiddenAt), endsAt === null ? null : isoTime(endsAt)];
      const facts = { target, reason, note, by: who, hiddenAt: since, endsAt: until, repositories };
      const end = until === null ? "" : ` until ${until}`;
      const more = note === null ? "" : ` (${note})`;
      const words = `${target}: ${repositories} hidden since ${since}${end} by ${who}: ${reason}${more}`;
      host.stdout.write(reportOf(json, facts, words));
    }
    if (rules.length === 0 && !json) host.stdout.write("nothing is hidden\n");
    return EXIT.ok;
  });
}
