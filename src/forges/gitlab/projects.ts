/** Projects in GitLab's GraphQL API: the queries, and how a project in a response is read. */
import { z } from "zod";
import { type ProviderSettings, repositoryUrl } from "../../config/config.js";
import type { ForgeClient } from "../client.js";
import type { Refreshed, RepositoryRef, UpstreamRepository } from "../contract.js";
import { asFailed, checkPublic, notOfRepository, UpstreamFailure } from "../failures.js";
import {
  avatarAddress,
  avatarUrlOn,
  checkSomeValid,
  count,
  fullName,
  graphqlErrors,
  inner,
  label,
  orNull,
  parseRecord,
  record,
  text,
  time,
  topics,
  WithheldFields,
  webUrl,
} from "../fields.js";

/** How many times a query is sent again with fewer fields; GitLab names at most five unknown ones in a response. */
const MAX_REDUCTIONS = 4;
/** Characters of a cursor of GitLab; the cursor of a walk has room for it. */
const MAX_AFTER = 3_000;
const MAX_ERRORS = 1_000;

const errorSchema = z.object({
  message: z.string().catch(""),
  path: z.array(z.union([z.string(), z.number()])).catch([]),
});
type QueryError = z.output<typeof errorSchema>;

const connectionSchema = z.object({
  nodes: z.array(z.unknown()).max(1_000),
  pageInfo: z.object({ hasNextPage: z.boolean(), endCursor: z.string().min(1).max(MAX_AFTER).nullable() }),
});

const responseSchema = z.object({
  data: orNull(z.object({ projects: orNull(connectionSchema) })),
  errors: graphqlErrors(errorSchema, MAX_ERRORS),
});

interface ProjectsResponse extends z.output<typeof connectionSchema> {
  errors: readonly QueryError[];
  without: ReadonlySet<OptionalPart>;
  /** When it came. */
  at: number;
}

interface ProjectPage {
  /** Public projects, in the requested order; those that cannot be read are left out. */
  repositories: UpstreamRepository[];
  stars: readonly number[];
  after: string | null;
}

/** Most projects of one query: GitLab's maximum of a page. */
export const MAX_PROJECTS = 100;

/** GitLab responded to a query that it cannot answer; a smaller one may succeed. */
export class GaveUp extends UpstreamFailure {
  constructor({ message, until }: UpstreamFailure) {
    super("unreachable", message, { until });
  }
}

/** Fields that older versions do not have, with their selections. A record is useful without them. */
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
  markedForDeletionOn: "markedForDeletionOn",
} as const;
type OptionalField = keyof typeof OPTIONAL;

/** An argument of newer versions. Some of them leave out archived projects by default. */
const ARCHIVED_ARGUMENT = "archived:";
type OptionalPart = OptionalField | typeof ARCHIVED_ARGUMENT;

const OPTIONAL_FIELDS = Object.keys(OPTIONAL) as OptionalField[];

/**
 * The query for projects by their global ids, or for a page of all projects in an order. Its complexity, as GitLab counts it, is
 * at most 54 of the 200 that it allows without a token.
 */
