/** GitLab: refreshes up to a hundred projects per request and walks by stars, over GraphQL, and reads single projects over REST. */
import { createHash } from "node:crypto";
import { z } from "zod";
import type { ProviderSettings } from "../../config/config.js";
import type { Connection } from "../client.js";
import { queryInHalves } from "../client.js";
import type { Discovered, Provider, Refreshed, RepositoryRef, UpstreamRepository } from "../contract.js";
import { asFailed, UpstreamFailure } from "../failures.js";
import {
  avatarAddress,
  count,
  fullName,
  id,
  inner,
  licenseOf,
  orNull,
  record,
  text,
  time,
  topics,
  webUrl,
} from "../fields.js";
import { type ForgeRecord, isSortedByStars, type Mark, nextMark } from "../lists.js";
import { createRestReader, type RestApi, type RestReader, restClient } from "../rest-provider.js";
import { checkGitlabToken } from "../token-check.js";
import { GaveUp, isBeingDeleted, MAX_PROJECTS, Projects } from "./projects.js";

/** A cursor of a walk over GraphQL: version of the form, page, stars of the last row, mark, and GitLab's own cursor. */
const GRAPHQL_CURSOR = /^graphql2:([1-9]\d{0,8}):(\d{1,15}):([\w-]{1,22}):(.+)$/s;
const FIRST_PAGE = { page: 1, least: Number.POSITIVE_INFINITY, mark: "", after: null };

export function createGitlab(settings: ProviderSettings, connection: Connection): Provider {
  const client = restClient(GITLAB_REST, settings, connection);
  const rest = createRestReader(GITLAB_REST, settings, client);
  const projects = new Projects(client, settings);
  return {
    ...rest,
    batchSize: MAX_PROJECTS,
    listsAreComplete: true,
    discover: (cursor, signal) => discover({ rest, projects }, cursor, signal),
    refreshMany: (refs, signal) => refreshMany({ rest, projects }, refs, signal),
    recheck: (ref, signal) => readById(rest, ref, signal),
    withheld: () => projects.withheld(),
    // Only the lists of the REST API have a limit of their own.
    readyAt: () => client.readyAt({ resource: "core" }),
  };
}

interface Apis {
  rest: RestReader;
  projects: Projects;
}

/**
 * A page of the walk by stars, most first, which ends once they fall below the minimum. Pages begin after a star count and an id, not
 * after a number of rows, so projects that move do not hide others. Guarantee: the walk sees every project that keeps its stars or loses
 * some and stays at or above the minimum. One that gains stars and passes the walk meanwhile is missed; the next walk sees it.
 */
async function discover(
  { rest, projects }: Apis,
  cursor: string | null,
  signal: AbortSignal,
): Promise<Discovered> {
  const { minStars } = rest.settings;
  const at = positionOf(cursor);
  const { least, after } = at;
  const page = await projects.page("stars_desc", after, signal);
  const found = page.repositories.filter(({ stars }) => stars >= minStars);
  if (!isSortedByStars(page.stars, least))
    throw new UpstreamFailure("malformed", "GraphQL: the projects are not sorted by stars");
  const last = page.stars.at(-1) ?? 0;
  if (page.after === null || last < minStars) return { repositories: found, next: null };
  const key = createHash("sha256").update(page.after).digest("base64url").slice(0, 22);
  const mark = nextMark(at, key);
  return { repositories: found, next: `graphql2:${at.page + 1}:${last}:${mark}:${page.after}` };
}

function positionOf(cursor: string | null): Mark & { least: number; after: string | null } {
  const [, page, least, mark = "", after = null] = GRAPHQL_CURSOR.exec(cursor ?? "") ?? [];
  return page === undefined ? FIRST_PAGE : { page: Number(page), least: Number(least), mark, after };
}

/** Projects missing from a response are read one by one, as only that shows whether they are gone. */
async function refreshMany(
  { rest, projects }: Apis,
  refs: readonly RepositoryRef[],
  signal: AbortSignal,
): Promise<Refreshed[]> {
  // Ids of other forms come from imports, and a single one would spoil the query.
  const queried = refs.filter(({ providerId }) => /^[1-9]\d{0,18}$/.test(providerId));
  const query = async (part: readonly RepositoryRef[]) => {
    try {
      return { results: await projects.byId(part, signal), open: [] };
    } catch (error) {
      if (error instanceof GaveUp) return { results: new Map(), open: part };
      throw error;
    }
  };
  const readOne = async (ref: RepositoryRef): Promise<Refreshed> => ({
    kind: "found",
    repository: await readById(rest, ref, signal),
    etag: null,
  });
  const results = queried.length === 0 ? new Map() : await queryInHalves(queried, { query, readOne });
  const missing = refs.filter((ref) => !results.has(ref));
  if (missing.length > 0) {
    const read = await rest.refreshMany(withoutEtags(missing), signal).catch((error: unknown) => {
      const failed = asFailed(error);
      if (results.size === 0) throw failed.failure;
      return missing.map(() => failed);
    });
    for (const [i, ref] of missing.entries()) {
      const result = read[i];
      if (result !== undefined) results.set(ref, result);
    }
  }
  return refs.map((ref) => results.get(ref) ?? { kind: "skipped" });
}

