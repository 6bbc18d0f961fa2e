import { type Logger, pino } from "pino";

export type { Logger };

export const LOG_LEVELS = ["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const;

/**
 * Writes one JSON object per line to standard error; standard output is for the output of commands.
 * Callers never log secrets; the redaction is a second line of defense.
 */
export function createLog(level: (typeof LOG_LEVELS)[number]): Logger {
  // A log that cannot be written, as on a full disk or a closed terminal, is no reason to end.
  const destination = pino.destination({ dest: 2, sync: true }).on("error", () => {});
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
    destination,
  );
}
