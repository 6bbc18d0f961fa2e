import type { FacetKind, SuggestedFacet } from "../discovery/discovery.js";
import {
  catalogueFreshness,
  count,
  facetSortParameter,
  LAST_NUMBERED,
  limitParameter,
  pageOffset,
  pageParameter,
  providerParameter,
  searchText,
  windowParameter,
} from "../discovery/discovery.js";
import { json } from "../http/http.js";
import { z } from "../lib/schema.js";
import type { Modules } from "../modules.js";
import { addressReader } from "../repositories/repositories.js";
import { type CsvColumn, csv, fieldColumns, formatParameter, orCsv } from "./csv.js";
import { linkHeader } from "./lists.js";
import { dataMetaResponse, dataResponse, operation } from "./operation.js";
import {
  facetSchema,
  facetView,
  freshnessFields,
  freshnessView,
  pageMetaSchema,
  repositorySchema,
  repositoryView,
  summarySchema,
  summaryView,
} from "./views.js";

export const getSummary = operation({
  id: "getSummary",
  tags: ["Statistics"],
  summary: "Counters of the catalogue and of each provider",
  responses: { 200: dataResponse("The counters.", summarySchema) },
  handle: async (request) => {
    const { modules, config } = request.services;
    return json({ data: summaryView(await modules.rankings.summary(), config.baseUrl) });
  },
});

const FACET_COLUMNS: readonly CsvColumn<z.output<typeof facetSchema>>[] = [
  { name: "name", isForeign: true, value: ({ name }) => name },
  ...fieldColumns(["repositoryCount", "stars", "starsGained", "measuredCount"]),
];

function facetOperation(id: string, kind: FacetKind, what: string) {
  return operation({
    id,
    tags: ["Facets"],
    summary: `The ${what} of listed repositories, largest first`,
    query: z.object({
      provider: providerParameter.optional(),
      window: windowParameter,
      sort: facetSortParameter,
      limit: limitParameter,
      page: pageParameter.openapi({
        description: "Page number. page × limit may be at most 10,000.",
      }),
      format: formatParameter,
    }),
    responses: {
      200: orCsv(
        dataMetaResponse(`A page of ${what}.`, z.array(facetSchema), pageMetaSchema.extend(freshnessFields)),
        FACET_COLUMNS,
      ),
    },
    handle: async ({ query, http, services }) => {
      const { provider, window, sort, limit, format, page = 1 } = query;
      const offset = pageOffset({ page, limit });
      const { rankings } = services.modules;
      const among = provider === undefined ? {} : { provider };
      const [{ facets, total, totalIsExact }, counters] = await Promise.all([
        rankings.facets({ kind, ...among, window, sort, limit, offset }),
        rankings.counters(),
      ]);
      const { asOf } = catalogueFreshness(counters, provider);
      const hasMore = offset + facets.length < total;
      const isReachable = hasMore && (page + 1) * limit <= LAST_NUMBERED;
      const freshness = freshnessView(asOf, services.clock.now());
      const meta = { page, limit, total, totalIsExact, hasMore, nextCursor: null, ...freshness };
      const next = isReachable ? { nextPage: page + 1 } : {};
      const Link = linkHeader(http, services.config.baseUrl, { ...meta, ...next });
      const data = facets.map(facetView);
      const reply = format === "csv" ? csv(`sidereal-${what}`, FACET_COLUMNS, data) : json({ data, meta });
      return { ...reply, headers: { ...reply.headers, Link } };
    },
  });
}

export const listLanguages = facetOperation("listLanguages", "language", "languages");
export const listTopics = facetOperation("listTopics", "topic", "topics");

const suggestedSchema = z.object({ name: z.string(), repositoryCount: z.int() }).openapi("SuggestedFacet");

function suggestedView({ name, repositories }: SuggestedFacet): z.output<typeof suggestedSchema> {
  return { name, repositoryCount: repositories };
}

/** The repository whose address a text is: tracked under this name, or under a later one, or not tracked. */
async function addressed({ forges, catalog, trackRequests }: Modules, text: string) {
  const named = text.includes("/") ? addressReader(await forges.current())(text) : { problem: "a name" };
  if ("problem" in named) return { untracked: null };
  const { provider, fullName } = named;
  const known = await trackRequests.known(named);
  const found = known === undefined ? await catalog.findByName(provider, fullName) : undefined;
  const renamed = found?.isPreviousName ? { id: found.repository.id, from: fullName } : undefined;
  return { known, renamed, untracked: known === undefined ? { provider, fullName } : null };
}

export const suggest = operation({
  id: "suggest",
  tags: ["Search"],
  summary: "Suggest repositories, languages and topics for a partial name",
  description:
    "Matches prefixes of a name, an owner, owner/name, or a word inside a name. Exact names first, then by fit and popularity. If nothing matches, one typing error in a word is corrected.",
  query: z.object({
    q: searchText(200).default("").openapi({ description: "Empty: the most popular." }),
    limit: count(1, 20).default(8).openapi({ description: "Maximum number of each kind.", default: 8 }),
  }),
  responses: {
    200: dataResponse(
      "Suggestions of each kind.",
      z.object({
        repositories: z.array(
          repositorySchema
            .pick({
              id: true,
              provider: true,
              fullName: true,
              description: true,
              language: true,
              stars: true,
              lastSeenAt: true,
              stale: true,
            })
            .extend({
              starsDelta7d: z.int().nullable(),
              renamedFrom: z
                .string()
                .nullable()
                .openapi({ description: "The text, if it is an earlier name of this one." }),
              ownerImage: z
                .string()
                .nullable()
                .openapi({ description: "Path of the image of its owner, below the base URL." }),
            }),
        ),
        untracked: z
          .object({ provider: z.string(), fullName: z.string() })
          .nullable()
          .openapi({ description: "The repository that the text is the address of, if it is not tracked." }),
        languages: z.array(suggestedSchema),
        topics: z.array(suggestedSchema),
      }),
    ),
  },
  handle: async (request) => {
    const { q, limit } = request.query;
    const { search, lists, avatars } = request.services.modules;
    const [found, { languages, topics }, { known, untracked, renamed }, imageOf] = await Promise.all([
      search.suggestIds(q, limit),
      search.suggestFacets(q, limit),
      addressed(request.services.modules, q),
      avatars.finder(),
    ]);
    const first = known ?? renamed;
    const ids = first === undefined ? found : [...new Set([first.id, ...found])].slice(0, limit);
    const rows = await lists.rows(ids, "7d");
    const data = {
      repositories: rows.map((row) => {
        const { id, provider, fullName, description, language, stars, lastSeenAt, stale } =
          repositoryView(row);
        const shown = { id, provider, fullName, description, language, stars, lastSeenAt, stale };
        const version = imageOf(provider, row.repository.owner);
        return {
          ...shown,
          starsDelta7d: row.trend?.starsDelta ?? null,
          renamedFrom: id === String(renamed?.id) ? (renamed?.from ?? null) : null,
          ownerImage: version === undefined ? null : `/avatars/${version}`,
        };
      }),
      untracked,
      languages: languages.map(suggestedView),
      topics: topics.map(suggestedView),
    };
    return json({ data });
  },
});
