/**
 * A disk whose power can be cut. A file system in a file, in memory: what programs have written to it and the system has not yet
 * flushed is only in the page cache. A cut stops the programs, copies the file, and mounts the copy: what a disk would hold.
 * It models no disk that lies about flushes, no torn sectors and no reordering inside the disk. Needs Linux, root and loop devices.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** How often the system writes back by itself, in hundredths of a second. */
const WRITEBACK = "/proc/sys/vm/dirty_writeback_centisecs";
const IMAGE_MB = 192;
/** Room for the image, the copy, and what both file systems add. */
const MEMORY_MB = 2 * IMAGE_MB + 64;
/** Time after which the file system commits by itself: longer than any trial. */
const COMMIT_SECONDS = 300;

/** Why power cannot be cut here; undefined if it can. */
export function powerProblem(): string | undefined {
  if (process.platform !== "linux") return "power cuts need Linux";
  if (process.getuid?.() !== 0) return "power cuts need root, to mount file systems";
  try {
    new CuttableDisk().remove();
    return undefined;
  } catch (error) {
    return `file systems cannot be mounted here: ${error instanceof Error ? error.message : error}`;
  }
}

export class CuttableDisk {
  /** Where the programs write. */
  readonly folder: string;
  /** Where the copy is mounted after a cut. */
  readonly platter: string;
  readonly #root: string;
  readonly #writeback: string;
  readonly #mounted: string[] = [];

  constructor() {
    this.#root = mkdtempSync(join(tmpdir(), "sidereal-power-"));
    this.folder = join(this.#root, "disk");
    this.platter = join(this.#root, "platter");
    const memory = join(this.#root, "memory");
    for (const folder of [this.folder, this.platter, memory]) mkdirSync(folder);
    this.#writeback = readFileSync(WRITEBACK, "utf8").trim();
    process.once("exit", this.remove);
    try {
      this.#mount(["-t", "tmpfs", "-o", `size=${MEMORY_MB}m`, "tmpfs"], memory);
      run("truncate", "-s", `${IMAGE_MB}M`, this.#image);
      run("mkfs.ext4", "-q", "-F", this.#image);
      this.#mount(["-o", `loop,commit=${COMMIT_SECONDS}`, this.#image], this.folder);
      writeFileSync(WRITEBACK, "0");
    } catch (error) {
      this.remove();
      throw error;
    }
  }

  /** Flushes everything: what is written until now survives a cut. */
  flush(): void {
    run("sync", "-f", this.folder);
  }

  /** Cuts the power of processes that write to the disk. Afterwards they are gone, and `platter` has what was left. */
  cut(pids: readonly number[]): void {
    for (const pid of pids) process.kill(pid, "SIGSTOP");
    const copy = join(this.#root, "memory", "copy.img");
    run("cp", "--sparse=always", this.#image, copy);
    for (const pid of pids) process.kill(pid, "SIGKILL");
    this.#mount(["-o", "loop", copy], this.platter);
  }

  /** Removes the file systems, and lets the system write back as before. */
  readonly remove = (): void => {
    process.removeListener("exit", this.remove);
    writeFileSync(WRITEBACK, this.#writeback);
    // Lazily: a program that was killed may hold it for another moment.
    for (const mounted of this.#mounted.splice(0).reverse()) spawnSync("umount", ["--lazy", mounted]);
    if (existsSync(this.#root)) rmSync(this.#root, { recursive: true, force: true });
  };

  get #image(): string {
    return join(this.#root, "memory", "disk.img");
  }

  #mount(what: readonly string[], where: string): void {
    run("mount", ...what, where);
    this.#mounted.push(where);
  }
}

function run(command: string, ...args: string[]): void {
  const { status, stderr, error } = spawnSync(command, args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`${command} failed: ${error?.message ?? stderr.trim()}`);
}
