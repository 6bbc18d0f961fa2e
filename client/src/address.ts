/** Parameters as callers give them. */
export type Parameters = Readonly<Record<string, unknown>>;

/** The address of a path below a base URL. Throws TypeError for a missing path parameter, or one that would change the path. */
export function addressOf(
  base: URL,
  path: string,
  parameters: { path?: Parameters | undefined; query?: Parameters | undefined },
): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = String(parameters.path?.[name] ?? "");
    // Dots would be resolved even if they were encoded, and an empty segment is another path.
    if (value === "" || value === "." || value === "..")
      throw new TypeError(`The path parameter ${name} cannot be "${value}".`);
    return encodeURIComponent(value);
  });
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters.query ?? {}))
    for (const one of [value].flat()) if (one !== undefined && one !== null) query.append(name, String(one));
  const search = query.size === 0 ? "" : `?${query}`;
  return base.origin + base.pathname.replace(/\/+$/, "") + filled + search;
}
