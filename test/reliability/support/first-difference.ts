const SHOWN = 200;
/** What is shown before the first different character. */
const BEFORE = 80;

/**
 * What makes one text of lines differ from another: the first line of each that the other one does not have, from shortly before
 * where they differ. undefined: nothing.
 */
export function firstDifference(expected: string, found: string): string | undefined {
  if (expected === found) return undefined;
  const [one, other] = [expected.split("\n"), found.split("\n")];
  const [inOne, inOther] = [new Set(one), new Set(other)];
  const missing = one.find((line) => !inOther.has(line)) ?? "";
  const extra = other.find((line) => !inOne.has(line)) ?? "";
  let same = 0;
  while (same < missing.length && missing[same] === extra[same]) same++;
  const shown = (line: string) => line.slice(Math.max(0, same - BEFORE), same + SHOWN);
  return `${missing.slice(0, BEFORE)}: "${shown(missing)}" is missing; there is "${shown(extra)}"`;
}
