import { sql } from "kysely";
import type { Database } from "../database/database.js";

/** Names read at most; a catalogue has a few hundred. */
const MAX_NAMES = 1_000;

/**
 * The licenses of available repositories as the catalogue spells them, by name. Costs one step in an index for each name, at most
 * 1,000, whatever the size of the catalogue.
 */
export async function readLicenseNames({ read }: Pick<Database, "read">): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`with recursive names(name) as (
      select (select min(license) from repositories where availability = 'AVAILABLE')
      union all
      select (select license from repositories where availability = 'AVAILABLE' and license > names.name
        order by license limit 1)
      from names where names.name is not null)
    select name from names where name is not null limit ${MAX_NAMES}`.execute(read);
  return rows.map(({ name }) => name);
}

/** A license without the case of its letters. */
export function foldedLicense(license: string): string {
  return license.toLowerCase();
}

/** The spellings of a license among these names; the license itself without any. */
export function spellingsOf(license: string, names: readonly string[]): string[] {
  const found = names.filter((name) => foldedLicense(name) === foldedLicense(license));
  return found.length === 0 ? [license] : found;
}
