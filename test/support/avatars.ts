import type { Database } from "../../src/database/database.js";
import type { Owner } from "../../src/tracking/avatars/store.js";

/** Later than any time of these tests. */
const LEASED_UNTIL = Date.UTC(2100, 0, 1);

/** Claims the avatar of an owner whenever it is due, for tests that only want its result to be stored. */
export async function leaseAvatar(
  { write }: Database,
  owner: Owner,
): Promise<Owner & { leasedUntil: number }> {
  await write
    .updateTable("avatars")
    .set({ next_at: LEASED_UNTIL })
    .where("provider", "=", owner.provider)
    .where("owner_key", "=", owner.owner.toLowerCase())
    .execute();
  return { ...owner, leasedUntil: LEASED_UNTIL };
}
