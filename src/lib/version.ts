import { existsSync, readFileSync } from "node:fs";
import { z } from "zod";
import { packageFile } from "./package-files.js";

/** The version of this program, from its package.json. */
export function readVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(packageFile("package.json"), "utf8"));
  return z.object({ version: z.string() }).parse(manifest).version;
}

/** The version and the commit that it was built from; `-dirty` after it: with changes. Without git at the build it is unknown. */
export function readBuild(): { version: string; commit: string | undefined } {
  const file = packageFile("dist/bundle/build.json");
  const build: unknown = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : {};
  const { commit } = z.object({ commit: z.string().optional() }).parse(build);
  return { version: readVersion(), commit };
}

/** The `User-Agent` of requests to forges; a web address has a plus sign before it, as those of crawlers. */
export function userAgentOf(version: string, contact = "self-hosted repository tracker"): string {
  return `Sidereal/${version} (${/^https?:\/\//.test(contact) ? "+" : ""}${contact})`;
}
