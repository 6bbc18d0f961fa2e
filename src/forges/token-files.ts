/** Tokens from a file or from the output of a command, both read repeatedly. */
import { execFile } from "node:child_process";
import { readFile, stat } from "node:fs/promises";
import { promisify } from "node:util";
import { z } from "zod";
import { parseTokens, type TokenSource } from "../config/config.js";
import { UpstreamFailure } from "./failures.js";
import { nameTokens } from "./quota.js";
import type { Loaded, TokenLoader } from "./token-keeper.js";

/** How often the file is read, which costs less than a request. */
const FILE_MS = 10_000;
/** How often the command is run; most tokens from commands are valid for an hour. */
const COMMAND_MS = 30 * 60_000;
const COMMAND_MIN_MS = 60_000;
const COMMAND_TIMEOUT_MS = 30_000;
const COMMAND_BYTES = 65_536;

type CommandSource = Extract<TokenSource, { kind: "command" }>;

/** The harmless parts of an error of a run; a failed start may have a code alone. */
const errorSchema = z.object({
  code: z.union([z.string(), z.number()]).nullish(),
  killed: z.boolean().nullish(),
  signal: z.string().nullish(),
});

const FILE_BYTES = 1_048_576;

/** Reads tokens from a file repeatedly, as they are replaced there. */
export function tokensOfFile(path: string): TokenLoader {
  return {
    label: "file",
    minIntervalMs: 1_000,
    intervalMs: FILE_MS,
    load: async () => namedTokens(await readRegular(path), "the file"),
  };
}

async function readRegular(path: string): Promise<string> {
  const failure = (what: string) => new UpstreamFailure("refused", `the file with the tokens ${what}`);
  try {
    const found = await stat(path);
    // Opening a pipe would wait for its writer.
    if (!found.isFile()) throw failure("is not a regular file");
    if (found.size > FILE_BYTES) throw failure("is too long");
    return await readFile(path, "utf8");
  } catch (error) {
    throw error instanceof UpstreamFailure ? error : failure("cannot be read");
  }
}

/** Runs a command that prints tokens, without a shell. Neither its arguments nor its output appear in any message. */
export function tokensOfCommand({ command, environment }: CommandSource): TokenLoader {
  return {
    label: "command",
    minIntervalMs: COMMAND_MIN_MS,
    intervalMs: COMMAND_MS,
    load: async () => namedTokens(await outputOf(command, environment), "the command"),
  };
}

async function outputOf(
  [command = "", ...args]: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<string> {
  const limits = { timeout: COMMAND_TIMEOUT_MS, maxBuffer: COMMAND_BYTES, killSignal: "SIGKILL" } as const;
  try {
    const running = promisify(execFile)(command, args, { ...limits, env: { ...environment } });
    running.child.stdin?.end();
    return (await running).stdout;
  } catch (error) {
    throw failureOfCommand(error);
  }
}

/** A failure that is safe to show: the error's own message quotes the arguments and the output of the command. */
function failureOfCommand(error: unknown): UpstreamFailure {
  const { code, killed, signal } = errorSchema.safeParse(error).data ?? {};
  const why =
    killed === true
      ? `did not end within ${COMMAND_TIMEOUT_MS / 1_000} s`
      : typeof code === "number"
        ? `ended with status ${code}`
        : `failed (${code ?? signal ?? "unknown"})`;
  return new UpstreamFailure("refused", `the command for tokens ${why}`);
}

function namedTokens(text: string, source: string): Loaded {
  const tokens = parseTokens(text);
  if (typeof tokens === "string") throw new UpstreamFailure("refused", `${source}: ${tokens}`);
  if (tokens.length === 0) throw new UpstreamFailure("refused", `${source} contains no token`);
  return { tokens: nameTokens(tokens), validMs: null };
}
