/** Keeps the rows of runs in a file, so that a table can be measured in several runs, and writes the table. */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { availableParallelism, cpus, loadavg, release, totalmem, type } from "node:os";
import { join } from "node:path";
import { isMet, type ResultRow, resultTable } from "./results.js";
import type { EngineName } from "./stores.js";

/** The rows of one part on one store. */
export interface RecordedRun {
  part: string;
  size: number;
  engine: EngineName;
  rows: readonly ResultRow[];
  rounds: number;
  /** Duration of one run of load. */
  seconds: number;
}

interface Kept extends RecordedRun {
  /** Day and minute in UTC, and the revision of the code. */
  at: string;
  revision: string;
  /** Load average of the machine when the part ended, of 15 minutes: far above 2, other programs were running. */
  load: number;
}

const fileOf = (folder: string) => join(folder, "results.json");

function readKept(folder: string): Kept[] {
  return existsSync(fileOf(folder)) ? JSON.parse(readFileSync(fileOf(folder), "utf8")) : [];
}

/** Adds a run, and removes an earlier one of the same part on the same store. */
export function recordRun(folder: string, run: RecordedRun): void {
  const isOther = (kept: Kept) =>
    kept.part !== run.part || kept.size !== run.size || kept.engine !== run.engine;
  const at = new Date().toISOString().slice(0, 16).replace("T", " ");
  const kept = [
    ...readKept(folder).filter(isOther),
    { ...run, at, revision: revision(), load: loadavg()[2] ?? 0 },
  ];
  writeFileSync(fileOf(folder), JSON.stringify(kept));
}

function revision(): string {
  try {
    return execFileSync("git", ["rev-parse", "--short", "HEAD"], { encoding: "utf8" }).trim();
  } catch {
    return "unknown";
  }
}

/** Writes the table of all kept runs, with the facts that a reader needs to judge it. */
export function writeResults(
  folder: string,
  output: string,
  { parts, postgresVersion }: { parts: readonly string[]; postgresVersion: string },
): void {
  const kept = readKept(folder).filter(({ part }) => parts.includes(part));
  kept.sort(
    (a, b) =>
      a.size - b.size || b.engine.localeCompare(a.engine) || parts.indexOf(a.part) - parts.indexOf(b.part),
  );
  const sections = kept.map(
    ({ part, size, engine, rows, rounds, seconds, at, revision, load }) =>
      `## ${part}: ${size.toLocaleString("en-US")} repositories, ${engine}\n\n` +
      `${at} UTC, revision ${revision}, ${rounds} rounds, ${seconds} s each, load average ${load.toFixed(1)}.\n\n${resultTable(rows)}`,
  );
  const rows = kept.flatMap(({ rows }) => rows);
  const judged = rows.map(isMet).filter((met) => met !== undefined);
  const text = [
    "# Results",
    "Written by `npm run bench`; [README.md](README.md) says what is measured and how. Do not edit.",
    `${judged.filter(Boolean).length} of ${judged.length} rows with a target meet it.`,
    machineFacts(postgresVersion),
    growthTable(kept),
    ...sections,
  ];
  writeFileSync(output, `${text.filter((part) => part !== "").join("\n\n")}`.replace(/\n*$/, "\n"));
}

function machineFacts(postgresVersion: string): string {
  const facts = [
    `${availableParallelism()} cores of ${cpus()[0]?.model.trim() ?? "an unknown processor"}, ${Math.round(totalmem() / 2 ** 30)} GB`,
    `${type()} ${release()}`,
    `Node.js ${process.versions.node}`,
    `SQLite ${process.versions.sqlite}`,
    postgresVersion,
  ];
  return facts.map((fact) => `- ${fact}`).join("\n");
}

/** From one size to ten times as many. */
const STEP = 10;
const STEP_TARGET = { atMost: 1.5 };

/** How the 99th percentiles grow from each size to the next; empty if only one size was measured. */
function growthTable(kept: readonly Kept[]): string {
  const rows = kept.flatMap(({ rows }) => rows).filter(({ measure }) => measure.includes("p99"));
  const steps = rows.flatMap((row): ResultRow[] => {
    const smaller = rows.find(
      ({ measure, size, engine }) =>
        measure === row.measure && engine === row.engine && size !== undefined && size * STEP === row.size,
    );
    if (smaller === undefined || smaller.value <= 0) return [];
    const { measure, unit, size, engine, value } = row;
    return [
      {
        measure,
        unit,
        value,
        ...(size === undefined ? {} : { size }),
        ...(engine === undefined ? {} : { engine }),
        baseline: { name: `${smaller.size?.toLocaleString("en-US")} repositories`, value: smaller.value },
        ratio: value / smaller.value,
        target: STEP_TARGET,
      },
    ];
  });
  return steps.length === 0 ? "" : `## From one size to ten times as many\n\n${resultTable(steps)}`;
}
