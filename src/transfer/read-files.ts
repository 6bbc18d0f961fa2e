/** Reads the files of an import, and the members of those that are tar or zip files, in any known format. */
import { basename } from "node:path";
import type { Readable } from "node:stream";
import type { Clock } from "../lib/clock.js";
import { readCsv } from "./csv.js";
import { FileCheck, timeOfFile } from "./file-check.js";
import { type Found, Gathering, type ReadTask } from "./gathering.js";
import type { Line } from "./lines.js";
import { readNdjson } from "./ndjson.js";
import { MAX_MEMBERS, openFile, unpackedName } from "./open-file.js";
import type { Packed } from "./packed.js";
import { brief, Refusal } from "./values.js";

/**
 * Reads files in order; "-" is standard input. A file that cannot be read is reported, and the next one is read. The files of a
 * batch are complete once it and all before it are recorded.
 */
export async function* readFiles(
  paths: readonly string[],
  task: ReadTask,
  clock: Clock,
): AsyncGenerator<Found> {
  const gathering = new Gathering(task);
  const { progress } = gathering;
  for (const path of paths) {
    const label = path === "-" ? "standard input" : path;
    progress.file = label;
    const onBytes = (length: number) => {
      progress.bytes += length;
    };
    try {
      for await (const member of openMembers(path, onBytes)) {
        progress.file = member.label;
        if ("skipped" in member) gathering.skip(member.label, member.skipped);
        else yield* readMember(member, gathering, { diskName: basename(path), task, clock });
      }
    } catch (error) {
      gathering.refuse(label, error);
    }
  }
  yield gathering.take();
}

/** Reads one file; yields when there is enough to record. */
async function* readMember(
  member: Member,
  gathering: Gathering,
  options: { diskName: string; task: ReadTask; clock: Clock },
): AsyncGenerator<Found> {
  const check = new FileCheck(member.label, member.name);
  try {
    for await (const lines of linesOf(member, check, options)) {
      const { progress } = gathering;
      progress.rows += lines.length;
      if (!progress.sources.includes(check.source)) progress.sources = [...progress.sources, check.source];
      for (const line of lines) {
        gathering.add(line, check);
        if (gathering.isFull) yield gathering.take();
      }
    }
    gathering.progress.files++;
  } catch (error) {
    check.found("UNREADABLE", gathering.refuse(member.label, error));
  }
  gathering.end(check);
}

async function* linesOf(
  { name, open }: Member,
  check: FileCheck,
  { diskName, task, clock }: { diskName: string; task: ReadTask; clock: Clock },
): AsyncGenerator<Line[]> {
  const { format } = task;
  const input = await open();
  const first = await firstCharacter(input);
  if (format === undefined ? first === "{" : format === "ndjson") {
    yield* readNdjson(input, clock);
    return;
  }
  const { capturedAt, contradiction } = timeOfFile([diskName, name], task, clock);
  if (contradiction !== undefined) check.found("OTHER_TIME", contradiction);
  const wanted = format === undefined ? {} : { wanted: format };
  yield* readCsv(input, { name, capturedAt, clock, check, ...wanted });
}

/** Peeks at the first character. */
async function firstCharacter(input: Readable): Promise<string> {
  for (;;) {
    const chunk: Buffer | null = input.read();
    if (chunk !== null) {
      input.unshift(chunk);
      return chunk
        .toString("utf8")
        .replace(/^\uFEFF/, "")
        .trimStart()
        .slice(0, 1);
    }
    if (input.errored) throw input.errored;
    if (input.readableEnded) return "";
    await new Promise<void>((resolve, reject) => {
      input.once("readable", resolve).once("end", resolve).once("error", reject);
    });
  }
}

/** A file to read: one on the disk, or a member of a tar or zip file. */
interface Member {
  /** Its name in messages. */
  label: string;
  /** Its name without folders and without the ending of its compression. */
  name: string;
  /** Its content, decompressed. Throws Refusal, as does reading it. */
  open: () => Promise<Readable>;
}

interface UnreadMember {
  label: string;
  skipped: string;
}

const READ = /\.(csv|ndjson|jsonl)$/i;
const PACKED = /\.(tar|zip|gz|tgz|xz|txz|zst|bz2|7z|rar)$/i;

/**
 * The files at a path: the file itself, or the members of a tar or zip file, possibly thousands. Each must be read before the next one is
 * returned. Throws Refusal when the file cannot be read, or no further.
 */
async function* openMembers(
  path: string,
  onBytes: (length: number) => void,
): AsyncGenerator<Member | UnreadMember> {
  const label = path === "-" ? "standard input" : path;
  const name = unpackedName(basename(path));
  if (/\.zip$/i.test(name)) {
    const { readZip } = await import("./packed.js");
    yield* readable(label, readZip(path, onBytes));
    return;
  }
  const { input, close } = openFile(path, onBytes);
  try {
    if (/\.tar$/i.test(name)) {
      const { readTar } = await import("./packed.js");
      yield* readable(label, readTar(input));
    } else yield { label, name, open: async () => input };
  } finally {
    close();
  }
}

async function* readable(
  label: string,
  members: AsyncIterable<Packed>,
): AsyncGenerator<Member | UnreadMember> {
  let count = 0;
  for await (const { name: path, isFile, open } of members) {
    if (++count > MAX_MEMBERS)
      throw new Refusal(`has more than ${MAX_MEMBERS} members; those after them were not read`);
    if (!isFile) continue;
    const shown = brief(path, 200);
    const name = basename(shown);
    const member = { label: `${label}: ${shown}`, name, open };
    if (PACKED.test(name)) {
      const refuse = () =>
        Promise.reject(new Refusal("a compressed file in a tar or zip file is not read; unpack it first"));
      yield { ...member, open: refuse };
    } else if (name.startsWith(".") || !READ.test(name))
      yield { label: member.label, skipped: "neither .csv nor .ndjson" };
    else yield member;
  }
}
