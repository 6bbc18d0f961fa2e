/**
 * `track --from`: queues the repositories that a text links to, and makes public lists of them. Only the worker contacts forges, so
 * thousands of links take seconds here.
 */
import { createReadStream } from "node:fs";
import { basename } from "node:path";
import type { Config } from "../config/config.js";
import { nameField } from "../discovery/discovery.js";
import { errorCode } from "../lib/errors.js";
import type { Modules } from "../modules.js";
import { addressReader, linksIn, type RepositoryAddress } from "../repositories/repositories.js";
import { MAX_BATCH_OPEN } from "../tracking/tracking.js";
import { DEFAULT_NAME, MAX_ITEMS } from "../watchlists/watchlists.js";
import { trackedForges, withoutSecrets } from "./addresses.js";
import { CommandFault, EXIT, type Host, reportOf, showProgress, withModules } from "./host.js";

interface FromOptions {
  from: string;
  /** Name of the lists; false: no list is made; undefined: that of the file. */
  list: string | false | undefined;
  json: boolean;
}

/** Links of a text that are not tracked, and why. */
interface Skipped {
  reason: string;
  links: number;
  /** The first of them. */
  example: string;
}

interface MadeList {
  name: string;
  /** Reads the list. */
  url: string;
  /** Changes it; shown only here. */
  editUrl: string;
}

interface LinksReport {
  /** Repositories that the text links to, each once. */
  repositories: number;
  known: number;
  /** Requests that wait for the worker, with those that waited before. */
  queued: number;
  /** Repositories left out because the queue of their forge is full. */
  leftOut: number;
  skipped: Skipped[];
  lists: MadeList[];
  /** Of the last queued repository; null: nothing is queued, or no worker has reported. */
  estimatedSeconds: number | null;
}

const NOTHING: Omit<LinksReport, "skipped"> = {
  repositories: 0,
  known: 0,
  queued: 0,
  leftOut: 0,
  lists: [],
  estimatedSeconds: null,
};

export async function trackLinks(host: Host, { from, list, json }: FromOptions): Promise<number> {
  const providers = await trackedForges(host);
  const name = list === false ? undefined : listName(list, from);
  if (name !== undefined && "problem" in name) throw new CommandFault(`--list: ${name.problem}`);
  const file = from === "-" ? "standard input" : from;
  const read = await readText(from);
  if ("problem" in read) throw new CommandFault(`${file} ${read.problem}`);
  const { addresses, skipped } = readLinks(read.text, providers);
  if (addresses.length > MAX_BATCH_OPEN)
    throw new CommandFault(
      `${file} links to ${addresses.length} repositories; split it into files of at most ${MAX_BATCH_OPEN}`,
    );
  const queueing = { addresses, name: name?.text, baseUrl: host.config.baseUrl };
  const report = { ...(addresses.length === 0 ? NOTHING : await queueLinks(host, queueing)), skipped };
  host.stdout.write(reportOf(json, report, sentencesOf(report).join("\n")));
  if (addresses.length === 0)
    throw new CommandFault(`${file} links to no repository of a configured forge`, EXIT.failed);
  return report.leftOut === 0 ? EXIT.ok : EXIT.refused;
}

/** Characters of a skipped link in the report. */
const MAX_EXAMPLE = 200;

/** The repositories that a text links to, and the reasons why other links are skipped, the most frequent first. */
function readLinks(
  text: string,
  providers: Config["providers"],
): { addresses: RepositoryAddress[]; skipped: Skipped[] } {
  const read = addressReader(providers);
  const reasons = new Map<string, Set<string>>();
  const { addresses } = linksIn(text, (address) => {
    const one = read(address);
    if ("problem" in one) {
      const links = reasons.get(one.problem) ?? new Set();
      reasons.set(one.problem, links.add(address));
    }
    return one;
  });
  const skipped = [...reasons].map(([reason, links]) => {
    const [first = ""] = links;
    return { reason, links: links.size, example: withoutSecrets(first).slice(0, MAX_EXAMPLE) };
  });
  return { addresses, skipped: skipped.sort((a, b) => b.links - a.links) };
}

/** The name for the lists: as given, or that of the file as far as it may name a list. */
function listName(given: string | undefined, from: string): { text: string } | { problem: string } {
  const parsed = nameField.safeParse(given ?? basename(from));
  if (parsed.success && !(given === undefined && from === "-")) return { text: parsed.data };
  return given === undefined
    ? { text: DEFAULT_NAME }
    : { problem: parsed.error?.issues[0]?.message ?? "invalid" };
}

interface Queueing {
  addresses: readonly RepositoryAddress[];
  /** undefined: no list is made. */
  name: string | undefined;
  baseUrl: string;
}