export function projectsQuery(list: "ids" | "page", without: ReadonlySet<OptionalPart>): string {
  const archived = without.has(ARCHIVED_ARGUMENT) ? "" : ", archived: INCLUDE";
  const [variables, filter] =
    list === "ids"
      ? ["$ids: [ID!]!", "ids: $ids"]
      : ["$sort: String!, $after: String", "sort: $sort, after: $after"];
  const optional = OPTIONAL_FIELDS.filter((field) => !without.has(field)).map((field) => OPTIONAL[field]);
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

const projectSchema = record({
  providerId: ["id", projectId],
  fullName: ["fullPath", fullName],
  stars: ["starCount", count],
  visibility: ["visibility", z.string()],
  url: ["webUrl", orNull(webUrl)],
  avatarUrl: ["namespace", inner("avatarUrl", orNull(avatarAddress))],
  description: ["description", orNull(text)],
  topics: ["topics", orNull(topics)],
  forks: ["forksCount", orNull(count)],
  openIssues: ["openIssuesCount", orNull(count)],
  archived: ["archived", orNull(z.boolean())],
  deletionOn: ["markedForDeletionOn", orNull(z.string())],
  fork: ["isForked", orNull(z.boolean())],
  createdAt: ["createdAt", orNull(time)],
  // The closest to a push that GitLab reports; comments count too.
  pushedAt: ["lastActivityAt", orNull(time)],
  language: ["languages", orNull(z.array(z.unknown()).max(1_000).transform(largest))],
});

/** The project's id, even if other fields are invalid. */
function idOf(node: unknown): string | undefined {
  return z.object({ id: projectId }).safeParse(node).data?.id;
}

/**
 * Whether GitLab deletes a project within weeks, for which it has renamed it. `day`: that of its mark, null for none; undefined if the
 * record has no marks, so that the name decides: it ends with the project's own id.
 */
export function isBeingDeleted(
  day: string | null | undefined,
  { name, providerId }: { name: string; providerId: string },
): boolean {
  return day === undefined ? name.endsWith(`-deletion_scheduled-${providerId}`) : day !== null;
}

/**
 * The project in a node. `withheld`: fields that are not in it, by request or by an error of their own. `site`: address of the
 * instance. Throws UpstreamFailure `malformed`.
 */
function readProject(
  node: unknown,
  { withheld, site }: { withheld: ReadonlySet<string>; site: string },
): { repository: UpstreamRepository; isPublic: boolean; isBeingDeleted: boolean } {
  const { fullName, visibility, description, deletionOn, ...facts } = parseRecord(projectSchema, node);
  return {
    isPublic: visibility === "public",
    isBeingDeleted: isBeingDeleted(withheld.has("markedForDeletionOn") ? undefined : deletionOn, {
      name: fullName.name,
      providerId: facts.providerId,
    }),
    repository: {
      ...facts,
      ...fullName,
      nodeId: null,
      url: facts.url ?? repositoryUrl(site, `${fullName.owner}/${fullName.name}`),
      avatarUrl: avatarUrlOn(site, facts.avatarUrl),
      ...(withheld.has("description") ? {} : { description }),
      homepage: null,
      // Only single documents of the REST API have it.
      license: null,
      watchers: null,
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

/**
 * Queries for projects over GraphQL. A field that the instance does not know is not requested for a day. An instance without GraphQL is
 * refused.
 */
export class Projects {
  readonly #client: ForgeClient;
  readonly #settings: ProviderSettings;
  readonly #url: string;
  readonly #withheld: WithheldFields<OptionalPart>;

  constructor(client: ForgeClient, settings: ProviderSettings) {
    this.#client = client;
    this.#settings = settings;
    this.#url = `${settings.url}/api/graphql`;
    this.#withheld = new WithheldFields(client.clock);
  }

  /** The fields that the instance withholds at the moment. */
  withheld(): readonly string[] {
    return this.#withheld.list().filter((part) => part !== ARCHIVED_ARGUMENT);
  }

  /**
   * The results of at most MAX_PROJECTS repositories that the response has. GitLab leaves out projects without a reason, so
   * nothing is known of the others. Throws UpstreamFailure.
   */
  async byId(refs: readonly RepositoryRef[], signal: AbortSignal): Promise<Map<RepositoryRef, Refreshed>> {
    const response = await this.#send(
      { list: "ids", variables: { ids: refs.map(({ providerId }) => globalId(providerId)) } },
      signal,
    );
    const refOf = new Map(refs.map((ref) => [ref.providerId, ref]));
    const results = new Map<RepositoryRef, Refreshed>();
    for (const [i, node] of response.nodes.entries()) {
      const ref = refOf.get(idOf(node) ?? "");
      if (ref !== undefined) results.set(ref, this.#resultOf(node, i, response));
    }
    return results;
  }

  /** The page after a cursor of GitLab, in an order such as `stars_desc`. Throws UpstreamFailure. */
  async page(sort: string, after: string | null, signal: AbortSignal): Promise<ProjectPage> {
    const response = await this.#send({ list: "page", variables: { sort, after } }, signal);
    const { nodes, pageInfo } = response;
    const read = nodes.flatMap((node, i) => {
      const result = this.#resultOf(node, i, response);
      return result.kind === "found" ? [result.repository] : [];
    });
    const counted = nodes.flatMap((node) => z.object({ starCount: z.int() }).safeParse(node).data ?? []);
    checkSomeValid(counted.length, nodes.length);
    return {
      repositories: read,
      stars: counted.map(({ starCount }) => starCount),
      after: pageInfo.hasNextPage && nodes.length > 0 ? pageInfo.endCursor : null,
    };
  }

  #resultOf(node: unknown, index: number, { errors, without, at }: ProjectsResponse): Refreshed {
    const failed = errors.flatMap(({ path }) =>
      path[0] === "projects" && path[1] === "nodes" && path[2] === index ? [String(path[3])] : [],
    );
    try {
      const { url: site, name } = this.#settings;
      const withheld = new Set([...without, ...failed]);
      const { repository, ...visibility } = readProject(node, { withheld, site });
      checkPublic(name, repository, visibility);
      return { kind: "found", repository, etag: null, at };
    } catch (error) {
      return asFailed(error);
    }
  }

  async #send(
    query: { list: "ids" | "page"; variables: Readonly<Record<string, unknown>> },
    signal: AbortSignal,
    reductions = 0,
  ): Promise<ProjectsResponse> {
    const { list, variables } = query;
    const without = new Set(this.#withheld.list());
    const { response, lease } = await this.#client.send(
      this.#url,
      {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ query: projectsQuery(list, without), variables }),
        signal,
      },
      // The limit of all requests to the API.
      { resource: "core" },
    );
    const failure = this.#client.failureOf(this.#url, response);
    if (failure?.kind === "unreachable") throw new GaveUp(failure);
    if (failure !== null) throw this.#notOffered(failure);
    const { data, errors } = parseRecord(responseSchema, this.#client.parse(this.#url, response.text));
    const connection = data?.projects ?? null;
    if (connection !== null) this.#client.tokens.hasRead(lease);
    if (connection !== null) return { ...connection, errors, without, at: this.#client.clock.now() };
    const unknown = errors
      .flatMap(({ message }) => partOf(message) ?? [])
      .filter((part) => !without.has(part));
    if (unknown.length > 0 && reductions < MAX_REDUCTIONS) {
      this.#withheld.add(unknown);
      return this.#send(query, signal, reductions + 1);
    }
    const [first] = errors;
    const reason = first === undefined ? null : this.#client.wordsOf(first.message);
    if (first === undefined) throw new UpstreamFailure("malformed", "GraphQL: neither projects nor an error");
    if (/time(d )?-?out/i.test(first.message))
      throw new GaveUp(new UpstreamFailure("unreachable", "GraphQL: the query took too long", { reason }));
    // Too complex, a required field is unknown, or not permitted.
    throw this.#notOffered(new UpstreamFailure("refused", "GraphQL: not the requested projects", { reason }));
  }

  /** The failure in one sentence if it means that the instance offers us no GraphQL; otherwise it says nothing about that. */
  #notOffered(failure: UpstreamFailure): UpstreamFailure {
    const isOurs = ["refused", "gone", "renamed"].includes(failure.kind);
    // After a rejected token nothing can be sent.
    if (!isOurs || !this.#client.quota.isReady({ resource: "core" })) return notOfRepository(failure);
    const { reason } = failure;
    const message = `${this.#settings.name}: this GitLab does not offer us GraphQL, without which its projects are neither found nor refreshed`;
    return new UpstreamFailure("refused", message, { reason });
  }
}

/** The part of our query that is unknown to the instance, according to a validation error. */
function partOf(message: string): OptionalPart | undefined {
  const [, field] =
    /^Field '(\w+)' doesn't exist on type '(?:Project|RepositoryLanguage|Namespace)'/.exec(message) ?? [];
  if (field === "name" || field === "share") return "languages";
  if (field === "avatarUrl") return "namespace";
  const [, argument] = /doesn't accept argument '(\w+)'/.exec(message) ?? [];
  return argument === "archived" ? ARCHIVED_ARGUMENT : OPTIONAL_FIELDS.find((known) => known === field);
}
