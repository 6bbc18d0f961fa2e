/** Damages a daily file: a third of its repositories read zero, as after a failed fetch. */
import { readFileSync, writeFileSync } from "node:fs";
import { parse } from "csv-parse/sync";
import { Random } from "../synthetic/random.js";

const DAMAGED_SHARE = 1 / 3;
const COUNTS = ["stars", "forks", "issues"] as const;

/** Writes a damaged copy of a file; the same seed damages the same repositories. Returns their names in lower case. */
export function zeroThird(from: string, to: string, seed: number): Set<string> {
  const rows: Record<string, string>[] = parse(readFileSync(from), { columns: true });
  const random = new Random(seed);
  const damaged = new Map<string, boolean>();
  for (const row of rows) {
    const name = `${row.username}/${row.repo_name}`.toLowerCase();
    const isDamaged = damaged.get(name) ?? random.chance(DAMAGED_SHARE);
    damaged.set(name, isDamaged);
    if (isDamaged) for (const column of COUNTS) row[column] = "0";
  }
  const quoted = (value: string) => (/[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value);
  const lines = rows.map((row) => Object.values(row).map(quoted).join(","));
  writeFileSync(to, `${[Object.keys(rows[0] ?? {}).join(","), ...lines].join("\n")}\n`);
  return new Set([...damaged].flatMap(([name, isDamaged]) => (isDamaged ? [name] : [])));
}
