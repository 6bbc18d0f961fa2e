/**
 * Real names of repositories for the stores, if the public data sets are there: those of a popularity ranking first, in its order,
 * then 775,000 others in a fixed random order.
 */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parse } from "csv-parse/sync";
import { splitFullName } from "../../src/repositories/record-rules.js";

/** The folder of the data sets: beside the repository, or where the environment says. */
const FOLDER =
  process.env.SIDEREAL_TEST_DATA ?? fileURLToPath(new URL("../../../../shared/data", import.meta.url));
const OTHERS = join(FOLDER, "repo-names", "map-of-github-names.txt.xz");
const RANKING = join(FOLDER, "github-ranking", "daily", "github-ranking-daily-2026-04.tar.xz");
const RANKING_FILE = "github-ranking-2026-04-30.csv";

/** Coprime to most numbers, so that its multiples visit each name once. */
const STEP = 7_368_787;

function output(command: string, args: readonly string[]): string {
  const { status, stdout, error } = spawnSync(command, args, { encoding: "utf8", maxBuffer: 2 ** 28 });
  if (status !== 0) throw new Error(`${command} failed`, { cause: error });
  return stdout;
}

/** The names, the most popular first; undefined if the data sets or the program `xz` are not there. */
export function realNames(): string[] | undefined {
  const isThere = existsSync(OTHERS) && existsSync(RANKING) && spawnSync("xz", ["--version"]).status === 0;
  if (!isThere) return undefined;
  const others = output("xz", ["-dc", OTHERS]).split("\n");
  const names = new Map<string, string>();
  const add = (name: string) => {
    const key = name.toLowerCase();
    if (!names.has(key) && splitFullName(name) !== undefined) names.set(key, name);
  };
  for (const name of popularNames()) add(name);
  for (let i = 0; i < others.length; i++) add(others[(i * STEP) % others.length] ?? "");
  return [...names.values()];
}

function popularNames(): string[] {
  const rows: Record<string, string>[] = parse(output("tar", ["-xJOf", RANKING, RANKING_FILE]), {
    columns: true,
    bom: true,
    relax_quotes: true,
  });
  const stars = new Map(rows.map((row) => [`${row.username}/${row.repo_name}`, Number(row.stars)]));
  return [...stars].sort(([, a], [, b]) => b - a).map(([name]) => name);
}
