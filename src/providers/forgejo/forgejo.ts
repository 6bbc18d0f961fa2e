import { z } from "zod";
import type { ProviderSettings } from "../../forges.js";
import type { Connection } from "../client.js";
import type { Provider } from "../contract.js";
import { count, fullName, id, label, licenseOf, orNull, text, time, topics, webUrl } from "../fields.js";
import { createRestProvider, type ForgeRecord, type RestForge } from "../rest-provider.js";

/** The default maximum of an instance. */
const PAGE_SIZE = 50;

const envelope = z.object({ ok: z.literal(true), data: z.unknown() });

/** A repository. Older versions lack topics and language; most lack licenses. */
const repositorySchema = z.object({
  id,
  full_name: fullName,
  stars_count: count,
  html_url: orNull(webUrl),
  description: orNull(text),
  website: orNull(webUrl),
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

const FORGEJO: RestForge = {
  kind: "forgejo",
  base: "/api/v1",
  authorization: (token) => `token ${token}`,
  // Only newer versions sort by stars, and none filters by them, so we walk everything and filter here.
  listPath: ({ page }) => `/repos/search?private=false&sort=id&order=asc&limit=${PAGE_SIZE}&page=${page}`,
  pageSize: PAGE_SIZE,
  listOf: (body) => envelope.safeParse(body).data?.data,
  pathOfId: (repositoryId) => `/repositories/${repositoryId}`,
  pathOfName: ({ owner, name }) => `/repos/${encodeURIComponent(owner)}/${encodeURIComponent(name)}`,
  record: repositorySchema.transform(toRecord),
};

/** An instance of Forgejo or Gitea, such as Codeberg. Mirrors and empty repositories are included. */
export function createForgejo(settings: ProviderSettings, connection: Connection): Provider {
  return createRestProvider(FORGEJO, settings, connection);
}

function toRecord(row: z.output<typeof repositorySchema>): ForgeRecord {
  const [license, ...others] = row.licenses ?? [];
  return {
    // Internal repositories are visible only after sign-in.
    isPublic: row.private !== true && row.internal !== true,
    repository: {
      providerId: row.id,
      ...row.full_name,
      url: row.html_url,
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
