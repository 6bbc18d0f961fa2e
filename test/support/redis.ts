import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { after, before } from "node:test";
import { temporaryFolder } from "./imports.js";
import { freePort } from "./ports.js";

/** Why tests with Redis do not run here; false where they do. */
export const WITHOUT_REDIS: string | false =
  spawnSync("redis-server", ["--version"]).status === 0 ? false : "there is no redis-server in the PATH";

/** A Redis server of our own, which keeps nothing when it ends. */
export class RedisServer {
  readonly #folder = temporaryFolder();
  #process: ChildProcess | undefined;
  #port = 0;

  /** A server that runs as long as the tests of the suite it is called in. */
  static ofSuite(): RedisServer {
    const server = new RedisServer();
    before(() => server.start());
    after(() => server.kill());
    return server;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.#port}`;
  }

  /** Starts it, empty, at the port it had before; `more`: settings besides those of all. */
  async start(more: Record<string, string> = {}): Promise<void> {
    if (this.#port === 0) this.#port = await freePort();
    const own = { port: this.#port, bind: "127.0.0.1", save: "", appendonly: "no", dir: this.#folder };
    const options = Object.entries({ ...own, ...more }).flatMap(([name, value]) => [
      `--${name}`,
      String(value),
    ]);
    const child = spawn("redis-server", options, { stdio: ["ignore", "pipe", "ignore"] });
    this.#process = child;
    let said = "";
    const ready = new Promise<void>((resolve, reject) => {
      child.stdout.on("data", (chunk) => {
        said += chunk;
        if (said.includes("Ready to accept connections")) resolve();
      });
      child.once("error", reject);
      child.once("exit", () => reject(new Error(`redis-server did not start: ${said}`)));
    });
    await ready;
  }

  /** Ends it as a power cut would. */
  async kill(): Promise<void> {
    const child = this.#process;
    this.#process = undefined;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
  }

  /** Lets it hang: connections stay open, and nothing is answered. */
  pause(): void {
    this.#process?.kill("SIGSTOP");
  }

  resume(): void {
    this.#process?.kill("SIGCONT");
  }
}
