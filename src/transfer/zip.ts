import { Readable } from "node:stream";
import { crc32 } from "node:zlib";
import { type Entry, getFileNameLowLevel, openPromise, type ZipFile } from "yauzl";
import { bomb, isBomb } from "./open-file.js";
import { MAX_MEMBERS, type Packed } from "./packed.js";
import { DAMAGED_DATA, Refusal } from "./values.js";

/** The type of a member's file in the upper half of its attributes, where a Unix program wrote them. */
const TYPE_MASK = 0o170000;
const SYMBOLIC_LINK = 0o120000;

/** The members of a zip file in the order of their names. Throws Refusal for a file that is damaged or not a zip file. */
export async function* readZip(path: string, onBytes: (length: number) => void): AsyncGenerator<Packed> {
  const zip = await openZip(path);
  let packed = 0;
  let unpacked = 0;
  const contentOf = async function* (entry: Entry): AsyncGenerator<Buffer> {
    let sum = 0;
    for await (const chunk of await zip.openReadStreamPromise(entry)) {
      unpacked += chunk.length;
      if (isBomb(unpacked, packed)) throw bomb();
      sum = crc32(chunk, sum);
      yield chunk;
    }
    if (sum !== entry.crc32) throw new Refusal(DAMAGED_DATA);
  };
  try {
    for (const { name, entry } of await entriesOf(zip)) {
      packed += entry.compressedSize;
      onBytes(entry.compressedSize);
      const type = (entry.externalFileAttributes >>> 16) & TYPE_MASK;
      yield {
        name,
        isFile: !name.endsWith("/") && type !== SYMBOLIC_LINK,
        open: async () => {
          if (entry.isEncrypted()) throw new Refusal("is encrypted");
          if (!entry.canDecodeFileData()) throw new Refusal("is compressed in a way that is not supported");
          return Readable.from(contentOf(entry)).on("error", () => {});
        },
      };
    }
  } finally {
    zip.close();
  }
}

async function openZip(path: string): Promise<ZipFile> {
  try {
    // Names are only text here, so they are not held to the rules of paths.
    return await openPromise(path, { autoClose: false, decodeStrings: false });
  } catch (error) {
    if (error instanceof Error && "code" in error) throw error;
    throw new Refusal("not a zip file, or damaged at the end, where its table of contents is");
  }
}

/** One member more than are read at most. */
async function entriesOf(zip: ZipFile): Promise<{ name: string; entry: Entry }[]> {
  const found: { name: string; entry: Entry }[] = [];
  try {
    for await (const entry of zip.eachEntry()) {
      const name = getFileNameLowLevel(
        entry.generalPurposeBitFlag,
        entry.fileNameRaw,
        entry.extraFields,
        false,
      );
      found.push({ name, entry });
      if (found.length > MAX_MEMBERS) break;
    }
  } catch {
    throw new Refusal("the table of contents of the zip file is damaged; nothing was read");
  }
  return found.sort((a, b) => (a.name < b.name ? -1 : 1));
}
