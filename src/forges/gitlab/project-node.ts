/** Projects in GitLab's GraphQL API: the query, and how a project in its response is read. */
import { z } from "zod";
import { repositoryUrl } from "../../config/config.js";
import type { UpstreamRepository } from "../contract.js";
import {
  avatarAddress,
  avatarUrlOn,
  count,
  fullName,
  label,
  orNull,
  parseRecord,
  text,
  time,
  topics,
  webUrl,
} from "../fields.js";

/** Most projects of one query: GitLab's maximum of a page. */
export const MAX_PROJECTS = 100;

/** Fields that older versions lack, with their selections. The rest of a record is useful without them. */
const OPTIONAL = {
  webUrl: "webUrl",
  description: "description",
  topics: "topics",
  forksCount: "forksCount",
  openIssuesCount: "openIssuesCount",
  archived: "archived",
  isForked: "isForked",
  createdAt: "createdAt",
  lastActivityAt: "lastActivityAt",
  languages: "languages { name share }",
  namespace: "namespace { avatarUrl }",
} as const;
export type OptionalField = keyof typeof OPTIONAL;

/** An argument of newer versions, some of which leave out archived projects by default. */
export const ARCHIVED_ARGUMENT = "archived:";
/** A part of a query that an instance may not know. */
export type OptionalPart = OptionalField | typeof ARCHIVED_ARGUMENT;

const isOptionalField = (name: string): name is OptionalField => Object.hasOwn(OPTIONAL, name);

export function optionalField(name: string | undefined): OptionalField | undefined {
  return name !== undefined && isOptionalField(name) ? name : undefined;
}

/**
 * The query for projects by their global ids, or for a page of all projects in an order. Its complexity, as GitLab counts it, is
 * at most 52 of the 200 that it allows without a token.
 */
export function projectsQuery(list: "ids" | "page", without: ReadonlySet<OptionalPart>): string {
  const archived = without.has(ARCHIVED_ARGUMENT) ? "" : ", archived: INCLUDE";
  const [variables, filter] =
    list === "ids"
      ? ["$ids: [ID!]!", "ids: $ids"]
      : ["$sort: String!, $after: String", "sort: $sort, after: $after"];
  const optional = Object.entries(OPTIONAL).flatMap(([name, selection]) =>
    isOptionalField(name) && without.has(name) ? [] : [selection],
  );
  return `query Projects(${variables}) {
  projects(${filter}, first: ${MAX_PROJECTS}${archived}) {
    nodes { id fullPath starCount visibility ${optional.join(" ")} }
    pageInfo { hasNextPage endCursor }
  }
}`;
}

export const globalId = (providerId: string): string => `gid://gitlab/Project/${providerId}`;

const projectId = z
  .string()
  .regex(/^gid:\/\/gitlab\/Project\/[1-9]\d{0,18}$/)
  .transform((id) => id.slice(globalId("").length));

const language = z.object({ name: label, share: orNull(z.number()) });

const projectSchema = z.object({
  id: projectId,
  fullPath: fullName,
  starCount: count,
  visibility: z.string(),
  webUrl: orNull(webUrl),
  description: orNull(text),
  topics: orNull(topics),
  forksCount: orNull(count),
  openIssuesCount: orNull(count),
  archived: orNull(z.boolean()),
  isForked: orNull(z.boolean()),
  createdAt: orNull(time),
  lastActivityAt: orNull(time),
  languages: orNull(z.array(z.unknown()).max(1_000)),
  namespace: orNull(z.object({ avatarUrl: orNull(avatarAddress) })),
});

export interface Project {
  repository: UpstreamRepository;
  isPublic: boolean;
}

/** The project's id, even if the rest of it is invalid. */
export function idOf(node: unknown): string | undefined {
  return z.object({ id: projectId }).safeParse(node).data?.id;
}

/**
 * The project in a node. `withheld`: fields that are not in it, by request or by an error of their own. `site`: address of the
 * instance. Throws UpstreamFailure `malformed`.
 */
export function readProject(
  node: unknown,
  { withheld, site }: { withheld: ReadonlySet<string>; site: string },
): Project {
  const project = parseRecord(projectSchema, node);
  const { owner, name } = project.fullPath;
  return {
    isPublic: project.visibility === "public",
    repository: {
      providerId: project.id,
      nodeId: null,
      owner,
      name,
      url: project.webUrl ?? repositoryUrl(site, `${owner}/${name}`),
      avatarUrl: avatarUrlOn(site, project.namespace?.avatarUrl),
      ...(withheld.has("description") ? {} : { description: project.description }),
      homepage: null,
      language: largest(project.languages ?? []),
      // Only single documents of the REST API have it.
      license: null,
      topics: project.topics,
      stars: project.starCount,
      forks: project.forksCount,
      openIssues: project.openIssuesCount,
      watchers: null,
      fork: project.isForked,
      archived: project.archived,
      createdAt: project.createdAt,
      // The closest to a push that GitLab reports; comments count too.
      pushedAt: project.lastActivityAt,
    },
  };
}

/** The language with the largest share; null if none is known. */
function largest(values: readonly unknown[]): string | null {
  const known = values.flatMap((value) => {
    const { name = null, share } = language.safeParse(value).data ?? {};
    return name === null ? [] : [{ name, share: share ?? 0 }];
  });
  const most = Math.max(...known.map(({ share }) => share));
  return known.find(({ share }) => share === most)?.name ?? null;
}
