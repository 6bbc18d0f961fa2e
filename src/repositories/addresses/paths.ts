/** Where the name of a repository ends in the path of one of its pages, by the kind of forge. */
import type { ForgeKind } from "../../config/config.js";

/** Forges allow no other characters in the names of owners and repositories; `.` and `..` are steps of a path. */
const SEGMENT = /^(?!\.{1,2}$)[A-Za-z0-9_.-]{1,255}$/;
/** What clone URLs and feeds append to a name. */
const SUFFIX = /(?:\.wiki)?\.git$|\.(?:rss|atom)$/i;

const words = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/));

/** First segments of pages that belong to no owner. */
const PAGES: Readonly<Record<ForgeKind, ReadonlySet<string>>> = {
  github:
    words(`about account advisories apps assets blog codespaces collections contact copilot customer-stories
    dashboard discussions enterprise events explore features issues join login logout marketplace mobile new
    notifications organizations orgs partners pricing pulls readme resources search security sessions settings signup
    site solutions spark sponsors stars team topics trending user-attachments users why-github`),
  gitlab:
    words(`- admin api assets autocomplete dashboard explore groups help import jwt oauth profile projects public
    search snippets uploads users`),
  forgejo:
    words(`- admin api assets attachments avatars captcha explore issues login metrics milestones notifications org
    pulls repo repo-avatars search user users`),
  gogs: words("- admin api assets avatars explore issues login metrics org pulls repo repo-avatars user"),
};

/** Segments that GitLab allows as no name below a group, so that a page of a repository begins there. */
const GITLAB_PAGES =
  words(`- badges blame blob builds commits create create_dir edit environments files find_file new
  preview raw refs tree update wikis`);
/** Pages that older addresses have without `/-/`; a repository may be named so, but hardly ever is. */
const GITLAB_OLD_PAGES = words("commit issues merge_requests milestones pipelines releases tags");

/** The full name at the beginning of a path below the site; undefined for a page of no repository. */
export function fullNameIn(kind: ForgeKind, segments: readonly string[]): string | undefined {
  const [first = ""] = segments;
  if (PAGES[kind].has(first.toLowerCase())) return undefined;
  // A path of GitLab's API has the whole name in one segment.
  const whole = kind === "gitlab" && first.includes("/") ? first.split("/") : undefined;
  const parts = whole ?? segments.slice(0, kind === "gitlab" ? endInGitlab(segments) : 2);
  const name = (parts.at(-1) ?? "").replace(SUFFIX, "");
  const named = [...parts.slice(0, -1), name];
  return named.length >= 2 && named.every((part) => SEGMENT.test(part)) ? named.join("/") : undefined;
}

/** Groups nest, so the name ends only where a page begins. */
function endInGitlab(segments: readonly string[]): number {
  const at = segments.findIndex(
    (segment, i) => i >= 2 && (GITLAB_PAGES.has(segment) || GITLAB_OLD_PAGES.has(segment)),
  );
  return at === -1 ? segments.length : at;
}

/** First segments before the name of an owner. */
const BEFORE_OWNERS: Readonly<Partial<Record<ForgeKind, readonly string[]>>> = {
  github: ["orgs", "users"],
  gitlab: ["groups", "users"],
  forgejo: ["org", "user"],
};

/** The owner whose page a path is, such as `honojs` or `orgs/honojs/repositories`; undefined for all other paths. */
export function ownerIn(kind: ForgeKind, segments: readonly string[]): string | undefined {
  const [first = "", second] = segments;
  const isBefore = BEFORE_OWNERS[kind]?.includes(first.toLowerCase()) === true;
  const owner = isBefore
    ? second
    : segments.length === 1 && !PAGES[kind].has(first.toLowerCase())
      ? first
      : undefined;
  return owner !== undefined && SEGMENT.test(owner) ? owner : undefined;
}

/** Whether a path is that of a README: `owner/name/blob/main/README.md`, also as its text alone. */
export function isReadme(segments: readonly string[]): boolean {
  return segments.length > 3 && /^readme(?:\.[a-z]{1,10})?$/i.test(segments.at(-1) ?? "");
}
