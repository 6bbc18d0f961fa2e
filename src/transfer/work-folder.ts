import { mkdir, readdir, rm, stat } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { type Clock, DAY_MS } from "../lib/clock.js";
import { errorCode } from "../lib/errors.js";
import { Refusal } from "./values.js";

/** `.partial-<process>-<machine>` */
const NAME = /^\.partial-(\d+)-(.*)$/;

/**
 * Creates a folder inside another one for files that are not complete yet, and removes those that killed processes have left
 * there. Throws Refusal if another process is writing there, since two would do the same work.
 */
export async function openWorkFolder(parent: string, clock: Clock): Promise<string> {
  for (const name of await readdir(parent)) {
    const [, pid, host] = NAME.exec(name) ?? [];
    if (pid === undefined) continue;
    const path = join(parent, name);
    // After a restart of a machine or container, another process may have the id of the writer.
    if ((host !== hostname() || isRunning(Number(pid))) && (await isRecent(path, clock)))
      throw new Refusal(`another process is writing to ${parent}; its files are in ${name}`);
    await rm(path, { recursive: true, force: true });
  }
  const path = join(parent, `.partial-${process.pid}-${hostname()}`);
  await mkdir(path, { mode: 0o700 });
  return path;
}

/** Whether another process with this id runs on this machine. */
function isRunning(pid: number): boolean {
  if (pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errorCode(error) !== "ESRCH";
  }
}

/** Whether a process may still write to a folder. */
async function isRecent(path: string, clock: Clock): Promise<boolean> {
  const { mtimeMs } = await stat(path);
  return clock.now() - mtimeMs < DAY_MS;
}
