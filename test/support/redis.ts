import assert from "node:assert/strict";
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before } from "node:test";
import { parseRedisUrl, type RedisAddress } from "../../src/config/redis-address.js";
import { temporaryFolder } from "./imports.js";
import { freePort } from "./ports.js";

/** Why tests with Redis do not run here; false where they do. */
export const WITHOUT_REDIS: string | false =
  spawnSync("redis-server", ["--version"]).status === 0 ? false : "there is no redis-server in the PATH";

export function redisAddress(url: string): RedisAddress {
  const address = parseRedisUrl(url);
  assert.ok(address);
  return address;
}

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

  get port(): number {
    return this.#port;
  }

  get address(): RedisAddress {
    return redisAddress(this.url);
  }

  /** Its folder, which it keeps when it is started again. */
  get folder(): string {
    return this.#folder;
  }

  /**
   * Starts it, empty, at the port it had before; `more`: settings besides those of all. With `sentinel`, the text of its
   * configuration, it is a Sentinel.
   */
  async start(more: Record<string, string> = {}, sentinel?: string): Promise<void> {
    if (this.#port === 0) this.#port = await freePort();
    const file = join(this.#folder, "sentinel.conf");
    if (sentinel !== undefined) writeFileSync(file, sentinel);
    const own = { port: this.#port, bind: "127.0.0.1", save: "", appendonly: "no", dir: this.#folder };
    const settings = sentinel === undefined ? { ...own, ...more } : { port: this.#port, bind: "127.0.0.1" };
    const options = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)]);
    const args = sentinel === undefined ? options : [file, "--sentinel", ...options];
    const child = spawn("redis-server", args, { stdio: ["ignore", "pipe", "ignore"] });
    this.#process = child;
    let said = "";
    const ready = new Promise<void>((resolve, reject) => {
      child.stdout.on("data", (chunk) => {
        said += chunk;
        if (/Ready to accept connections|Sentinel ID is/.test(said)) resolve();
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
