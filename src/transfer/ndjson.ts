/** Sidereal's own format: lines of JSON, read and written. */
import type { Readable } from "node:stream";
import { z } from "zod";
import { type Clock, isoTime } from "../lib/clock.js";
import { validationError } from "../lib/validation.js";
import type { ArchiveFile, DumpedRepository, Observation, Snapshot } from "../repositories/repositories.js";
import {
  AVAILABILITIES,
  DAMAGE_KINDS,
  FACT_COLUMNS,
  type Facts,
  fullNameKey,
  isHomepage,
  isTopic,
  MAX_COUNT,
  MAX_TOPICS,
  MAX_URL,
  nameKey,
  providerName,
  repositoryId,
  SNAPSHOT_SOURCES,
  splitFullName,
} from "../repositories/repositories.js";
import { type Line, readLines } from "./lines.js";
import { brief, forgeTimeSchema, label, parsedBy, seenTimeSchema, text } from "./values.js";

/** The version of the format that this program writes and reads. */
export const VERSION = 1;
const MAX_FILE_NAME = 400;
/** Greater ids are refused, so that ids assigned after them are still exact as numbers. */
const MAX_ID = 2 ** 52;

const NOT_A_TOPIC =
  "not a topic: 1 to 100 characters, with no white space at its ends, no control character, and at most 8 combining marks in a row";

const counter = z.int().min(0).max(MAX_COUNT);
const words = z
  .string()
  .max(100_000)
  .transform((value) => text(value));
const labels = parsedBy((value) => label(value, "text"));
const provider = z.string().transform((value, context) => {
  const name = providerName(value);
  if (name === undefined) context.addIssue({ code: "custom", message: "not a provider's name" });
  return name ?? "";
});
const fullName = z
  .string()
  .refine((value) => splitFullName(value) !== undefined, "not of the form owner/name");
/** Text without white space, stored unchanged. */
const token = (longest: number) =>
  z
    .string()
    .min(1)
    .max(longest)
    .regex(/^[^\s\p{Cc}]+$/u, "contains white space")
    .refine((value) => value.isWellFormed(), "contains half a character");

/** The name of a layout, also of one that this program does not know. */
const layoutName = z.string().regex(/^[a-z][a-z0-9-]{0,63}$/, "not the name of a layout");

const FACTS = Object.keys(FACT_COLUMNS) as (keyof Facts)[];

const HEADER = z.object({ type: z.literal("header"), format: z.literal("sidereal"), version: z.int() });

const repositorySchema = (seenTime: ReturnType<typeof seenTimeSchema>) =>
  z.strictObject({
    type: z.literal("repository"),
    id: z
      .string()
      .refine((value) => {
        const id = repositoryId(value) ?? 0;
        return id > 0 && id <= MAX_ID;
      }, "not an identifier")
      .optional(),
    provider,
    providerId: token(100).optional(),
    fullName,
    importSource: layoutName.optional(),
    discoveredAt: seenTime.optional(),
    refreshedAt: seenTime.optional(),
    factTimes: z.partialRecord(z.enum(FACTS), seenTime.nullable()).optional(),
    previousFullNames: z
      .array(z.strictObject({ fullName, until: seenTime }))
      .max(1_000)
      .optional(),
    url: token(MAX_URL)
      .pipe(z.url({ protocol: /^https?$/ }))
      .optional(),
    description: words.nullable().optional(),
    homepage: words
      .refine((value) => value === null || isHomepage(value), "not an http or https address")
      .nullable()
      .optional(),
    language: labels.nullable().optional(),
    license: labels.nullable().optional(),
    topics: z.array(z.string().refine(isTopic, NOT_A_TOPIC)).max(MAX_TOPICS).optional(),
    stars: counter.nullable().optional(),
    forks: counter.nullable().optional(),
    openIssues: counter.nullable().optional(),
    watchers: counter.nullable().optional(),
    fork: z.boolean().nullable().optional(),
    archived: z.boolean().nullable().optional(),
    availability: z.enum(AVAILABILITIES).exclude(["RENAMED", "HIDDEN"]).optional(),
    createdAt: forgeTimeSchema.nullable().optional(),
    pushedAt: forgeTimeSchema.nullable().optional(),
  });

