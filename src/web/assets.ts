import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { content, FREE_LIMIT, type Route, redirect } from "../http/http.js";
import { AppError } from "../lib/errors.js";
import type { Avatars } from "../tracking/tracking.js";
import { ACCOUNT } from "./styles/account.js";
import { BASE } from "./styles/base.js";
import { COMPARE } from "./styles/compare.js";
import { COVER } from "./styles/cover.js";
import { EXPLORE } from "./styles/explore.js";
import { LISTS } from "./styles/lists.js";
import { MEDIA } from "./styles/media.js";
import { PAGES } from "./styles/pages.js";
import { PARTS } from "./styles/parts.js";
import { PLOTS } from "./styles/plots.js";
import { COLOURS, TOKENS } from "./styles/tokens.js";

/** The files that pages load, images of owners included, and their routes. */

/** The style sheet: system fonts, light and dark colours, nothing from other sites. */
export const STYLES = [TOKENS, BASE, PARTS, LISTS, ACCOUNT, EXPLORE, PLOTS, COMPARE, COVER, PAGES, MEDIA]
  .join("")
  .replaceAll(/\n\s*/g, "\n");

/** Content types by file extension. */
const TYPES: ReadonlyMap<string, string> = new Map([
  ["png", "image/png"],
  ["css", "text/css; charset=utf-8"],
  ["js", "text/javascript; charset=utf-8"],
  ["svg", "image/svg+xml; charset=utf-8"],
]);

/** The icon: a star in a circle. */
const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"><style>path,circle{color:#8a5a00}@media(prefers-color-scheme:dark){path,circle{color:#f0b860}}</style><circle cx="12" cy="12" r="10" fill="none" stroke="currentColor" stroke-width="1.5"/><path d="M12 4.5 13.8 10.2 19.5 12 13.8 13.8 12 19.5 10.2 13.8 4.5 12 10.2 10.2Z" fill="currentColor"/></svg>`;

/** The same on paper, with room around it, as a PNG of 180 px: phones cut it to their shape, and some read no SVG. */
const TOUCH_ICON = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAALQAAAC0BAMAAADP4xsBAAAAMFBMVEX7+vaKWgCQYw3f07m/pXO0llz18unp4M3v6duXbBzIsoeedy3RvpnYyKmqh0SlgDn48OcxAAAACXBIWXMAAFMMAABTDAFN1foQAAAED0lEQVRo3u1aS2gTQRheSJumsU2ZbQqN6YMg1YuPVDz5DkHrA6QtIvagBtGTCEEKRQ+SgB7UHhpQ9CK0VPCoQREvQkUUDz1UPXkRK3rx1BzEi4LO5NHdmX/Smc3+BGW+4+zMNzv/c+afsSwDAwMDAwMDAwMDg/8Kwak9i4sfpjK+8+48XSAMsW/zvrJf+UIciKd9Iw+MEw5DSX+YJwtEQGzED+a9BMTvxpn3EQleNMq8i0jxpDHm66tM9o/jRx4cOJNYbTnZCHO4RnTnVcXggrsnapPNemduK1aN7a2zebpqjPGsZ+r3FYpfnIsEP1U+bPbKfL6y7kPip2sVSZ3wxhwqi8M+CH08V+aO5zxRX67DXOO+6ylylMf+lH2/Wp456VmH9+UdPrIOW/SZO9nAAbcsXZYSWmZdlrSpt7Nx+90ycq8+zLps0PaWBDCsdRSY3tb1mxssKnOj2me4+Vkkv6eZC5lNP+dah7u5hlvMtvXSWSsdM8iPSUX5PyjRfqNa1O/okGd8azHGt1yg/fq0lRjjnbiNEF5loYKuItfRn9nEt7YQIkToS7TnYw3qOTogCUwokARoz/UaMS8B9s8T0is0pqhEcnr2sQKtRZwvomcjw5ASLeuvpQ2KK6SK7Fampv7SL7oR/b8caKdxraD3WWjuoM0LsERUw18XbKsReEbmAysaoo6KzWcp9UYLtBFVYZdgCub8/fCUA4peLuYAhjHa3iO2t9B2NV+nXW0gULLkYAMBOAH/CoB2WNSB8qYmCQt7RlmLvRIXBR0vr6zHMdDG2GLg34vAOrBgmS7Ai4F/rwPWASxTSIupMnVUokeVXVRYsrzKXjsmEeGsopv3SaxdYsEvYe2AztUrcQwC/14edl9QXTOSdClJhO2K1jcnN14Gicmr5McUaHuhsSp1Tw60vqgC9TJkSTdLjsLCCGSvKrGP5jrOrNuOus+5t7mpQxKjBDIg51o7hNKCfUp04IxStHbl7Yvj0AF96xs+eWSV/NzhjMHXCfjwb3/Pud0xqUk9vSyvLAw+1KTudBhS6BGpi6dZh8GuvV9w2OhkkayBWLqeL0CBj3lW4DBRwNBS1YObSo0oEEQ1IhqfZ5fJNtPREcOTl6AaVAuqmKkAMYEhpl3EzYJkixP2YYsTwduYIW4nETfBiFt3/QNHl/KBA/GYhHi4QzySIh6kEY//mEWLLniFfpRaEAtE9cpamcbKWpjFOMQSImLhE7FcKykyh/0oMiOWxhEL+pjXEIiXJ4hXPpgXVYjXa+ClYNDy5VIQ8SoT8wIW8doY87Ib8Yoe82EB5nMIxEccmE9PMB/MYD7zwXychPmkCvMhmMU/X9uWtiw/H90dqz66+zqfsax/46mggYGBgYGBgYGBgUFz8QeAc2BgLbbK0gAAAABJRU5ErkJggg==",
  "base64",
);

