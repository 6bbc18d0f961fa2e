/** Blocks in READMEs that show charts. A README is its owner's text: no byte outside a block changes, and a doubt leaves all of it. */
import { isUtf8 } from "node:buffer";
import { readFileSync, realpathSync } from "node:fs";
import { SHAPES, sinceWords, snippetsOf } from "../charts/charts.js";
import { replaceFile } from "../lib/replace-file.js";
import {
  type HistoryState,
  isHistoryMissing,
  type Repository,
  type RepositoryAddress,
} from "../repositories/repositories.js";
import { encodedPath } from "./own.js";
import { isListed } from "./pictures.js";

const BEGIN = /^<!-- sidereal((?: +[!-;=?-~\x80-\xff]+)*) *-->[ \t]*$/;
const END = /^<!-- \/sidereal -->[ \t]*$/;

/** Fences of code at the margin, and those that may belong to a list or a quotation, whose ends only a whole parser knows. */
const AT_MARGIN = /^ {0,3}(`{3,}|~{3,})(.*)$/;
const ANYWHERE = /^[\s>*+\-\d.)]*?(`{3,}|~{3,})(.*)$/;

/** The shown parts of a published repository. */
export interface Shown {
  listed: RepositoryAddress;
  files: { chart: string };
  repository: Pick<Repository, "fullName" | "url">;
  history: HistoryState;
  /** When its first snapshot was captured. */
  since: number | null;
}

/** A line that begins a block with these names, or ends one (null). `line`: from 0. */
interface Marker {
  line: number;
  names: string[] | null;
}

interface Block {
  begin: number;
  end: number;
  names: string[];
}

/** Something is wrong in a line, counted from 0. */
class Doubt extends Error {
  constructor(
    readonly line: number,
    message: string,
  ) {
    super(message);
  }
}

/**
 * Fills the blocks of a README between `<!-- sidereal -->` and `<!-- /sidereal -->`, each alone on a line, with the charts of all
 * repositories, or of those that the first comment names. `base`: the folder of the charts, as an address. Returns a problem if there is
 * one; then the file stays as it is.
 */
export function fillReadme(
  path: string,
  base: string,
  { published, read }: { published: readonly Shown[]; read: (name: string) => RepositoryAddress | string },
): string[] {
  const bytes = readFileSync(path);
  // One character for each byte, whatever the encoding is.
  const lines = bytes.toString("latin1").match(/[^\r\n]*(?:\r\n?|\n)|[^\r\n]+$/g) ?? [];
  const chartsOf = ({ names, begin }: Block) => {
    const shown = names.length === 0 ? published : names.map((name) => listed(name, begin));
    const text = shown.map((one) => `${markdownOf(one, base)}\n`).join("");
    if (/[^\0-\x7f]/.test(text) && !isUtf8(bytes))
      throw new Doubt(begin, "a name has letters that this file, which is not UTF-8, cannot show");
    return Buffer.from(text.replaceAll("\n", /[\r\n]+$/.exec(lines[begin] ?? "")?.[0] ?? "\n"));
  };
  const listed = (name: string, line: number): Shown => {
    const address = read(name);
    const found = typeof address === "string" ? undefined : published.find((one) => isListed(one, address));
    if (found === undefined) throw new Doubt(line, `${name} is not in the list, or was never read`);
    return found;
  };
  try {
    const parts: Buffer[] = [];
    let from = 0;
    const copyUntil = (line: number) => parts.push(Buffer.from(lines.slice(from, line).join(""), "latin1"));
    for (const block of blocksOf(lines)) {
      copyUntil(block.begin + 1);
      parts.push(chartsOf(block));
      from = block.end;
    }
    if (parts.length === 0)
      return [`${path}: has no lines <!-- sidereal --> and <!-- /sidereal --> outside code`];
    copyUntil(lines.length);
    replaceFile(realpathSync(path), Buffer.concat(parts));
    return [];
  } catch (error) {
    if (error instanceof Doubt)
      return [`${path}:${error.line + 1}: ${error.message}; the file stays as it is`];
    throw error;
  }
}

/** Throws Doubt for markers that are not pairs, or that may be in code. */
function blocksOf(lines: readonly string[]): Block[] {
  const markers = markersOf(lines, AT_MARGIN);
  const others = markersOf(lines, ANYWHERE);
  const isSame = (marker: Marker | undefined, i: number) => marker?.line === others[i]?.line;
  const unsure = [...markers, undefined].findIndex((marker, i) => !isSame(marker, i));
  if (unsure !== -1) {
    const line = Math.min(...[markers[unsure], others[unsure]].map((marker) => marker?.line ?? lines.length));
    throw new Doubt(line, "this marker may be in a block of code");
  }
  const blocks: Block[] = [];
  let open: Omit<Block, "end"> | undefined;
  for (const { line, names } of markers) {
    if (names !== null && open !== undefined)
      throw new Doubt(line, `a block begins before that of line ${open.begin + 1} ends`);
    if (names !== null) open = { begin: line, names };
    else if (open === undefined) throw new Doubt(line, "<!-- /sidereal --> ends no block");
    else {
      blocks.push({ ...open, end: line });
      open = undefined;
    }
  }
  if (open !== undefined) throw new Doubt(open.begin, "the block has no line <!-- /sidereal --> after it");
  return blocks;
}

/** The markers outside code, if these are its fences (CommonMark 0.31.2, 4.5). */
function markersOf(lines: readonly string[], fences: RegExp): Marker[] {
  const markers: Marker[] = [];
  let fence: string | undefined;
  for (const [line, whole] of lines.entries()) {
    const text = whole.replace(/[\r\n]+$/, "").replace(/^\xef\xbb\xbf/, "");
    const [, marks = "", rest = ""] = fences.exec(text) ?? [];
    if (fence !== undefined) {
      if (marks.startsWith(fence) && rest.trim() === "") fence = undefined;
    } else if (marks !== "" && !(marks.startsWith("`") && rest.includes("`"))) fence = marks;
    else {
      const begin = BEGIN.exec(text)?.[1];
      const names = begin?.split(" ").filter((name) => name !== "");
      if (names !== undefined || END.test(text))
        markers.push({ line, names: names?.map((name) => Buffer.from(name, "latin1").toString()) ?? null });
    }
  }
  return markers;
}

/** The chart of a repository in Markdown. `base`: the folder of the charts, as an address. */
export function markdownOf({ files, repository, history, since }: Shown, base: string): string {
  const image = `${base === "" ? "" : `${base}/`}${encodedPath(files.chart)}`;
  const over = since !== null && isHistoryMissing(history) ? sinceWords(since) : "over time";
  const alt = `Stars of ${repository.fullName} ${over}`;
  return snippetsOf({ image, page: repository.url ?? image, alt, ...SHAPES.readme }).markdown;
}
