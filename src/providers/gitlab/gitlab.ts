import { z } from "zod";
import type { Clock } from "../../clock.js";
import type { UpstreamFetch } from "../fetch.js";
import { count, fullName, id, orNull, text, time, topics, webUrl } from "../fields.js";
import { licenseOf } from "../licenses.js";
import type { Provider, ProviderSettings } from "../providers.js";
import { createRestProvider, type ForgeRecord, type RestForge } from "../rest-forge.js";

const PAGE_SIZE = 100;

/** An instance of GitLab, of one's own or gitlab.com. */
export function createGitlab(
  settings: ProviderSettings,
  dependencies: { fetch: UpstreamFetch; clock: Clock },
): Provider {
  const forge: RestForge = {
    kind: "gitlab",
    base: "/api/v4",
    authorization: (token) => `Bearer ${token}`,
    // Keyset pagination goes by id only, and no parameter bounds the stars, so everything is walked and sifted here.
    listPath: ({ lastId }) =>
      `/projects?visibility=public&pagination=keyset&order_by=id&sort=asc&per_page=${PAGE_SIZE}&id_after=${lastId}`,
    pageSize: PAGE_SIZE,
    listOf: (body) => body,
    pathOfId: (projectId) => `/projects/${projectId}?license=true`,
    pathOfName: ({ owner, name }) => `/projects/${encodeURIComponent(`${owner}/${name}`)}?license=true`,
    record: projectSchema.transform((project) => toRecord(project, settings.url)),
  };
  return createRestProvider(forge, settings, dependencies);
}

/** A project. Without a token visibility, archived, open issues and origin are missing, and the licence always is in lists. */
const projectSchema = z.object({
  id,
  path_with_namespace: fullName,
  star_count: count,
  web_url: orNull(webUrl),
  description: orNull(text),
  license: orNull(z.object({ key: z.string() })),
  topics: orNull(topics),
  /** What topics were called before GitLab 14. */
  tag_list: orNull(topics),
  forks_count: orNull(count),
  open_issues_count: orNull(count),
  visibility: orNull(z.string()),
  archived: orNull(z.boolean()),
  forked_from_project: orNull(z.object({})),
  created_at: orNull(time),
  last_activity_at: orNull(time),
});

function toRecord(project: z.output<typeof projectSchema>, site: string): ForgeRecord {
  const { owner, name } = project.path_with_namespace;
  const isWhole = project.visibility !== null;
  return {
    isPublic: !isWhole || project.visibility === "public",
    repository: {
      providerId: project.id,
      nodeId: null,
      owner,
      name,
      url: project.web_url ?? `${site}/${owner}/${name}`,
      description: project.description,
      homepage: null,
      // Told only in answer to a request of its own, which would double what a refresh costs.
      language: null,
      license: project.license === null ? null : licenseOf(project.license.key),
      topics: project.topics ?? project.tag_list,
      stars: project.star_count,
      forks: project.forks_count,
      openIssues: project.open_issues_count,
      watchers: null,
      // The origin is there for forks only, and in whole records only.
      fork: isWhole ? project.forked_from_project !== null : null,
      archived: project.archived,
      createdAt: project.created_at,
      // The nearest thing to a push that is told; comments count too.
      pushedAt: project.last_activity_at,
    },
  };
}
