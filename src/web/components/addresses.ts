/** Addresses with parameters. The paths of pages are in page-addresses.ts. */

/** The address with some parameters changed; `undefined` removes one. Goes back to the first page. */
export function withQuery(
  { pathname, search, searchParams }: URL,
  changes: Readonly<Record<string, string | readonly string[] | undefined>>,
): string {
  let query = "";
  for (const { name, text } of parametersOf(search, searchParams))
    if (name !== "page" && name !== "cursor" && !(name in changes)) query += `&${text}`;
  for (const name in changes) {
    const value = changes[name];
    if (typeof value === "string") query += `&${encode(name)}=${encode(value)}`;
    else for (const one of value ?? []) query += `&${encode(name)}=${encode(one)}`;
  }
  return query === "" ? pathname : `${pathname}?${query.slice(1)}`;
}

/** A parameter of an address: its name, and name and value as they are written. */
interface Parameter {
  name: string;
  text: string;
}

/** The parameters of the address that was read last: a page has a hundred links to itself with one of them changed. */
let latest: { search: string; parameters: readonly Parameter[] } = { search: "", parameters: [] };

function parametersOf(search: string, given: URLSearchParams): readonly Parameter[] {
  if (latest.search !== search) {
    const parameters = [...given].map(([name, value]) => ({
      name,
      text: `${encode(name)}=${encode(value)}`,
    }));
    latest = { search, parameters };
  }
  return latest.parameters;
}

/** As forms write it. */
function encode(text: string): string {
  return /^[\w*.-]*$/.test(text) ? text : new URLSearchParams([["", text]]).toString().slice(1);
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
