import { type Clock, HOUR_MS, isoTime } from "../clock.js";
import { Refusal, time } from "./values.js";

/** How far the time of a file in a manifest may be from the date in its name. */
const MAX_DISTANCE_MS = 36 * HOUR_MS;

export interface TimeOptions {
  /** Capture time of files without times, instead of the date in the file name. */
  capturedAt?: number;
  /** File name → capture time; every file must be listed. */
  manifest?: ReadonlyMap<string, number>;
}

/** When the snapshots of a CSV file were taken. */
export interface FileTime {
  /** Undefined if unknown. */
  capturedAt: number | undefined;
  /** How the manifest contradicts the name of the file. */
  contradiction?: string;
}

/** The time of a file by its names, without folders: as it is on the disk, and without what it is compressed with. */
export function timeOfFile(
  names: readonly string[],
  { manifest, capturedAt: given }: TimeOptions,
  clock: Clock,
): FileTime {
  const dates = names.at(-1)?.match(/\d{4}-\d{2}-\d{2}/g);
  const dated = (): number => time(dates?.at(-1), "date in the file's name", clock.now());
  if (manifest === undefined)
    return { capturedAt: given ?? (dates === null || dates === undefined ? undefined : dated()) };
  const known = names.map((name) => manifest.get(name)).find((at) => at !== undefined);
  if (known === undefined) throw new Refusal("the manifest does not list this file");
  const named = Date.parse(dates?.at(-1) ?? "");
  if (!(Math.abs(known - named) > MAX_DISTANCE_MS)) return { capturedAt: known };
  const contradiction = `the manifest says ${isoTime(known)}, the file's name ${dates?.at(-1)}`;
  return { capturedAt: known, contradiction };
}
