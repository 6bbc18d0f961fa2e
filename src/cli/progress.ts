import { SingleBar } from "cli-progress";

/** Progress of a long command: a bar with rate and time left on a terminal, nothing elsewhere. */
export interface Progress {
  update(done: number, facts?: Record<string, string>): void;
  stop(): void;
}

/** A bar on standard error. `format` may use {bar}, {percentage}, {eta_formatted} and the facts given to `update`. */
export function showProgress(total: number, format: string): Progress {
  if (!process.stderr.isTTY) return { update: () => {}, stop: () => {} };
  const bar = new SingleBar({
    format,
    stream: process.stderr,
    hideCursor: true,
    clearOnComplete: true,
    etaBuffer: 50,
  });
  bar.start(Math.max(1, total), 0, { rate: "–", file: "" });
  return {
    update: (done, facts) => bar.update(Math.min(done, total), facts),
    stop: () => bar.stop(),
  };
}

/** A report: a sentence for people, or a JSON object for machines. */
export function reportOf(json: boolean, facts: object, sentence: string): string {
  return `${json ? JSON.stringify(facts) : sentence}\n`;
}
