import type { Readable } from "node:stream";

/** Members of a tar or zip file that are looked at. */
export const MAX_MEMBERS = 10_000;

/** A member of a tar or zip file. Its name is text from a stranger, and never used as a path. */
export interface Packed {
  name: string;
  /** Whether it has content: directories, links and devices have none. */
  isFile: boolean;
  /** Its content. Throws Refusal, as does reading it. */
  open: () => Promise<Readable>;
}
