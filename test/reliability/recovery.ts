import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { sql } from "kysely";
import type { ResultRow } from "../../bench/support/results.js";
import { openStore } from "../../bench/support/stores.js";
import { Random } from "../../bench/synthetic/random.js";
import { HOUR_MS } from "../../src/lib/clock.js";
import { createLog } from "../../src/lib/log.js";
import { checkStore, exportCatalogue } from "../../src/transfer/transfer.js";
import { connectToServer } from "../support/engines.js";
import { type Forge, ForgeCatalogue, startForge } from "../support/forge/forge.js";
import { QUIET } from "../support/forge/world.js";
import { ManualClock } from "../support/manual-clock.js";
import { createTestDatabase, dropTestDatabase } from "../support/postgres.js";
import {
  assertHappened,
  countMaker,
  type Harness,
  type HarnessContext,
  HarnessFailure,
} from "./support/harness.js";
import { FIRST_ROUND, ROUND_MS, type Round, startOfRound } from "./support/tracked-round.js";

const PROCESS = fileURLToPath(new URL("./support/track-process.js", import.meta.url));
const SCALE = {
  short: { days: 1, killsADay: 2, repositories: 10 },
  long: { days: 4, killsADay: 20, repositories: 60 },
} as const;
/** A killed process is followed by the next one after this much simulated time: its claims have expired. */
const PAUSE_MS = HOUR_MS / 4;

/** What follows from what was tracked, and what is kept of it. */
const TABLES = ["rollups", "rank_history", "rank_blocks"];

