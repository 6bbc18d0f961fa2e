/** The fields of a repository as the API of Sidereal names them, for the servers that it is compared with. */

/** How a server turns values of its rows into values of the API. */
export interface Conversions<Value> {
  fullName(): unknown;
  topics(value: Value): unknown;
  flag(value: Value): unknown;
  time(value: Value): string | null;
}

export function repositoryFields<Value>(
  row: Readonly<Record<string, Value>>,
  { fullName, topics, flag, time }: Conversions<Value | undefined>,
) {
  return {
    id: String(row.id),
    provider: row.provider,
    owner: row.owner,
    name: row.name,
    fullName: fullName(),
    url: row.url,
    description: row.description,
    homepage: row.homepage,
    language: row.language,
    license: row.license,
    topics: topics(row.topics),
    stars: row.stars,
    forks: row.forks,
    openIssues: row.open_issues,
    watchers: row.watchers,
    fork: flag(row.fork),
    archived: flag(row.archived),
    availability: row.availability,
    createdAt: time(row.created_at),
    pushedAt: time(row.pushed_at),
    discoveredAt: time(row.discovered_at),
    refreshedAt: time(row.refreshed_at),
    nextRefreshAt: time(row.next_refresh_at),
  };
}