async function queueLinks(host: Host, queueing: Queueing): Promise<Omit<LinksReport, "skipped">> {
  return withModules(host, async (modules) => {
    // The worker removes the sample, so nothing of it belongs in a list.
    await modules.catalog.removeSample();
    return queueAll(modules, queueing);
  });
}

/** Queues unknown repositories, and makes one list for each 500 repositories, the most that a list holds. */
async function queueAll(
  { trackRequests, watchlists }: Modules,
  { addresses, name, baseUrl }: Queueing,
): Promise<Omit<LinksReport, "skipped">> {
  const report = { repositories: addresses.length, known: 0, queued: 0, leftOut: 0 };
  const lists: MadeList[] = [];
  const progress = showProgress(addresses.length, "  {bar} {value} of {total} repositories");
  const parts = Math.ceil(addresses.length / MAX_ITEMS);
  let last: string | undefined;
  for (let part = 0; part < parts; part++) {
    const inPart = addresses.slice(part * MAX_ITEMS, (part + 1) * MAX_ITEMS);
    const known = new Set<number>();
    const unknown: RepositoryAddress[] = [];
    for (const address of inPart) {
      const repository = await trackRequests.known(address);
      if (repository === undefined) unknown.push(address);
      else known.add(repository.id);
    }
    report.known += inPart.length - unknown.length;
    let watchlistId: number | undefined;
    if (name !== undefined) {
      const title = parts === 1 ? name : numbered(name, part + 1);
      const { watchlist, token, shareToken } = await watchlists.create(title, [...known]);
      const urlOf = (key: string) => `${baseUrl}/watchlists/${key}`;
      lists.push({ name: watchlist.name, url: urlOf(shareToken), editUrl: urlOf(token) });
      watchlistId = watchlist.id;
    }
    const requests = await trackRequests.add(unknown, { isBatch: true }, { watchlistId });
    const queued = requests.filter((request) => request !== undefined);
    report.queued += queued.length;
    report.leftOut += requests.length - queued.length;
    last = queued.at(-1)?.public_id ?? last;
    progress.update(part * MAX_ITEMS + inPart.length);
  }
  progress.stop();
  const waiting = last === undefined ? undefined : await trackRequests.find(last);
  return { ...report, lists, estimatedSeconds: waiting?.estimatedSeconds ?? null };
}

/** `name 2`, within the length that a name may have. */
function numbered(name: string, number: number): string {
  const suffix = ` ${number}`;
  for (let end = name.length; end > 0; end--) {
    const text = name.slice(0, end).trimEnd() + suffix;
    if (nameField.safeParse(text).success) return text;
  }
  return `${DEFAULT_NAME}${suffix}`;
}

function sentencesOf(report: LinksReport): string[] {
  const { repositories, known, queued, leftOut, skipped, lists, estimatedSeconds } = report;
  const lines = [`${repositories} repositories: ${known} known, ${queued} queued`];
  if (leftOut > 0)
    lines.push(`${leftOut} left out, as the queue of their forge is full: run this again when it is shorter`);
  for (const { reason, links, example } of skipped)
    lines.push(
      links === 1
        ? `1 link skipped, ${example}: ${reason}`
        : `${links} links skipped, such as ${example}: ${reason}`,
    );
  if (queued > 0)
    lines.push(
      estimatedSeconds === null
        ? "A worker (`start` or `work`) looks up queued names."
        : `The last is looked up in about ${durationOf(estimatedSeconds)}.`,
    );
  for (const { name, url, editUrl } of lists)
    lines.push(`list "${name}"`, `  for everyone         ${url}`, `  to edit, shown once  ${editUrl}`);
  return lines;
}

function durationOf(seconds: number): string {
  if (seconds < 120) return `${seconds} s`;
  return seconds < 7_200 ? `${Math.ceil(seconds / 60)} min` : `${Math.ceil(seconds / 3_600)} h`;
}

/** Longest text that is read: longer than any list of links that people write. */
const MAX_TEXT_BYTES = 5_000_000;

/** Reads a text file, `-` for standard input. Returns a message if it cannot be read, is too long, or is not UTF-8. */
async function readText(file: string): Promise<{ text: string } | { problem: string }> {
  const stream = file === "-" ? process.stdin : createReadStream(file);
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const piece of stream) {
      const part = Buffer.from(piece);
      bytes += part.length;
      if (bytes > MAX_TEXT_BYTES) return { problem: `is longer than ${MAX_TEXT_BYTES / 1e6} MB` };
      pieces.push(part);
    }
  } catch (error) {
    const code = errorCode(error);
    if (code === undefined) throw error;
    return { problem: `cannot be read: ${code}` };
  } finally {
    stream.destroy();
  }
  try {
    return { text: new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(pieces)) };
  } catch {
    return { problem: "is not a text in UTF-8" };
  }
}