export const recovery: Harness = {
  name: "recovery",
  proves:
    "A catalogue whose worker is killed again and again while it tracks has the same history, growth and rankings as one that was left alone.",
  async run(context: HarnessContext): Promise<ResultRow[]> {
    const folder = mkdtempSync(join(tmpdir(), "sidereal-recovery-"));
    const server = await connectToServer();
    const urls: string[] = [];
    const newUrl = async (): Promise<Place> => {
      const url = await createTestDatabase(server.port);
      urls.push(url);
      return { url, dataDir: "" };
    };
    const newFolder = async () => ({ url: undefined, dataDir: mkdtempSync(join(folder, "data-")) });
    try {
      return [
        ...(await compare({ engine: "sqlite", newPlace: newFolder }, context)),
        ...(await compare({ engine: "postgres", newPlace: newUrl }, context)),
      ];
    } finally {
      for (const url of urls) await dropTestDatabase(url);
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

type Place = Round["place"];

interface Places {
  engine: "sqlite" | "postgres";
  newPlace(): Promise<Place>;
}

/** Tracks the same days twice, once with kills, and compares the two at the end of each. */
async function compare(
  { engine, newPlace }: Places,
  { scale, report }: HarnessContext,
): Promise<ResultRow[]> {
  const { days, killsADay, repositories } = SCALE[scale];
  const began = performance.now();
  const random = new Random(1);
  const clock = new ManualClock(FIRST_ROUND);
  const forge = await startFixedForge(repositories, clock);
  try {
    const alone = await newPlace();
    const killed = await newPlace();
    let kills = 0;
    let renumbered = 0;
    const differing = new Set<string>();
    for (let day = 0; day < days; day++) {
      clock.set(startOfRound(day));
      const round = { forgeUrl: forge.url, day, passedMs: 0, fatal: null };
      const statements = await runRound({ ...round, place: alone });
      if (statements === null) throw new HarnessFailure("a worker that nobody killed was killed");
      let passedMs = 0;
      // Most of the work is done once, so the kills are spread over it.
      const most = Math.ceil((2 * statements) / killsADay);
      const hasEnded = async (fatal: number | null) =>
        (await runRound({ ...round, place: killed, passedMs, fatal })) !== null;
      for (let i = 0; i < killsADay && passedMs < ROUND_MS / 2; i++, passedMs += PAUSE_MS) {
        if (await hasEnded(random.between(1, most))) break;
        kills++;
      }
      if (!(await hasEnded(null))) throw new HarnessFailure("a worker that nobody killed was killed");
      const [expected, found] = [await contentOf(alone), await contentOf(killed)];
      // A sequence of PostgreSQL does not give back what a killed transaction took, so the same repositories may have other ids.
      const hasSameIds = expected.get("ids") === found.get("ids");
      if (!hasSameIds) renumbered++;
      for (const [name, rows] of expected) {
        if (!hasSameIds && name !== "history") continue;
        const difference = firstDifference(rows, found.get(name) ?? "");
        if (difference === undefined) continue;
        differing.add(`${name}, day ${day}`);
        report(`${engine}, day ${day}, ${name}: ${difference}`);
      }
      report(`${engine}, day ${day}: ${statements} statements, ${kills} kills, ${differing.size} differ`);
    }
    const content = await contentOf(killed);
    for (const name of ["export", "rollups"])
      assertHappened(content.get(name)?.length ?? 0, `characters in ${name}`);
    assertHappened(kills, "kills", days);
    const { findings } = await checkStore(killed, clock, createLog("silent"));
    for (const finding of findings) report(JSON.stringify(finding));
    const row = countMaker({ engine, size: repositories });
    return [
      row("days tracked", days),
      row("kills of the worker", kills),
      row("days with other ids, of which only the history is compared", renumbered),
      row("exports and tables that differ at the end of a day", differing.size, { atMost: 0 }),
      row("kinds of damage that a check finds", findings.length, { atMost: 0 }),
      { ...row("time", (performance.now() - began) / 1_000), unit: "s" },
    ];
  } finally {
    await forge.close();
  }
}

/** A forge with a history, bursts, renames and new repositories, and enough quota for any number of workers. */
async function startFixedForge(repositories: number, clock: ManualClock): Promise<Forge> {
  const catalogue = new ForgeCatalogue({
    seed: 1,
    repositories,
    start: FIRST_ROUND,
    rates: { ...QUIET, created: 0.02, renamed: 0.01, transferred: 0.01, archived: 0.01, burst: 0.02 },
  });
  const forge = await startForge({ kind: "github", clock, catalogue });
  forge.switches.listingAgeMs = 0;
  forge.switches.secondary = null;
  for (const allowance of Object.values(forge.switches.allowances)) allowance.limit = 1_000_000;
  return forge;
}

/** Tracks in a process of its own. Returns the number of statements; null: it was killed. */
async function runRound(round: Round): Promise<number | null> {
  const child = spawn(process.execPath, [PROCESS, JSON.stringify(round)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(child, "exit");
  const printed = await text(child.stdout);
  const [code, signal] = await ended;
  if (signal === "SIGKILL" && round.fatal !== null) return null;
  if (code !== 0) throw new HarnessFailure(`a worker ended with ${code ?? signal}`);
  return Number(printed);
}

/** The export, and the rows of each table, as one text each. */
async function contentOf(place: Place): Promise<Map<string, string>> {
  const { database, catalog } = await openStore(place);
  try {
    let exported = "";
    for await (const lines of exportCatalogue(catalog)) exported += lines;
    const repositories = exported.split(/^(?=\{"type":"repository")/m).slice(1);
    const idOf = (lines: string) => /"id":"(\d+)"/.exec(lines)?.[1];
    const nameOf = (lines: string) => /"fullName":"([^"]+)"/.exec(lines)?.[1];
    const content = new Map([
      ["export", exported],
      ["ids", repositories.map((lines) => `${idOf(lines)} ${nameOf(lines)}`).join("\n")],
      [
        "history",
        repositories
          .map((lines) => lines.replace(/"id":"\d+",/, ""))
          .sort()
          .join(""),
      ],
    ]);
    for (const table of TABLES) {
      const { rows } = await sql<Record<string, unknown>>`select * from ${sql.table(table)}`.execute(
        database.read,
      );
      content.set(
        table,
        rows
          .map((row) => lineOf(row))
          .sort()
          .join("\n"),
      );
    }
    return content;
  } finally {
    await database.close();
  }
}

/** A row as a text. The order of the scopes in which a repository had ranks on a day says nothing. */
function lineOf(row: Record<string, unknown>): string {
  return JSON.stringify(
    Object.entries(row).map(([column, value]) => [
      column,
      column === "ranks" ? String(value).split(",").sort().join(",") : value,
    ]),
  );
}

const SHOWN = 200;
/** What is shown before the first different character. */
const BEFORE = 80;

/**
 * What makes one text of lines differ from another: the first line of each that the other one does not have, from shortly before
 * where they differ. undefined: nothing.
 */
function firstDifference(expected: string, found: string): string | undefined {
  if (expected === found) return undefined;
  const [one, other] = [expected.split("\n"), found.split("\n")];
  const [inOne, inOther] = [new Set(one), new Set(other)];
  const missing = one.find((line) => !inOther.has(line)) ?? "";
  const extra = other.find((line) => !inOne.has(line)) ?? "";
  let same = 0;
  while (same < missing.length && missing[same] === extra[same]) same++;
  const shown = (line: string) => line.slice(Math.max(0, same - BEFORE), same + SHOWN);
  return `${missing.slice(0, BEFORE)}: "${shown(missing)}" is missing; there is "${shown(extra)}"`;
}