const snapshotSchema = (seenTime: ReturnType<typeof seenTimeSchema>) =>
  z.strictObject({
    type: z.literal("snapshot"),
    /** With `fullName`, names its repository; without, the snapshot belongs to the preceding repository line. */
    provider: provider.optional(),
    fullName: fullName.optional(),
    /** The forge's id of that repository: names may have moved to others. */
    providerId: token(100).optional(),
    capturedAt: seenTime,
    stars: counter,
    forks: counter.nullable().default(null),
    openIssues: counter.nullable().default(null),
    watchers: counter.nullable().default(null),
    source: z.enum(SNAPSHOT_SOURCES).default("IMPORTED"),
  });

/** The counts of repositories, all read at one time: name, the forge's id, stars, forks, open issues, watchers. */
const readingsSchema = (seenTime: ReturnType<typeof seenTimeSchema>) => {
  const count = counter.nullable();
  return z.strictObject({
    type: z.literal("readings"),
    capturedAt: seenTime,
    provider,
    source: z.enum(SNAPSHOT_SOURCES),
    entries: z.array(z.tuple([fullName, token(100).nullable(), counter, count, count, count])).min(1),
  });
};

/** The stars of a repository at times in a year of its star history. */
const historySchema = (seenTime: ReturnType<typeof seenTimeSchema>) =>
  z.strictObject({
    type: z.literal("history"),
    provider,
    fullName,
    providerId: token(100).optional(),
    /** Whether nothing is before it: without such a line, the history was not read to its end. */
    fromStart: z.literal(true).optional(),
    entries: z.array(z.tuple([seenTime, counter])).min(1),
  });

/** A file that was imported. */
const fileSchema = (seenTime: ReturnType<typeof seenTimeSchema>) =>
  z.strictObject({
    type: z.literal("file"),
    source: layoutName,
    file: z.string().min(1).max(MAX_FILE_NAME),
    capturedAt: seenTime,
    rows: counter,
    zeros: counter.default(0),
    damage: z
      .array(z.strictObject({ kind: z.enum(DAMAGE_KINDS), reason: z.string().max(1_000) }))
      .max(DAMAGE_KINDS.length)
      .default([]),
  });

/** Two names that an operator keeps apart. */
const PARTED = z.strictObject({ type: z.literal("parted"), provider, from: fullName, to: fullName });

function lineSchema(clock: Clock) {
  const seenTime = seenTimeSchema(clock);
  return z.discriminatedUnion("type", [
    HEADER,
    repositorySchema(seenTime),
    snapshotSchema(seenTime),
    readingsSchema(seenTime),
    historySchema(seenTime),
    fileSchema(seenTime),
    PARTED,
  ]);
}

type ParsedLine = z.output<ReturnType<typeof lineSchema>>;
type RepositoryLine = z.output<ReturnType<typeof repositorySchema>>;
type SnapshotLine = z.output<ReturnType<typeof snapshotSchema>>;
type ReadingsLine = z.output<ReturnType<typeof readingsSchema>>;
type HistoryLine = z.output<ReturnType<typeof historySchema>>;

/** The repository of the following snapshot lines. */
type Identity = Pick<
  Observation,
  "provider" | "owner" | "name" | "providerId" | "previousNames" | "isHolder"
> & {
  /** Facts that distinguish it from others of its name. */
  facts?: Pick<Observation["facts"], "createdAt">;
};

