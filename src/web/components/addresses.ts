/** Addresses with parameters; those of pages themselves are in page-addresses.ts. */

/** The address with some of its parameters changed; `undefined` leaves one out. Pages begin anew. */
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

/** The canonical address of a page: its path and parameters, whatever the order of the parameters was. */
export function canonicalAddress({ pathname, searchParams }: URL): string {
  const query = new URLSearchParams(searchParams);
  query.sort();
  return query.size === 0 ? pathname : `${pathname}?${query}`;
}

/** An address of ours without its origin. */
export function addressOf({ pathname, search }: URL): string {
  return pathname + search;
}
