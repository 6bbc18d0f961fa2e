import { z } from "zod";
import {
  avatarAddress,
  count,
  fullName,
  id,
  licenseOf,
  orNull,
  text,
  time,
  topics,
  webUrl,
} from "../fields.js";
import { type ForgeRecord, highestId, type ListRequest } from "../lists.js";
import { README_NAMES } from "../readme.js";
import type { RestForge } from "../rest-provider.js";
import { checkGitlabToken } from "./token-check.js";

const PAGE_SIZE = 100;

/** A project. Visibility, archived, open issues and origin need a token; lists never include the license. */
const projectSchema = z.object({
  id,
  path_with_namespace: fullName,
  star_count: count,
  web_url: orNull(webUrl),
  namespace: orNull(z.object({ avatar_url: orNull(avatarAddress) })),
  description: orNull(text),
  license: orNull(z.object({ key: z.string() })),
  topics: orNull(topics),
  /** The name of `topics` before GitLab 14. */
  tag_list: orNull(topics),
  forks_count: orNull(count),
  open_issues_count: orNull(count),
  visibility: orNull(z.string()),
  archived: orNull(z.boolean()),
  forked_from_project: orNull(z.object({})),
  created_at: orNull(time),
  last_activity_at: orNull(time),
});

/** The first page of a walk over REST. */
export const FIRST_REST_CURSOR = "1:0";

/**
 * GitLab's REST API. Open issues, visibility and origin need a token; lists never include the license, and nothing the languages,
 * which take another request.
 */
export const GITLAB_REST: RestForge = {
  kind: "gitlab",
  base: "/api/v4",
  authorization: (token) => `Bearer ${token}`,
  list: listById,
  listPart: "projects",
  listsAreComplete: false,
  pageSize: PAGE_SIZE,
  listOf: (body) => body,
  pathOfId: (projectId) => `/projects/${projectId}?license=true`,
  pathOfName: ({ owner, name }) => `/projects/${encodeURIComponent(`${owner}/${name}`)}?license=true`,
  readmePaths: ({ owner, name }) =>
    README_NAMES.map(
      (file) =>
        `/projects/${encodeURIComponent(`${owner}/${name}`)}/repository/files/${encodeURIComponent(file)}?ref=HEAD`,
    ),
  checkToken: checkGitlabToken,
  record: projectSchema.transform(toRecord),
};

function toRecord(project: z.output<typeof projectSchema>): ForgeRecord {
  const isComplete = project.visibility !== null;
  return {
    isPublic: !isComplete || project.visibility === "public",
    repository: {
      providerId: project.id,
      ...project.path_with_namespace,
      url: project.web_url,
      avatarUrl: project.namespace?.avatar_url ?? null,
      description: project.description,
      homepage: null,
      // Needs a separate request, which would double the cost of a refresh.
      language: null,
      license: project.license === null ? null : licenseOf(project.license.key),
      topics: project.topics ?? project.tag_list,
      stars: project.star_count,
      forks: project.forks_count,
      openIssues: project.open_issues_count,
      watchers: null,
      // Only complete records include the origin, and only for forks.
      fork: isComplete ? project.forked_from_project !== null : null,
      archived: project.archived,
      createdAt: project.created_at,
      // The closest to a push that GitLab reports; comments count too.
      pushedAt: project.last_activity_at,
    },
  };
}

/**
 * Keyset pagination supports only the order by id, and there is no star filter, so a walk reads everything. Cursors are
 * `page:lastId`.
 */
function listById(cursor: string | null): ListRequest {
  const [, page, id] = /^([1-9]\d{0,8}):(\d{1,15})$/.exec(cursor ?? FIRST_REST_CURSOR) ?? [];
  const lastId = Number(id ?? 0);
  return {
    path: `/projects?visibility=public&pagination=keyset&order_by=id&sort=asc&per_page=${PAGE_SIZE}&id_after=${lastId}`,
    next: ({ records, hasMore }) => {
      if (!hasMore) return null;
      return `${Number(page ?? 1) + 1}:${highestId(lastId, records)}`;
    },
  };
}