/** The manifest with which a phone keeps the pages as an app. Addresses are relative, as the service may be below a path. */
function manifest() {
  return {
    name: "Sidereal",
    short_name: "Sidereal",
    start_url: ".",
    display: "standalone",
    background_color: COLOURS.light.paper,
    theme_color: COLOURS.light.card,
    icons: [
      { src: assetPath("icon.svg").slice(1), type: "image/svg+xml", sizes: "any" },
      {
        src: assetPath("touch-icon.png").slice(1),
        type: "image/png",
        sizes: "180x180",
        purpose: "any maskable",
      },
    ],
  };
}

/** The files by name: the style sheet, the icons and the browser modules. */
function readFiles(): ReadonlyMap<string, string | Buffer> {
  const files = new Map<string, string | Buffer>([
    ["sidereal.css", STYLES],
    ["icon.svg", ICON],
    ["touch-icon.png", TOUCH_ICON],
  ]);
  const modules = fileURLToPath(new URL("./client/", import.meta.url));
  for (const name of readdirSync(modules).filter((file) => file.endsWith(".js")))
    files.set(name, readFileSync(join(modules, name), "utf8"));
  return files;
}

interface Assets {
  files: ReadonlyMap<string, string | Buffer>;
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

/** A file that is the same for everybody. `control`: how long caches keep it. */
export function fileRoute(path: string, control: string, handle: Route["handle"]): Route {
  const cache = { kind: "shared", control } as const;
  const facts = { method: "GET", access: "public", query: [], body: "none", form: "file" } as const;
  return { ...facts, path, limit: FREE_LIMIT, cache, handle };
}

/** Of a file whose address changes with its content. */
export const FOREVER = "public, max-age=31536000, immutable";

/** The files, the icon at its default path, and the manifest, whose folder is the scope of the app. */
export function assetRoutes(): Route[] {
  const current = assets();
  return [
    fileRoute("/assets/{version}/{name}", FOREVER, ({ params: { version, name = "" } }) => {
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
    fileRoute("/manifest.webmanifest", "public, max-age=3600", () =>
      content("application/manifest+json; charset=utf-8", JSON.stringify(manifest())),
    ),
    fileRoute("/favicon.ico", "public, max-age=3600", () => redirect(assetPath("icon.svg"), 302)),
  ];
}

/** Serves the images of owners. */
export function avatarRoute(avatarsNow: () => Avatars): Route {
  return fileRoute("/avatars/{version}", FOREVER, async ({ params: { version = "" } }) => {
    const png = await avatarsNow().image(version);
    if (png === undefined) throw new AppError("NOT_FOUND", "This avatar does not exist.");
    return content("image/png", png, {
      headers: { "Content-Security-Policy": "default-src 'none'; sandbox" },
    });
  });
}
