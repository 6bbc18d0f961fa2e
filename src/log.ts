import { type Logger, pino } from "pino";

export type { Logger };

export const LOG_LEVELS = ["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const;

/**
 * One JSON object a line on standard error, so that standard output stays free for what a command prints.
 * Secrets never reach a log call; the redaction is a second lock on that door.
 */
export function createLog(level: (typeof LOG_LEVELS)[number]): Logger {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: {
        paths: ["token", "authorization", "cookie", "*.token", "*.authorization"],
        censor: "[redacted]",
      },
    },
    pino.destination({ dest: 2, sync: true }),
  );
}