/** Identifies a repository in its snapshots. Without an id, one that has lost its name needs more than the name. */
function identityOf(observation: Observation): Identity {
  const { provider, owner, name, providerId, facts, previousNames, isHolder } = observation;
  const known = { provider, owner, name, ...(isHolder === undefined ? {} : { isHolder }) };
  if (providerId !== undefined) return { ...known, providerId };
  const lost = previousNames?.filter(({ fullName }) => nameKey(owner, name) === fullNameKey(fullName));
  if (lost === undefined || lost.length === 0) return known;
  const { createdAt } = facts;
  return { ...known, previousNames: lost, facts: createdAt === undefined ? {} : { createdAt } };
}

/** Previous names that are noted of a file: 10 MB. */
const MAX_PREVIOUS_NAMES = 100_000;

/** The previous names of the repositories of a file. One that comes later has such a name as its own. */
class PreviousNames {
  readonly #keys = new Set<string>();

  /** The observation, marked as the holder of its name if an earlier line had it before. */
  marked(observation: Observation): Observation {
    const { provider, owner, name, providerId, previousNames = [] } = observation;
    const own = nameKey(owner, name);
    const isHolder = providerId === undefined && this.#keys.has(`${provider} ${own}`);
    for (const { fullName } of previousNames) {
      const key = fullNameKey(fullName);
      if (key !== own && this.#keys.size < MAX_PREVIOUS_NAMES) this.#keys.add(`${provider} ${key}`);
    }
    return isHolder ? { ...observation, isHolder } : observation;
  }
}

/** Reads Sidereal's own format: one result per line, in groups. */
export async function* readNdjson(input: Readable, clock: Clock): AsyncGenerator<Line[]> {
  const schema = lineSchema(clock);
  let latest: Identity | undefined;
  const names = new PreviousNames();
  const read = (line: number, json: string | undefined): Line | Line[] | undefined => {
    if (json === undefined) return { line, refused: "the line is too long" };
    if (json.trim() === "") return undefined;
    const parsed = parseLine(json, schema);
    if (typeof parsed === "string") {
      if (json.includes('"repository"')) latest = undefined;
      return { line, refused: parsed };
    }
    if (parsed.type === "snapshot") return snapshotLine(parsed, latest, line);
    if (parsed.type === "readings") return readingsLines(parsed, line);
    if (parsed.type === "history") return { line, observation: historyObservation(parsed) };
    if (parsed.type === "file") {
      const { type, ...importedFile } = parsed;
      return { line, importedFile };
    }
    if (parsed.type === "parted") {
      const { type, ...parted } = parsed;
      return { line, parted };
    }
    if (parsed.type === "repository") {
      const observation = names.marked(repositoryObservation(parsed));
      latest = identityOf(observation);
      return { line, observation };
    }
    if (parsed.version === VERSION) return undefined;
    return { line, refused: `unknown version ${parsed.version}; this program reads ${VERSION}` };
  };
  for await (const group of readLines(input))
    yield group.flatMap(({ number, text: json }) => read(number, json) ?? []);
}

/** Shorter lines cannot hold enough values to exhaust memory. */
const MAX_UNCOUNTED_LENGTH = 64 * 1024;
/** Values in a line; a repository with the most topics and previous names has half as many. */
const MAX_VALUES = 10_000;

/** Whether a line holds so many values that reading it could exhaust memory, whatever their depth. */
function hasTooManyValues(json: string): boolean {
  let values = 0;
  let isInside = false;
  for (let i = 0; i < json.length; i++) {
    const character = json[i];
    if (isInside) {
      if (character === "\\") i++;
      else if (character === '"') isInside = false;
    } else if (character === '"') isInside = true;
    else if ((character === "," || character === "[" || character === "{") && ++values > MAX_VALUES)
      return true;
  }
  return false;
}

function parseLine(json: string, schema: ReturnType<typeof lineSchema>): ParsedLine | string {
  if (json.length > MAX_UNCOUNTED_LENGTH && hasTooManyValues(json))
    return `the line has more than ${MAX_VALUES} values`;
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    return "the line is not JSON";
  }
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  return brief(validationError(result.error, "line").message, 300);
}

