import { z } from "zod";
import type { Clock } from "../../clock.js";
import type { UpstreamFetch } from "../fetch.js";
import { count, fullName, id, label, orNull, text, time, topics, webUrl } from "../fields.js";
import { licenseOf } from "../licenses.js";
import type { Provider, ProviderSettings } from "../providers.js";
import { createRestProvider, type ForgeRecord, type RestForge } from "../rest-forge.js";

/** The most that an instance gives unless its operator has changed it. */
const PAGE_SIZE = 50;

/** An instance of Forgejo or Gitea, such as Codeberg. Mirrors and empty repositories are repositories like any other. */
export function createForgejo(
  settings: ProviderSettings,
  dependencies: { fetch: UpstreamFetch; clock: Clock },
): Provider {
  const forge: RestForge = {
    kind: "forgejo",
    base: "/api/v1",
    authorization: (token) => `token ${token}`,
    // Only newer versions sort by stars, and none bounds them, so everything is walked and sifted here.
    listPath: ({ page }) => `/repos/search?private=false&sort=id&order=asc&limit=${PAGE_SIZE}&page=${page}`,
    pageSize: PAGE_SIZE,
    listOf: (body) => envelope.safeParse(body).data?.data,
    pathOfId: (repositoryId) => `/repositories/${repositoryId}`,
    pathOfName: ({ owner, name }) => `/repos/${encodeURIComponent(owner)}/${encodeURIComponent(name)}`,
    record: repositorySchema.transform((repository) => toRecord(repository, settings.url)),
  };
  return createRestProvider(forge, settings, dependencies);
}

const envelope = z.object({ ok: z.literal(true), data: z.unknown() });

/** A repository. Topics and language are missing in older versions, licences in most. */
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

function toRecord(told: z.output<typeof repositorySchema>, site: string): ForgeRecord {
  const { owner, name } = told.full_name;
  const [license, ...others] = told.licenses ?? [];
  return {
    // Internal: for people who have signed in.
    isPublic: told.private !== true && told.internal !== true,
    repository: {
      providerId: told.id,
      nodeId: null,
      owner,
      name,
      url: told.html_url ?? `${site}/${owner}/${name}`,
      description: told.description,
      homepage: told.website,
      language: told.language,
      // Several files of licences do not tell which one holds.
      license: license === undefined || others.length > 0 ? null : licenseOf(license),
      topics: told.topics,
      stars: told.stars_count,
      forks: told.forks_count,
      openIssues: told.open_issues_count,
      watchers: told.watchers_count,
      fork: told.fork,
      archived: told.archived,
      createdAt: told.created_at,
      // The nearest thing to a push that is told; a change of the settings counts too.
      pushedAt: told.updated_at,
    },
  };
}
