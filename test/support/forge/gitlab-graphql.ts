import {
  buildSchema,
  type DocumentNode,
  execute,
  GraphQLError,
  type GraphQLSchema,
  Kind,
  parse,
  type SelectionSetNode,
  validate,
} from "graphql";
import { z } from "zod";
import { groupAvatar } from "./avatars.js";
import type { ForgeRepository } from "./catalogue.js";
import { Listing } from "./listing.js";
import { type ForgeRequest, type ForgeResponse, isShownTo, json, type Site } from "./responses.js";

/** What an instance's GraphQL API offers; older versions lack fields and arguments. */
export interface GitlabGraphql {
  /** `signed-in`: only with a token. */
  offered: "all" | "signed-in" | "none";
  /** Fields of Project that are unknown; `archived:` is the argument, without which archived projects are included. */
  lacks: readonly string[];
}

/** Documented fields of Project that a client may want, with their types. */
const FIELDS = {
  id: "ID!",
  fullPath: "ID!",
  path: "String!",
  name: "String!",
  nameWithNamespace: "String!",
  description: "String",
  topics: "[String!]",
  webUrl: "String",
  forksCount: "Int!",
  starCount: "Int!",
  createdAt: "Time",
  updatedAt: "Time",
  lastActivityAt: "Time",
  markedForDeletionOn: "Time",
  archived: "Boolean",
  visibility: "String",
  openIssuesCount: "Int",
  openMergeRequestsCount: "Int",
  isForked: "Boolean!",
  languages: "[RepositoryLanguage!]",
  namespace: "Namespace",
};
/** Fields that cost one more, as they read from the repository's files. */
const CALLS_GITALY = new Set(["forksCount", "languages"]);

const schemas = new Map<string, GraphQLSchema>();

/** The supported part of the schema without what an older version lacks. */
export function gitlabSchema(lacks: readonly string[] = []): GraphQLSchema {
  const key = lacks.join();
  const known = schemas.get(key);
  if (known !== undefined) return known;
  const fields = Object.entries(FIELDS).flatMap(([name, type]) =>
    lacks.includes(name) ? [] : [`${name}: ${type}`],
  );
  const archived = lacks.includes("archived:") ? "" : "archived: ProjectArchived";
  const schema = buildSchema(`
    scalar Time
    scalar Color
    enum ProjectArchived { ONLY INCLUDE EXCLUDE }
    type RepositoryLanguage { name: String! share: Float color: Color }
    type Namespace { fullPath: ID! ${lacks.includes("avatarUrl") ? "" : "avatarUrl: String"} }
    type PageInfo { hasNextPage: Boolean! hasPreviousPage: Boolean! startCursor: String endCursor: String }
    type Project { ${fields.join(" ")} }
    type ProjectConnection { count: Int! nodes: [Project] pageInfo: PageInfo! }
    type Query {
      projects(ids: [ID!], sort: String = "id_desc", ${archived}, after: String, before: String, first: Int, last: Int): ProjectConnection
    }
  `);
  schemas.set(key, schema);
  return schema;
}

const MAX_ROWS = 100;
const MAX_VALIDATION_ERRORS = 5;
const MAX_QUERY = 10_000;

const requestSchema = z.object({
  query: z.string().max(MAX_QUERY),
  variables: z.record(z.string(), z.unknown()).nullable().catch(null),
});
const argumentsSchema = z.object({
  ids: z.array(z.string()).nullish(),
  sort: z.string(),
  after: z.string().nullish(),
  first: z.number().nullish(),
  archived: z.enum(["ONLY", "INCLUDE", "EXCLUDE"]).nullish(),
});
const cursorSchema = z.object({ star_count: z.coerce.number().optional(), id: z.coerce.number() });

