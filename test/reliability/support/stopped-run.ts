import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { treeOf } from "../../../bench/support/processes.js";
import type { Store } from "../../../bench/support/stores.js";
import { HarnessFailure } from "./harness.js";
import { type Clients, type Received, startKeyedClients } from "./keyed-clients.js";
import { countUsage, environment, MAIN } from "./written-service.js";

const CLIENTS = 12;
/** What a process may take before the harness gives up on it. */
const GIVE_UP_MS = 30_000;

/** A process that is about to be stopped, for what decides on the moment. */
export interface Starting {
  pid: number;
  /** Resolves when the output (standard output and log) matches. */
  output(pattern: RegExp): Promise<void>;
  /** Resolves when `count` responses have been received. */
  responses(count: number): Promise<void>;
}

export interface StopJob {
  command: "serve" | "start";
  store: Pick<Store, "url" | "dataDir">;
  settings: Readonly<Record<string, string>>;
  /** A key that the store has; with it, clients send requests as soon as the port is open. */
  key: string;
  /** Resolves at the moment of the signal. */
  moment: (starting: Starting) => Promise<void>;
}

export interface StoppedRun {
  code: number | null;
  signal: NodeJS.Signals | null;
  /** From the signal to the end. */
  stopMs: number;
  /** Whether the port had been opened. */
  wasOpen: boolean;
  /** Processes of it that were alive after its end. */
  leftOver: number;
  received: Received;
  /** Requests that the service has counted. */
  counted: number;
  /** The last that it wrote. */
  output: string;
}

/** Starts a service, sends it requests, stops it with SIGTERM at a moment, and collects what is left. */
export async function runAndStop({ command, store, settings, key, moment }: StopJob): Promise<StoppedRun> {
  const env = {
    ...environment(),
    SIDEREAL_PORT: "0",
    SIDEREAL_DATA_DIR: store.dataDir,
    ...(store.url === undefined ? {} : { SIDEREAL_DATABASE_URL: store.url }),
    ...settings,
  };
  const child = spawn(process.execPath, [MAIN, command], {
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = once(child, "exit");
  const { pid } = child;
  if (pid === undefined) throw new HarnessFailure("the process did not start");
  const giveUp = setTimeout(() => child.kill("SIGKILL"), GIVE_UP_MS);
  const output = new Output();
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => output.add(text));
  const opened = output
    .until(/listens at (\S+)/)
    .then(([, url = ""]) => startKeyedClients(url, key, CLIENTS));
  let clients: Clients | undefined;
  void opened.then((started) => {
    clients = started;
  });
  const isOver = ended.then(() => {});
  try {
    const starting: Starting = {
      pid,
      output: async (pattern) => void (await Promise.race([output.until(pattern), isOver])),
      responses: (count) => Promise.race([opened.then((started) => started.until(count)), isOver]),
    };
    await Promise.race([moment(starting), isOver]);
    if (child.exitCode !== null) throw new HarnessFailure(`it ended before its signal: ${output.text}`);
    const tree = treeOf(pid);
    const signalledAt = performance.now();
    child.kill("SIGTERM");
    const [code, signal] = await ended;
    const stopMs = performance.now() - signalledAt;
    await clients?.stop();
    const leftOver = tree.filter((one) => existsSync(`/proc/${one}`)).length;
    return {
      code,
      signal,
      stopMs,
      wasOpen: clients !== undefined,
      leftOver,
      received: clients?.received ?? { complete: 0, closing: 0, cut: 0, lost: 0, refused: 0, unexpected: [] },
      counted: clients === undefined ? 0 : await countUsage(store),
      output: output.text.slice(-2_000),
    };
  } finally {
    clearTimeout(giveUp);
    child.kill("SIGKILL");
    await clients?.stop();
  }
}

/** What a process writes. */
class Output {
  text = "";
  readonly #waiting: { pattern: RegExp; resolve: (found: RegExpExecArray) => void }[] = [];

  add(text: string): void {
    this.text += text;
    for (const { pattern, resolve } of this.#waiting) {
      const found = pattern.exec(this.text);
      if (found !== null) resolve(found);
    }
  }

  until(pattern: RegExp): Promise<RegExpExecArray> {
    return new Promise((resolve) => {
      this.#waiting.push({ pattern, resolve });
      this.add("");
    });
  }
}
