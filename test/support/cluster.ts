/** The cluster of examples/cluster, with a folder and ports of its own. */
import { spawn, spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const SCRIPT = resolve("examples/cluster/cluster");
/** Ports of one cluster, and where they begin: below those that systems give to connections and to servers at any free port. */
const PORTS = 60;
const FIRST_PORT = 12_000;
const RANGES = 300;

const checked = spawnSync(SCRIPT, ["check"], { encoding: "utf8" });

/** Whether the history can be distributed with Citus. */
export const HAS_CITUS = spawnSync(SCRIPT, ["check", "--citus"]).status === 0;

/** Why tests with the cluster do not run here; false where they do. */
export const WITHOUT_CLUSTER: string | false =
  checked.status === 0 ? false : checked.stderr?.trim() || `${SCRIPT} does not run here`;

export interface ClusterOptions {
  /** The smallest form, without workers and with one replica. */
  isSmall: boolean;
  /** Distributed with Citus; default false. */
  isDistributed?: boolean;
  /** Settings of every serve and work. */
  settings: Readonly<Record<string, string>>;
}

/** A command of the script that failed; the message is what it printed. */
export class ClusterFailure extends Error {
  override readonly name = "ClusterFailure";
}

export class Cluster {
  readonly #folder: string;
  readonly #port = FIRST_PORT + PORTS * (process.pid % RANGES);

  private constructor(folder: string) {
    this.#folder = folder;
  }

  /** A cluster that is not started yet. */
  static create(): Cluster {
    const folder = mkdtempSync(join(tmpdir(), "sidereal-cluster-"));
    // PostgreSQL runs as another user where this is root.
    chmodSync(folder, 0o711);
    return new Cluster(folder);
  }

  /** Starts everything. Throws ClusterFailure, and leaves nothing that runs. */
  static async start({ isSmall, isDistributed = false, settings }: ClusterOptions): Promise<Cluster> {
    const cluster = Cluster.create();
    const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}\n`);
    const file = join(cluster.#folder, "settings");
    writeFileSync(file, lines.join(""));
    try {
      const flags = [...(isSmall ? ["--small"] : []), ...(isDistributed ? ["--citus"] : [])];
      await cluster.run("up", ...flags, "--settings", file);
    } catch (error) {
      await cluster.stop();
      throw error;
    }
    return cluster;
  }

  /** The address of nginx. */
  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** The port of the first PostgreSQL server. */
  get firstServerPort(): number {
    return this.#port + 11;
  }

  /** Where its data, logs and process ids are. */
  get state(): string {
    return join(this.#folder, "state");
  }

  /** The address of PgBouncer, which leads to the primary. */
  get databaseUrl(): string {
    const password = readFileSync(join(this.state, "password"), "utf8");
    return `postgres://sidereal:${password}@127.0.0.1:${this.#port + 21}/sidereal`;
  }

  /** Runs a command of the script. Resolves with what it printed; throws ClusterFailure. */
  async run(...args: string[]): Promise<string> {
    const child = spawn(SCRIPT, args, {
      env: { ...process.env, CLUSTER_DIR: this.state, CLUSTER_PORT: String(this.#port) },
      // Parts inherit no pipe from the script, so the output ends with it.
      stdio: ["ignore", "pipe", "pipe"],
    });
    let printed = "";
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (text: string) => {
        printed += text;
      });
    const code = await new Promise<number | null>((done, failed) => {
      child.once("error", failed);
      child.once("close", done);
    });
    if (code !== 0) throw new ClusterFailure(`cluster ${args.join(" ")}: ${printed}`);
    return printed;
  }

  /** Stops everything and removes its folder. */
  async stop(): Promise<void> {
    if (existsSync(this.state)) await this.run("down", "--delete");
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