/** Handles a query. Like on GitLab, errors within a query have status 200. */
export function handleGitlabGraphql(site: Site, request: ForgeRequest): ForgeResponse {
  const { offered, lacks } = site.gitlabGraphql;
  if (offered === "none" || request.method !== "POST") return json(404, { error: "404 Not Found" });
  if (offered === "signed-in" && request.token === null)
    return json(403, { errors: [{ message: "Forbidden" }] });
  const asked = requestSchema.safeParse(parsed(request.body)).data;
  if (asked === undefined) return json(400, { errors: [{ message: "Unexpected end of document" }] });
  const schema = gitlabSchema(lacks);
  let document: DocumentNode;
  try {
    document = parse(asked.query);
  } catch (error) {
    return json(200, { errors: [{ message: String(error) }] });
  }
  const wrong = validate(schema, document);
  if (wrong.length > 0) return json(200, { errors: wrong.slice(0, MAX_VALIDATION_ERRORS).map(inRuby) });
  const most = request.token === null ? 200 : 250;
  const complexity = complexityOf(document, asked.variables ?? {});
  if (complexity > most) {
    const message = `Query has complexity of ${complexity}, which exceeds max complexity of ${most}`;
    return json(200, { errors: [{ message }] });
  }
  const counted = { repositories: 0 };
  const rootValue = { projects: (values: unknown) => projects(site, request, values, counted) };
  const result = execute({ schema, document, rootValue, variableValues: asked.variables });
  if (result instanceof Promise) throw new Error("a field was answered late");
  return json(200, result, {}, counted.repositories);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** A validation error in the words of GitLab's library. */
function inRuby({ message }: GraphQLError) {
  const [, field, type] = /^Cannot query field "(\w+)" on type "(\w+)"/.exec(message) ?? [];
  if (field !== undefined) {
    return {
      message: `Field '${field}' doesn't exist on type '${type}'`,
      path: ["query Projects", "projects", "nodes", field],
      extensions: { code: "undefinedField", typeName: type, fieldName: field },
    };
  }
  const [, argument, of] = /^Unknown argument "(\w+)" on field "Query\.(\w+)"/.exec(message) ?? [];
  if (argument === undefined) return { message };
  return {
    message: `Field '${of}' doesn't accept argument '${argument}'`,
    path: ["query Projects", of, argument],
    extensions: { code: "argumentNotAccepted", name: of, typeName: "Field", argumentName: argument },
  };
}

/** Each field costs one; a list by a resolver costs one more, one for an order, and one per cent more for each row. */
export function complexityOf(document: DocumentNode, variables: Readonly<Record<string, unknown>>): number {
  const cost = (set: SelectionSetNode | undefined): number =>
    (set?.selections ?? []).reduce((sum, selection) => {
      if (selection.kind !== Kind.FIELD) return sum + 1;
      const name = selection.name.value;
      const own = 1 + (CALLS_GITALY.has(name) ? 1 : 0);
      const inner = cost(selection.selectionSet);
      if (name !== "projects") return sum + own + inner;
      const value = (argument: string) => {
        const node = selection.arguments?.find((one) => one.name.value === argument)?.value;
        return node?.kind === Kind.VARIABLE ? variables[node.name.value] : node;
      };
      const limit = Number(
        (selection.arguments?.find((one) => one.name.value === "first")?.value as { value?: string })
          ?.value ?? MAX_ROWS,
      );
      const total = inner + own + (value("sort") === undefined ? 0 : 1);
      return sum + Math.floor(total * (1 + Math.min(MAX_ROWS, limit) * 0.01));
    }, 0);
  return document.definitions.reduce(
    (sum, one) => (one.kind === Kind.OPERATION_DEFINITION ? sum + cost(one.selectionSet) : sum),
    0,
  );
}

/** Private and unknown projects are left out without an error. Pages begin after the values of a cursor. */
function projects(site: Site, request: ForgeRequest, values: unknown, counted: { repositories: number }) {
  const { ids, sort, after, first, archived } = argumentsSchema.parse(values);
  const now = site.clock.now();
  const wanted = ids?.map((id) => {
    const number = Number(/^gid:\/\/gitlab\/Project\/(\d+)$/.exec(id)?.[1]);
    if (Number.isNaN(number)) throw new GraphQLError(`${id} is not a valid GitLab ID.`);
    return number;
  });
  const isByStars = sort === "stars_desc";
  if (!isByStars && sort !== "id_desc") throw new GraphQLError("this order is not implemented");
  const { catalogue } = site;
  const places =
    wanted === undefined
      ? Array.from(new Listing(catalogue, now).byStars)
      : [...new Set(wanted)]
          .filter((id) => catalogue.get(id, now) !== undefined)
          .map((id) => catalogue.place(id));
  const allIds = wanted === undefined ? catalogue.ids() : [];
  const rows = places
    .flatMap((place) => {
      const seen = catalogue.glance(place, now);
      const id = allIds[place] ?? catalogue.atPlace(place, now)?.id ?? 0;
      return seen === null ? [] : [{ place, id, stars: seen.stars }];
    })
    .sort((a, b) => (isByStars ? b.stars - a.stars || b.id - a.id : b.id - a.id));
  const at = after === null || after === undefined ? undefined : readCursor(after);
  const isAfter = ({ stars, id }: { stars: number; id: number }) =>
    at === undefined ||
    (isByStars ? stars < (at.star_count ?? 0) || (stars === at.star_count && id < at.id) : id < at.id);
  const isIncluded = (repository: ForgeRepository) =>
    archived === "INCLUDE" || site.gitlabGraphql.lacks.includes("archived:") || !repository.isArchived;
  const from = rows.filter(isAfter);
  const size = Math.min(MAX_ROWS, first ?? MAX_ROWS);
  const page: { repository: ForgeRepository; id: number; stars: number }[] = [];
  let next = 0;
  for (; next < from.length && page.length < size; next++) {
    const row = from[next];
    const repository = row === undefined ? undefined : site.catalogue.atPlace(row.place, now);
    if (row !== undefined && isShownTo(request, repository) && isIncluded(repository))
      page.push({ repository, id: row.id, stars: row.stars });
  }
  counted.repositories += page.length;
  const last = page.at(-1);
  const cursor = { ...(isByStars && { star_count: String(last?.stars) }), id: String(last?.id) };
  return {
    count: rows.length,
    nodes: page.map(({ repository }) => projectNode(site.url, repository)),
    pageInfo: {
      hasNextPage: next < from.length,
      hasPreviousPage: at !== undefined,
      startCursor: null,
      endCursor: last === undefined ? null : Buffer.from(JSON.stringify(cursor)).toString("base64url"),
    },
  };
}

function readCursor(text: string): z.output<typeof cursorSchema> {
  const read = cursorSchema.safeParse(parsed(Buffer.from(text, "base64url").toString("utf8"))).data;
  if (read === undefined) throw new GraphQLError("Please provide a valid cursor");
  return read;
}

function projectNode(url: string, repository: ForgeRepository) {
  const { id, fullName, name, owner, language } = repository;
  return {
    id: `gid://gitlab/Project/${id}`,
    fullPath: fullName,
    path: name,
    name,
    nameWithNamespace: `${owner.replaceAll("/", " / ")} / ${name}`,
    description: repository.description,
    topics: repository.topics,
    webUrl: `${url}/${fullName}`,
    forksCount: repository.forks,
    starCount: repository.stars,
    createdAt: new Date(repository.createdAt).toISOString(),
    updatedAt: new Date(repository.updatedAt).toISOString(),
    lastActivityAt: new Date(repository.pushedAt).toISOString(),
    markedForDeletionOn: null,
    archived: repository.isArchived,
    visibility: repository.visibility === "members" ? "internal" : "public",
    openIssuesCount: repository.openIssues,
    openMergeRequestsCount: repository.openPullRequests,
    isForked: repository.isFork,
    namespace: { fullPath: owner, avatarUrl: groupAvatar(owner) },
    languages:
      language === null
        ? []
        : [
            { name: "Shell", share: 3.5 },
            { name: language, share: 96.5 },
          ],
  };
}
