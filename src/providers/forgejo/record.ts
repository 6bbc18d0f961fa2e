/** The documents that Forgejo, Gitea and Gogs have in common; each is a branch of the one after it. */
import { z } from "zod";
import {
  avatarAddress,
  count,
  fullName,
  homepage,
  id,
  label,
  licenseOf,
  orNull,
  text,
  time,
  topics,
  webUrl,
} from "../fields.js";
import type { ForgeRecord } from "../lists.js";
import { README_NAMES } from "../readme.js";
import type { RestForge } from "../rest-provider.js";
import { checkForgejoToken } from "./token-check.js";

const envelope = z.object({ ok: z.literal(true), data: z.unknown() });

/** What their APIs have in common. */
export const API_OF_FAMILY = {
  base: "/api/v1",
  authorization: (token) => `token ${token}`,
  // Undefined where the response of a search has no list.
  listOf: (body) => envelope.safeParse(body).data?.data,
  pathOfName: ({ owner, name }) => `/repos/${encodeURIComponent(owner)}/${encodeURIComponent(name)}`,
  readmePaths: ({ owner, name }) =>
    README_NAMES.map(
      (file) => `/repos/${encodeURIComponent(owner)}/${encodeURIComponent(name)}/contents/${file}`,
    ),
  checkToken: checkForgejoToken,
} as const satisfies Partial<RestForge>;

/** A repository. Older versions lack topics and language; most lack licenses; Gogs also lacks `archived`. */
export const repositorySchema = z.object({
  id,
  full_name: fullName,
  stars_count: count,
  owner: orNull(z.object({ avatar_url: orNull(avatarAddress) })),
  html_url: orNull(webUrl),
  description: orNull(text),
  website: orNull(homepage),
  language: orNull(label),
  licenses: orNull(z.array(z.string())),
  topics: orNull(topics),
  forks_count: orNull(count),
  open_issues_count: orNull(count),
  watchers_count: orNull(count),
  fork: orNull(z.boolean()),
  archived: orNull(z.boolean()),
  private: orNull(z.boolean()),
  internal: orNull(z.boolean()),
  created_at: orNull(time),
  updated_at: orNull(time),
});

/** A repository as every provider describes it. */
export function toRecord(row: z.output<typeof repositorySchema>): ForgeRecord {
  const [license, ...others] = row.licenses ?? [];
  return {
    // Internal repositories are visible only after sign-in.
    isPublic: row.private !== true && row.internal !== true,
    repository: {
      providerId: row.id,
      ...row.full_name,
      url: row.html_url,
      avatarUrl: row.owner?.avatar_url ?? null,
      description: row.description,
      homepage: row.website,
      language: row.language,
      // With several license files it is unknown which one applies.
      license: license === undefined || others.length > 0 ? null : licenseOf(license),
      topics: row.topics,
      stars: row.stars_count,
      forks: row.forks_count,
      openIssues: row.open_issues_count,
      watchers: row.watchers_count,
      fork: row.fork,
      archived: row.archived,
      createdAt: row.created_at,
      // The closest to a push that Forgejo reports; changed settings count too.
      pushedAt: row.updated_at,
    },
  };
}
