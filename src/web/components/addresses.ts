/** Addresses with parameters. The paths of pages are in page-addresses.ts. */

/** The address with some parameters changed; `undefined` removes one. Goes back to the first page. */
export function withQuery(
  { pathname, searchParams }: URL,
  changes: Readonly<Record<string, string | readonly string[] | undefined>>,
): string {
  const query = new URLSearchParams(searchParams);
  for (const [name, value] of Object.entries({ page: undefined, cursor: undefined, ...changes })) {
    query.delete(name);
    for (const one of value === undefined ? [] : [value].flat()) query.append(name, one);
  }
  return query.size === 0 ? pathname : `${pathname}?${query}`;
}

/** The canonical address of a page: its parameters are sorted. */
export function canonicalAddress({ pathname, searchParams }: URL): string {
  const query = new URLSearchParams(searchParams);
  query.sort();
  return query.size === 0 ? pathname : `${pathname}?${query}`;
}

/** Path and query of an address. */
export function addressOf({ pathname, search }: URL): string {
  return pathname + search;
}