async function readById(
  rest: RestReader,
  ref: RepositoryRef,
  signal: AbortSignal,
): Promise<UpstreamRepository> {
  const [result] = await rest.refreshMany(withoutEtags([ref]), signal);
  if (result?.kind === "found") return result.repository;
  throw result?.kind === "failed"
    ? result.failure
    : new UpstreamFailure("malformed", `${rest.name}: no document`);
}

/** An ETag belongs to an older document than the counts of the last query. */
const withoutEtags = (refs: readonly RepositoryRef[]): RepositoryRef[] =>
  refs.map((ref) => ({ ...ref, etag: null }));

const PAGE_SIZE = 100;

/** A project. Visibility, archived, open issues, origin and the mark of deletion need a token; lists never include the license. */
const projectSchema = record({
  providerId: ["id", id],
  fullName: ["path_with_namespace", fullName],
  stars: ["star_count", count],
  url: ["web_url", orNull(webUrl)],
  avatarUrl: ["namespace", inner("avatar_url", orNull(avatarAddress))],
  description: ["description", orNull(text)],
  license: ["license", inner("key", z.string().transform(licenseOf))],
  topics: ["topics", orNull(topics)],
  /** The name of `topics` before GitLab 14. */
  tags: ["tag_list", orNull(topics)],
  forks: ["forks_count", orNull(count)],
  openIssues: ["open_issues_count", orNull(count)],
  visibility: ["visibility", orNull(z.string())],
  archived: ["archived", orNull(z.boolean())],
  deletionOn: ["marked_for_deletion_on", orNull(z.string())],
  origin: ["forked_from_project", orNull(z.object({}))],
  createdAt: ["created_at", orNull(time)],
  // The closest to a push that GitLab reports; comments count too.
  pushedAt: ["last_activity_at", orNull(time)],
});

const pathOf = ({ owner, name }: { owner: string; name: string }): string =>
  `/projects/${encodeURIComponent(`${owner}/${name}`)}`;

const BY_STARS = `order_by=star_count&sort=desc&per_page=${PAGE_SIZE}`;

/** GitLab's REST API. Languages would take a second request for each project. */
export const GITLAB_REST: RestApi = {
  kind: "gitlab",
  base: "/api/v4",
  authorization: (token) => `Bearer ${token}`,
  listPart: "projects",
  listOf: (body) => body,
  pathOfNamed: (name) => `/projects?visibility=public&search=${encodeURIComponent(name)}&${BY_STARS}`,
  async pathOfOwned(owner, read) {
    const name = encodeURIComponent(owner);
    const group = await read(`/groups/${name}?with_projects=false`);
    return group === null
      ? `/users/${name}/projects?${BY_STARS}`
      : `/groups/${name}/projects?visibility=public&include_subgroups=true&${BY_STARS}`;
  },
  pathOfId: (projectId) => `/projects/${projectId}?license=true`,
  pathOfName: (name) => `${pathOf(name)}?license=true`,
  pathOfFile: (name, file) => `${pathOf(name)}/repository/files/${encodeURIComponent(file)}?ref=HEAD`,
  // Its version is for members.
  controlPath: "/projects?per_page=1&simple=true",
  checkToken: checkGitlabToken,
  record: projectSchema.transform(toRecord),
};

function toRecord(project: z.output<typeof projectSchema>): ForgeRecord {
  const { fullName, visibility, origin, tags, deletionOn, ...facts } = project;
  const isComplete = visibility !== null;
  return {
    isPublic: !isComplete || visibility === "public",
    isBeingDeleted: isBeingDeleted(isComplete ? deletionOn : undefined, {
      name: fullName.name,
      providerId: facts.providerId,
    }),
    repository: {
      ...facts,
      ...fullName,
      homepage: null,
      language: null,
      topics: facts.topics ?? tags,
      watchers: null,
      // Only complete records include the origin, and only for forks.
      fork: isComplete ? origin !== null : null,
    },
  };
}
