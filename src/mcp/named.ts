/** The argument by which all tools take repositories: as ids, names or addresses. */
import { type Named, renamedView } from "../api/api.js";
import { findMeant, readName, type WrittenName } from "../discovery/discovery.js";
import { AppError } from "../lib/errors.js";
import { z } from "../lib/schema.js";
import type { Modules } from "../modules.js";
import { repositoryId } from "../repositories/repositories.js";
import { foreignText } from "./text.js";

const FORMS = "an id, owner/name, provider:owner/name or the address of a page";

/** Characters of a wrong value in an error. */
const SHOWN = 100;

/** A repository as an argument names it. */
interface Given {
  text: string;
  meant: { id: number } | WrittenName;
}

/** The argument `repositories`: a list, or a single one. */
export function repositoriesArgument(least: number, most: number) {
  const rule = `must be ${least} to ${most} repositories, each ${FORMS}`;
  return z
    .union([z.string(), z.array(z.string())], rule)
    .transform((values, context) => {
      const given = [values].flat().flatMap((text): Given[] => {
        const id = repositoryId(text.trim());
        const meant = id === undefined ? readName(text) : { id };
        if (meant !== undefined) return [{ text, meant }];
        const message = `must each be ${FORMS}, unlike ${JSON.stringify(foreignText(text, SHOWN) ?? "")}`;
        context.addIssue({ code: "custom", message });
        return [];
      });
      if (given.length < least || given.length > most) context.addIssue({ code: "custom", message: rule });
      return given;
    })
    .openapi({
      type: "array",
      minItems: least,
      maxItems: most,
      items: { type: "string", example: "github:facebook/react" },
      description: `Each ${FORMS}. Previous names work too.`,
    });
}

/** The repositories that an argument names, each once. Throws NOT_FOUND, naming those that are not tracked. */
export async function findNamed(modules: Modules, given: readonly Given[]): Promise<Named[]> {
  const { found, missing } = await findSome(modules, given);
  if (missing.length > 0) throw new AppError("NOT_FOUND", missingText(missing));
  return found;
}

/** The same, with those that are not tracked. Throws NOT_FOUND if none is. */
export async function findSome(
  modules: Modules,
  given: readonly Given[],
): Promise<{ found: Named[]; missing: string[] }> {
  const { catalog } = modules;
  const ids = given.map(({ meant }) => ("id" in meant ? meant.id : 0));
  const names = given.map(({ meant }) => ("id" in meant ? undefined : meant));
  const [byName, joined] = await Promise.all([
    findMeant(modules, names),
    catalog.renamedTo(ids.filter((id) => id > 0)),
  ]);
  const found = ids.map((id, i) => byName[i] ?? joined.get(id) ?? { id, renamedFrom: undefined });
  const byId = new Map(found.map((one) => [one.id, one]));
  const repositories = await catalog.findMany([...byId.keys()]);
  const known = new Set(repositories.map(({ id }) => id));
  const missing = given
    .filter((_, i) => !known.has(found[i]?.id ?? 0))
    .map(({ text }) => foreignText(text, SHOWN) ?? "");
  if (repositories.length === 0 && missing.length > 0) throw new AppError("NOT_FOUND", missingText(missing));
  return {
    found: repositories.map((one) => ({ ...one, ...renamedView(byId.get(one.id)?.renamedFrom) })),
    missing,
  };
}

function missingText(missing: readonly string[]): string {
  return `Not tracked here: ${missing.join(", ")}. Find names with search_repositories.`;
}

export const missingOutput = {
  missing: z.array(z.string()).describe("Not tracked here."),
};
