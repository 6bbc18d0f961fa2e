import { type ListQuery, listPage, listQuery, type Sort } from "../discovery/discovery.js";
import type { HttpRequest, Reply } from "../http/http.js";
import { z } from "../lib/schema.js";
import { formatParameter, orCsv, REPOSITORY_COLUMNS } from "./csv.js";
import { namedRepositories } from "./named-repositories.js";
import { type ApiServices, dataMetaResponse, operation } from "./operation.js";
import { namedParameters } from "./references.js";
import { repositoryPage } from "./repository-list.js";
import { repositoryPageMetaSchema, repositorySchema } from "./views.js";

const withFormat = { format: formatParameter };

const responses = {
  200: orCsv(
    dataMetaResponse("A page of repositories.", z.array(repositorySchema), repositoryPageMetaSchema),
    REPOSITORY_COLUMNS,
  ),
};

interface ListRequest {
  services: ApiServices;
  http: HttpRequest;
  query: ListQuery & { format: "json" | "csv" };
  /** Name of the CSV file. */
  file: string;
}

async function pageOf({ services, http, query, file }: ListRequest): Promise<Reply> {
  const page = await listPage(services.modules, query);
  return repositoryPage(page, {
    http,
    baseUrl: services.config.baseUrl,
    query,
    now: services.clock.now(),
    file,
  });
}

export const listRepositories = operation({
  id: "listRepositories",
  tags: ["Repositories"],
  summary: "List repositories, filtered, searched and sorted",
  description:
    "Sorts by growth contain only repositories that have a trend in the window. A search sorted by anything but relevance covers its 10,000 best matches.",
  query: listQuery.extend({ ...namedParameters, ...withFormat }),
  responses,
  handle: ({ services, http, query }) => {
    const file = "sidereal-repositories";
    return query.id === undefined && query.fullName === undefined
      ? pageOf({ services, http, query, file })
      : namedRepositories({ services, http, query, file });
  },
});

interface Ranking {
  id: string;
  sort: Sort;
  summary: string;
  /** Name of the CSV file. */
  file: string;
}

/** A list with a fixed sort; all other parameters are those of /api/repos. */
function ranking({ id, sort, summary, file }: Ranking) {
  return operation({
    id,
    tags: ["Rankings"],
    summary,
    description: `The same list as /api/repos?sort=${sort}. See the documentation of the scores; explain=true in the detail of a repository explains its own scores.`,
    query: listQuery.omit({ sort: true }).extend(withFormat),
    responses,
    handle: ({ services, http, query }) => pageOf({ services, http, query: { ...query, sort }, file }),
  });
}

export const listTrending = ranking({
  id: "listTrending",
  sort: "trending",
  summary: "More stars than usual",
  file: "sidereal-trending",
});

export const listRising = ranking({
  id: "listRising",
  sort: "rising",
  summary: "Fast growth relative to size",
  file: "sidereal-rising",
});

export const listNewHot = ranking({
  id: "listNewHot",
  sort: "new-hot",
  summary: "Repositories younger than 90 days with early momentum",
  file: "sidereal-new-hot",
});

export const listForkGrowth = ranking({
  id: "listForkGrowth",
  sort: "fork-growth",
  summary: "Fast growth in forks relative to size, confirmed by stars",
  file: "sidereal-fork-growth",
});
