import type { Command } from "commander";
import { createLog } from "../lib/log.js";
import type { Diagnosis, Finding } from "../transfer/transfer.js";
import { placeOf } from "./backup.js";
import { failureOf } from "./failure.js";
import { EXIT, type Host, reportOf } from "./host.js";

export function addDoctor(program: Command, host: Host, finish: (code: number) => void): void {
  program
    .command("doctor")
    .description(
      "examine the store, name each kind of damage and what to do; changes nothing without --repair",
    )
    .option("--repair", "bring back what follows from other data")
    .option("--json", "print the report as JSON")
    .action(async ({ repair = false, json = false }: { repair?: boolean; json?: boolean }) =>
      finish(await runDoctor(host, { repairs: repair, json })),
    );
}

interface Report {
  healthy: boolean;
  damage: (Omit<Finding, "isDerived"> & { repairable: boolean; repaired: boolean })[];
}

async function runDoctor(
  host: Host,
  { repairs, json }: { repairs: boolean; json: boolean },
): Promise<number> {
  const { CannotExamine, examine, repair } = await import("../transfer/transfer.js");
  const { clock, stdout, stderr } = host;
  const examined = { ...placeOf(host), clock, log: createLog("silent") };
  try {
    const before = await examine(examined);
    let after = before;
    if (repairs && canRepair(before)) {
      const modules = await host.openModules();
      try {
        await repair(examined, before.repairs, modules);
      } finally {
        await modules.database.close();
      }
      after = await examine(examined);
    }
    const report = reportFrom(before, after);
    stdout.write(reportOf(json, report, describe(report)));
    if (after.findings.length > 0) return EXIT.damaged;
    return before.findings.length > 0 ? EXIT.repaired : EXIT.ok;
  } catch (error) {
    if (!(error instanceof CannotExamine)) throw error;
    const message = failureOf(error.cause, host.config)?.sentence ?? error.message;
    stderr.write(reportOf(json, { error: message }, message));
    return EXIT.unchecked;
  }
}

/** Kinds of damage that forbid all writing. */
const UNTOUCHABLE: readonly Finding["code"][] = [
  "not-a-database",
  "file-truncated",
  "pages-damaged",
  "schema-newer",
  "table-missing",
  "column-missing",
];

function canRepair({ findings, repairs }: Diagnosis): boolean {
  return repairs.size > 0 && findings.every(({ code }) => !UNTOUCHABLE.includes(code));
}

/** Findings before and after a repair, which may reveal more, such as rows that a missing migration hid. */
function reportFrom(before: Diagnosis, after: Diagnosis): Report {
  const left = new Set(after.findings.map(({ code }) => code));
  const known = new Set(before.findings.map(({ code }) => code));
  const all = [...before.findings, ...after.findings.filter(({ code }) => !known.has(code))];
  const damage = all.map(({ isDerived, ...finding }) => ({
    ...finding,
    repairable: isDerived,
    repaired: !left.has(finding.code),
  }));
  return { healthy: after.findings.length === 0, damage };
}

function describe({ damage }: Report): string {
  if (damage.length === 0) return "no damage was found";
  return damage
    .map(({ code, title, count, found, advice, repaired }) => {
      const more = count > found.length ? [`  … and ${count - found.length} more`] : [];
      const end = repaired ? "repaired" : advice;
      return [`${title} (${code})`, ...found.map((one) => `  ${one}`), ...more, `  → ${end}`].join("\n");
    })
    .join("\n\n");
}
