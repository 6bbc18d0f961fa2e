import { homedir } from "node:os";
import { join } from "node:path";

/** The folder for caches or data of this program in the home of its user, by the custom of the system. */
export function userFolder(kind: "cache" | "data", env: NodeJS.ProcessEnv): string {
  if (process.platform === "win32")
    return join(
      env.LOCALAPPDATA ?? join(homedir(), "AppData", "Local"),
      "sidereal",
      ...(kind === "data" ? ["data"] : []),
    );
  if (process.platform === "darwin")
    return join(homedir(), "Library", kind === "cache" ? "Caches" : "Application Support", "sidereal");
  const [custom, standard] =
    kind === "cache" ? [env.XDG_CACHE_HOME, ".cache"] : [env.XDG_DATA_HOME, ".local/share"];
  return join(custom || join(homedir(), standard), "sidereal");
}
