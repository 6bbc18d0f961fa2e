import { providerName, providerOfHost, splitFullName } from "../catalog/catalog.js";
import type { Modules } from "../modules.js";

/** A repository as somebody wrote it: by `owner/name`, with a provider before it, or by an address. */
interface WrittenName {
  fullName: string;
  /** Undefined: whichever has it. */
  provider: string | undefined;
}

/** Reads one name. Undefined for a text that cannot be one, or an address of a forge that is not known by its host. */
export function readName(text: string): WrittenName | undefined {
  const address = /^(?:https?:\/\/|ssh:\/\/git@|git@)([^/:\s]+)[/:]([^?#]+)/i.exec(text);
  if (address !== null) {
    const provider = providerOfHost(address[1] ?? "");
    // GitLab has groups in groups, and parts its own pages by "-".
    const path =
      (address[2] ?? "")
        .split("/-/")[0]
        ?.replace(/\/+$/, "")
        .replace(/\.git$/, "") ?? "";
    const fullName =
      provider === "GITLAB"
        ? path
        : path
            .split("/")
            .slice(0, 2)
            .join("/")
            .replace(/\.git$/, "");
    return provider === undefined || splitFullName(fullName) === undefined
      ? undefined
      : { provider, fullName };
  }
  const [, prefix, fullName = ""] = /^(?:([A-Za-z][\w]{0,31}):)?(.+)$/.exec(text) ?? [];
  if (splitFullName(fullName) === undefined) return undefined;
  return { fullName, provider: prefix === undefined ? undefined : providerName(prefix) };
}

/** The repositories that the lines name, once each, and the lines that name none. Empty lines are passed over. */
export async function findNamed(
  { catalog, rankings }: Pick<Modules, "catalog" | "rankings">,
  lines: readonly string[],
): Promise<{ ids: number[]; unknown: string[] }> {
  const { providers } = await rankings.summary();
  const all = providers.toSorted((a, b) => b.repositories - a.repositories).map(({ provider }) => provider);
  const ids = new Set<number>();
  const unknown: string[] = [];
  for (const line of lines.map((text) => text.trim()).filter((text) => text !== "")) {
    const name = readName(line);
    const id = name === undefined ? undefined : await idOf(catalog, name, all);
    if (id === undefined) unknown.push(line);
    else ids.add(id);
  }
  return { ids: [...ids], unknown };
}

async function idOf(
  catalog: Modules["catalog"],
  { fullName, provider }: WrittenName,
  all: readonly string[],
): Promise<number | undefined> {
  for (const one of provider === undefined ? all : [provider]) {
    const found = await catalog.findByName(one, fullName);
    if (found !== undefined) return found.repository.id;
  }
  return undefined;
}
