/** `check`: finds damage in a store and repairs it if possible. */
import type { Command } from "commander";
import { createLog } from "../lib/log.js";
import type { Finding } from "../transfer/transfer.js";
import { EXIT, type Host, reportOf, withModules } from "./host.js";
import { deriveWithProgress } from "./import.js";

export function addCheck(program: Command, host: Host, finish: (code: number) => void): void {
  program
    .command("check")
    .description("check the store and list all damage with its remedy; changes nothing without --repair")
    .option("--repair", "remove orphaned rows, and rebuild all derived data")
    .option("--json", "print the report as JSON")
    .action(async ({ repair = false, json = false }: { repair?: boolean; json?: boolean }) =>
      finish(await runCheck(host, repair, json)),
    );
}

async function runCheck(host: Host, repairs: boolean, json: boolean): Promise<number> {
  const { checkStore, repairStore } = await import("../transfer/transfer.js");
  const { clock, config, stdout } = host;
  const { databaseUrl: url, dataDir } = config;
  const check = () => checkStore({ url, dataDir }, clock, createLog("silent"));
  const print = (findings: readonly Finding[]) =>
    stdout.write(reportOf(json, { healthy: findings.length === 0, findings }, describe(findings)));
  const before = await check();
  print(before.findings);
  if (before.findings.length === 0) return EXIT.ok;
  if (!repairs || before.findings.some(({ kind }) => UNTOUCHABLE.includes(kind))) return EXIT.damaged;
  await withModules(host, async (modules) => {
    await repairStore(modules.database, before, clock.now());
    await deriveWithProgress(modules);
  });
  const { findings } = await check();
  if (!json) stdout.write("\nAfter the repair: ");
  print(findings);
  return findings.length === 0 ? EXIT.repaired : EXIT.damaged;
}

/** Kinds of damage that forbid all writing. */
const UNTOUCHABLE: readonly Finding["kind"][] = ["file-damaged", "version-wrong"];

function describe(findings: readonly Finding[]): string {
  if (findings.length === 0) return "no damage was found";
  return findings
    .map(({ title, kind, found, advice = "check --repair puts this right." }) =>
      [`${title} (${kind})`, ...found.map((one) => `  ${one}`), `  → ${advice}`].join("\n"),
    )
    .join("\n");
}
