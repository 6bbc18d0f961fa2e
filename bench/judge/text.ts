/** How the programs print. */

export function print(line = ""): void {
  process.stdout.write(`${line}\n`);
}

/** "3 of 200 (1.5 %)". */
export function percent(part: number, whole: number): string {
  return `${part} of ${whole}${whole === 0 ? "" : ` (${((100 * part) / whole).toFixed(1)} %)`}`;
}

/** "2026-01-31", in UTC. */
export function dateOf(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}
