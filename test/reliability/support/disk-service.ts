import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { GENEROUS_LIMITS } from "../../../bench/support/keys.js";
import { limits } from "../../support/limits.js";

const MAIN = fileURLToPath(new URL("../../../bundle/main.js", import.meta.url));
/** What a service may take to start or to stop. */
const GIVE_UP_MS = 30_000;

/** A service in a process of its own, whose disk may fail. */
export interface DiskService {
  pid: number;
  /** Its address; undefined if it ended before it listened. */
  url: string | undefined;
  /** Resolves to the first group of the next match in its output; undefined if it ends before. */
  next(pattern: RegExp): Promise<string | undefined>;
  /** Stops it. Resolves to its exit code; null if it did not stop by itself. */
  stop(): Promise<number | null>;
}

/** Starts `serve`. `wrapper`: a program that runs it as the same process, with its arguments. */
export async function startDiskService(
  dataDir: string,
  wrapper: readonly string[] = [],
): Promise<DiskService> {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith("SIDEREAL_"));
  const [program = "", ...parameters] = [...wrapper, process.execPath, MAIN, "serve"];
  const child = spawn(program, parameters, {
    env: {
      ...Object.fromEntries(inherited),
      ...GENEROUS_LIMITS,
      SIDEREAL_PORT: "0",
      SIDEREAL_DATA_DIR: dataDir,
      ...limits("watchlists=1000000"),
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const closed = once(child, "close");
  let text = "";
  let hasEnded = false;
  let changed = () => {};
  const change = () => {
    changed();
  };
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (more: string) => {
      text += more;
      change();
    });
  void closed.then(() => {
    hasEnded = true;
    change();
  });
  const next = async (pattern: RegExp): Promise<string | undefined> => {
    for (;;) {
      const found = pattern.exec(text);
      if (found !== null) {
        text = text.slice(found.index + found[0].length);
        return found[1];
      }
      if (hasEnded) return undefined;
      await new Promise<void>((resolve) => {
        changed = resolve;
      });
    }
  };
  const starting = setTimeout(() => child.kill("SIGKILL"), GIVE_UP_MS);
  const url = await next(/listens at (\S+)/);
  clearTimeout(starting);
  return {
    pid: child.pid ?? 0,
    url,
    next,
    async stop() {
      const stopping = setTimeout(() => child.kill("SIGKILL"), GIVE_UP_MS);
      child.kill("SIGTERM");
      await closed;
      clearTimeout(stopping);
      return child.exitCode;
    },
  };
}
