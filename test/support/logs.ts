import { type Logger, pino } from "pino";

/** What a line of the log says. */
export interface LogLine {
  level: number;
  msg: string;
  err: { message: string };
  step?: string;
  repositoryId?: number;
  link?: string;
  limit?: string;
  code?: string;
  reason?: string;
  /** Of a refused request. */
  event?: string;
  network?: string;
  method?: string;
  path?: string;
  status?: number;
  remaining?: number | null;
  failure?: string;
  bucket?: string;
  times?: number;
  host?: string;
  port?: number;
  leftOut?: { words: number; topics: number };
}

/** A log whose lines from a level on are kept. */
export function recordedLog(level: "trace" | "info" | "warn" | "error"): { log: Logger; lines: LogLine[] } {
  const lines: LogLine[] = [];
  return { log: pino({ level }, { write: (line: string) => lines.push(JSON.parse(line)) }), lines };
}
