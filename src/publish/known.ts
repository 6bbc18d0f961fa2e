/** The parts of a state besides the catalogue. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { historyCursorSchema } from "../repositories/repositories.js";
import type { KnownOfForge } from "../tracking/tracking.js";
import { readEarlier, writeJson } from "./files.js";

/** By forge. */
export type Known = Record<string, KnownOfForge>;

/** They only save requests, so they may be lost. */
const NODE_IDS = "node-ids.json";
const CURSORS = "history-cursors.json";
const nodeIdsSchema = z.record(z.string(), z.record(z.string(), z.string()));
const cursorsSchema = z.record(z.string(), z.record(z.string(), historyCursorSchema.or(z.literal("WHOLE"))));

export function readKnown(folder: string): Known {
  const nodeIds = readEarlier(join(folder, NODE_IDS), nodeIdsSchema) ?? {};
  const cursors = readEarlier(join(folder, CURSORS), cursorsSchema) ?? {};
  const providers = new Set([...Object.keys(nodeIds), ...Object.keys(cursors)]);
  return Object.fromEntries(
    [...providers].map((one) => [one, { nodeIds: nodeIds[one] ?? {}, cursors: cursors[one] ?? {} }]),
  );
}

/** Comes after the snapshots, so that no cursor is ahead of them. */
export function writeKnown(folder: string, known: Known): void {
  for (const [name, field] of [
    [NODE_IDS, "nodeIds"],
    [CURSORS, "cursors"],
  ] as const) {
    const byForge = Object.entries(known).map(([provider, of]) => [provider, of[field]]);
    writeJson(join(folder, name), Object.fromEntries(byForge));
  }
}

/** A line of a star history. Earlier versions wrote only whole histories, with a line for each day. */
const wholeSchema = z.union([
  z.object({
    type: z.literal("history"),
    fromStart: z.literal(true),
    provider: z.string(),
    providerId: z.string(),
  }),
  z.object({ type: z.literal("snapshot"), provider: z.string(), providerId: z.string() }),
]);

/** The forge's ids of the repositories whose star histories the files have from the start, by forge. */
export function wholeHistories(files: readonly string[]): Map<string, Set<string>> {
  const whole = new Map<string, Set<string>>();
  for (const file of files) {
    if (!/backfilled/.test(file)) continue;
    for (const line of readFileSync(file, "utf8").split("\n")) {
      if (line === "") continue;
      const { data } = wholeSchema.safeParse(JSON.parse(line));
      if (data === undefined) continue;
      const ids = whole.get(data.provider) ?? new Set();
      whole.set(data.provider, ids.add(data.providerId));
    }
  }
  return whole;
}