function repositoryObservation(line: RepositoryLine): Observation {
  const { type, id, provider, providerId, fullName, importSource, ...rest } = line;
  const { discoveredAt, refreshedAt, factTimes, previousFullNames, ...facts } = rest;
  return {
    provider,
    ...namesOf(fullName),
    ...(providerId === undefined ? {} : { providerId }),
    at: refreshedAt ?? null,
    facts: definedOnly(facts),
    ...(factTimes === undefined ? {} : { factTimes }),
    snapshots: [],
    ...(discoveredAt === undefined ? {} : { discoveredAt }),
    ...(id === undefined ? {} : { preferredId: repositoryId(id) ?? 0 }),
    previousNames: previousFullNames ?? [],
    ...(importSource === undefined ? {} : { source: importSource }),
  };
}

function snapshotLine(line: SnapshotLine, latest: Identity | undefined, number: number): Line {
  const { type, provider, fullName, providerId, ...snapshot } = line;
  if ((provider === undefined) !== (fullName === undefined)) {
    return { line: number, refused: "provider and fullName belong together" };
  }
  if (providerId !== undefined && fullName === undefined)
    return { line: number, refused: "providerId needs provider and fullName" };
  const parts = fullName === undefined ? undefined : splitFullName(fullName);
  const known = providerId === undefined ? {} : { providerId };
  const identity = parts === undefined || provider === undefined ? latest : { provider, ...parts, ...known };
  if (identity === undefined)
    return { line: number, refused: "the preceding repository line was refused or is missing" };
  const { facts = {} } = identity;
  return {
    line: number,
    observation: { ...identity, at: snapshot.capturedAt, facts, snapshots: [snapshot] },
  };
}

function readingsLines({ provider, capturedAt, source, entries }: ReadingsLine, line: number): Line[] {
  return entries.map(([fullName, providerId, stars, forks, openIssues, watchers]) => ({
    line,
    observation: {
      provider,
      ...namesOf(fullName),
      ...(providerId === null ? {} : { providerId }),
      at: capturedAt,
      facts: {},
      snapshots: [{ capturedAt, stars, forks, openIssues, watchers, source }],
    },
  }));
}

function historyObservation({ provider, fullName, providerId, entries }: HistoryLine): Observation {
  const unknown = { forks: null, openIssues: null, watchers: null };
  const snapshots = entries
    .map(([capturedAt, stars]): Snapshot => ({ capturedAt, stars, ...unknown, source: "BACKFILLED" }))
    .sort((a, b) => a.capturedAt - b.capturedAt);
  return {
    provider,
    ...namesOf(fullName),
    ...(providerId === undefined ? {} : { providerId }),
    at: snapshots.at(-1)?.capturedAt ?? null,
    facts: {},
    snapshots,
  };
}

const namesOf = (fullName: string) => splitFullName(fullName) ?? { owner: "", name: "" };

function definedOnly<T extends object>(values: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as never;
}

/** The first line of every export. */
export function headerLine(): string {
  return JSON.stringify({ type: "header", format: "sidereal", version: VERSION });
}

export function fileLine({ source, file, capturedAt, rows, zeros, damage }: ArchiveFile): string {
  return JSON.stringify({
    type: "file",
    source,
    file,
    capturedAt: isoTime(capturedAt),
    rows,
    zeros,
    damage: damage.length === 0 ? undefined : damage,
  });
}

/** The lines of one repository: itself, then its snapshots. */
export function* repositoryLines(dumped: DumpedRepository): Generator<string> {
  yield repositoryLine(dumped);
  for (const snapshot of dumped.snapshots) yield JSON.stringify(snapshotFields(snapshot));
}

