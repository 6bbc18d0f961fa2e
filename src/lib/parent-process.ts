/** Notices that the process which started this one has ended; one that is killed passes no signal on. */
import { readFileSync } from "node:fs";

/** Variables of the environment: npm sets the first one for all that it runs, the launcher the second one. */
const BY_NPM = "npm_lifecycle_event";
export const BY_LAUNCHER = "ENDS_WITH_PARENT";

const LOOK_EVERY_MS = 1_000;

/**
 * Resolves within a second after the parent has ended, if npm or the launcher has started this process; otherwise undefined, as other
 * programs that start a service may leave it running. npm runs scripts in a shell, which may outlive it: the end of a shell's own parent
 * counts too, as far as Linux tells. Windows does not tell at all.
 */
export function parentEnd(env: NodeJS.ProcessEnv): Promise<void> | undefined {
  if (!(BY_NPM in env || BY_LAUNCHER in env)) return undefined;
  const parent = process.ppid;
  const starter = starterOf(parent);
  return new Promise((resolve) => {
    const timer = setInterval(() => {
      const now = starterOf(parent);
      // Failing to read, as with too many open files, is no end.
      if (process.ppid === parent && (starter === undefined || now === undefined || now === starter)) return;
      clearInterval(timer);
      resolve();
    }, LOOK_EVERY_MS);
    timer.unref();
  });
}

/** The parent of a shell; undefined for other programs. */
function starterOf(pid: number): string | undefined {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    return /^Name:\s*\w*sh\n[\s\S]*^PPid:\s*(\d+)$/m.exec(status)?.[1];
  } catch {
    return undefined;
  }
}
