/** How processes of this program name themselves to the server; a restore looks for it. */
export const APPLICATION_NAME = "sidereal";

/**
 * Options that connect under a name which begins with `name`. A name in the URL would replace it, so that a restore would not see the
 * connection: it follows in brackets instead.
 */
export function connectionOf(
  url: string,
  name = APPLICATION_NAME,
): { connectionString: string; application_name: string } {
  const [address = "", query = ""] = split(url);
  const parameters = new URLSearchParams(query);
  const own = parameters.get("application_name");
  parameters.delete("application_name");
  return {
    connectionString: parameters.size === 0 ? address : `${address}?${parameters}`,
    application_name: own === null ? name : `${name} (${own})`,
  };
}

function split(url: string): [address: string, query?: string] {
  const at = url.indexOf("?");
  return at < 0 ? [url] : [url.slice(0, at), url.slice(at + 1)];
}
