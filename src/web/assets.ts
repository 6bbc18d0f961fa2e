import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { content, FREE_LIMIT, type Route, redirect } from "../http/http.js";
import { AppError } from "../lib/errors.js";
import { ACCOUNT } from "./styles/account.js";
import { BASE } from "./styles/base.js";
import { EXPLORE } from "./styles/explore.js";
import { LISTS } from "./styles/lists.js";
import { MEDIA } from "./styles/media.js";
import { PAGES } from "./styles/pages.js";
import { PARTS } from "./styles/parts.js";
import { PLOTS } from "./styles/plots.js";
import { TOKENS } from "./styles/tokens.js";

/** The files that pages load, and their routes. */

/** The style sheet: system fonts, light and dark colours, nothing from other sites. */
export const STYLES = [TOKENS, BASE, PARTS, LISTS, ACCOUNT, EXPLORE, PLOTS, PAGES, MEDIA]
  .join("")
  .replaceAll(/\n\s*/g, "\n");

/** Content types by file extension. */
const TYPES: ReadonlyMap<string, string> = new Map([
  ["css", "text/css; charset=utf-8"],
  ["js", "text/javascript; charset=utf-8"],
  ["svg", "image/svg+xml; charset=utf-8"],
]);

/** The icon: a star in a circle. */
const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"><style>path,circle{color:#8a5a00}@media(prefers-color-scheme:dark){path,circle{color:#f0b860}}</style><circle cx="12" cy="12" r="10" fill="none" stroke="currentColor" stroke-width="1.5"/><path d="M12 4.5 13.8 10.2 19.5 12 13.8 13.8 12 19.5 10.2 13.8 4.5 12 10.2 10.2Z" fill="currentColor"/></svg>`;

/** The files by name: the style sheet, the icon and the browser modules. */
function readFiles(): ReadonlyMap<string, string> {
  const files = new Map([
    ["sidereal.css", STYLES],
    ["icon.svg", ICON],
  ]);
  const modules = fileURLToPath(new URL("./client/", import.meta.url));
  for (const name of readdirSync(modules).filter((file) => file.endsWith(".js")))
    files.set(name, readFileSync(join(modules, name), "utf8"));
  return files;
}

interface Assets {
  files: ReadonlyMap<string, string>;
  version: string;
}

let read: Assets | undefined;

/** The files, read on first use: most commands serve no pages. */
function assets(): Assets {
  if (read === undefined) {
    const files = readFiles();
    const version = createHash("sha256")
      .update(JSON.stringify([...files]))
      .digest("hex")
      .slice(0, 12);
    read = { files, version };
  }
  return read;
}

/** Instead of a version: the file as the process that responds has it. */
const ANY_VERSION = "current";

/** The path of a file. It changes whenever any file does, so files can be cached forever and modules can import each other. */
export function assetPath(name: string): string {
  const { files, version } = assets();
  if (!files.has(name)) throw new Error(`no asset is called ${name}`);
  return `/assets/${version}/${name}`;
}

/** The files, and the icon at its default path. */
export function assetRoutes(): Route[] {
  const current = assets();
  const file = (path: string, handle: Route["handle"]): Route => ({
    method: "GET",
    path,
    access: "public",
    limit: FREE_LIMIT,
    cache: { kind: "shared", control: "public, max-age=31536000, immutable" },
    query: [],
    body: "none",
    form: "file",
    handle,
  });
  return [
    file("/assets/{version}/{name}", ({ params: { version, name = "" } }) => {
      const text = current.files.get(name);
      if (text === undefined) throw new AppError("NOT_FOUND", "This file does not exist.");
      // A page of another version: a cached one, or one of another process during an update. It is sent to an address that all
      // processes serve, as two of different versions would send the client back and forth. Any further address of a file would be
      // one more response to compress and to keep.
      if (version !== current.version && version !== ANY_VERSION)
        return redirect(`/assets/${ANY_VERSION}/${name}`, 302, { "Cache-Control": "private, no-cache" });
      const headers = version === ANY_VERSION ? { "Cache-Control": "public, no-cache" } : {};
      return content(TYPES.get(name.split(".").at(-1) ?? "") ?? "text/plain", text, { headers });
    }),
    file("/favicon.ico", () =>
      redirect(assetPath("icon.svg"), 302, { "Cache-Control": "public, max-age=3600" }),
    ),
  ];
}