/** The line of one repository without its snapshots. `isTimed`: with the times at which it was first and last seen. */
export function repositoryLine(
  { repository, providerId, facts, factTimes, previousNames }: DumpedRepository,
  { isTimed = true } = {},
): string {
  const time = (ms: number | null | undefined) => (ms === null || ms === undefined ? ms : isoTime(ms));
  const times = Object.entries(factTimes).map(([fact, at]) => [fact, time(at)]);
  return JSON.stringify({
    type: "repository",
    id: String(repository.id),
    provider: repository.provider,
    providerId: providerId ?? undefined,
    fullName: repository.fullName,
    importSource: repository.importSource ?? undefined,
    discoveredAt: isTimed ? isoTime(repository.discoveredAt) : undefined,
    refreshedAt: isTimed ? (time(repository.refreshedAt) ?? undefined) : undefined,
    factTimes: isTimed && times.length > 0 ? Object.fromEntries(times) : undefined,
    previousFullNames:
      previousNames.length === 0
        ? undefined
        : previousNames.map(({ fullName, until }) => ({ fullName, until: isoTime(until) })),
    ...facts,
    ...("createdAt" in facts ? { createdAt: time(facts.createdAt) } : {}),
    ...("pushedAt" in facts ? { pushedAt: time(facts.pushedAt) } : {}),
  });
}

/** Entries in a line, so that lines stay far shorter than the longest that is read. */
const MAX_ENTRIES = 500;

/** A snapshot as an entry of the line that begins with `head`. */
export interface LinePart {
  head: string;
  entry: string;
}

/** The snapshots of a repository in lines that hold many: a line for each time that counts were read, and for each year of a star history. */
export function* partsOf({
  repository,
  providerId,
  snapshots,
  historyState,
}: DumpedRepository): Generator<LinePart & { snapshot: Snapshot }> {
  const { provider, fullName } = repository;
  const first = snapshots.find(isHistory);
  for (const snapshot of snapshots) {
    const { capturedAt, stars, forks, openIssues, watchers, source } = snapshot;
    const at = isoTime(capturedAt);
    if (isHistory(snapshot)) {
      const fromStart = historyState === "WHOLE" && yearOf(snapshot) === yearOf(first ?? snapshot);
      const named = { provider, fullName, providerId: providerId ?? undefined };
      const head = beginOf({ type: "history", ...named, ...(fromStart && { fromStart }) });
      const end = isoTime(capturedAt + 1);
      const isOfDay = end.endsWith("T00:00:00.000Z");
      yield { snapshot, head, entry: JSON.stringify([isOfDay ? end.slice(0, 10) : at, stars]) };
      continue;
    }
    const counts = [fullName, providerId, stars, forks, openIssues, watchers];
    const head = beginOf({ type: "readings", capturedAt: at, provider, source });
    yield { snapshot, head, entry: JSON.stringify(counts) };
  }
}

const isHistory = ({ source, forks, openIssues, watchers }: Snapshot): boolean =>
  source === "BACKFILLED" && forks === null && openIssues === null && watchers === null;

/** The end of a day is stored a millisecond before it; that of the last one of a year belongs to the next. */
export const yearOf = ({ capturedAt }: Snapshot): string => isoTime(capturedAt + 1).slice(0, 4);

const beginOf = (fields: object): string => JSON.stringify(fields).slice(0, -1);

/** The lines of parts that are sorted. */
export function linesOf(parts: readonly LinePart[]): string[] {
  const lines: string[] = [];
  let entries: string[] = [];
  for (const [i, { head, entry }] of parts.entries()) {
    const next = parts[i + 1];
    entries.push(entry);
    if (next?.head === head && entries.length < MAX_ENTRIES) continue;
    lines.push(`${head},"entries":[${entries.join(",")}]}`);
    entries = [];
  }
  return lines;
}

const snapshotFields = ({ capturedAt, stars, forks, openIssues, watchers, source }: Snapshot) => ({
  type: "snapshot",
  capturedAt: isoTime(capturedAt),
  stars,
  forks,
  openIssues,
  watchers,
  source,
});
