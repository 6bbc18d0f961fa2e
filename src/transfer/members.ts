import { basename } from "node:path";
import type { Readable } from "node:stream";
import { openFile, unpackedName } from "./open-file.js";
import { MAX_MEMBERS, type Packed } from "./packed.js";
import { brief, Refusal } from "./values.js";

/** A file to read: one on the disk, or a member of a tar or zip file. */
export interface Member {
  /** What messages call it. */
  label: string;
  /** Its name, without folders and without what it is compressed with. */
  name: string;
  /** Its content, decompressed. Throws Refusal, as does reading it. */
  open: () => Promise<Readable>;
}

/** A member that is not read. */
export interface UnreadMember {
  label: string;
  skipped: string;
}

const READ = /\.(csv|ndjson|jsonl)$/i;
const PACKED = /\.(tar|zip|gz|tgz|xz|txz|zst|bz2|7z|rar)$/i;

/**
 * The files at a path: the file itself, or the members of a tar or zip file, of which there may be thousands. Each must be read
 * before the next one is returned. Throws Refusal when the file cannot be read, or not further.
 */
export async function* openMembers(
  path: string,
  onBytes: (length: number) => void,
): AsyncGenerator<Member | UnreadMember> {
  const label = path === "-" ? "standard input" : path;
  const name = unpackedName(basename(path));
  if (/\.zip$/i.test(name)) {
    const { readZip } = await import("./zip.js");
    yield* readable(label, readZip(path, onBytes));
    return;
  }
  const { input, close } = openFile(path, onBytes);
  try {
    if (/\.tar$/i.test(name)) {
      const { readTar } = await import("./tar.js");
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
