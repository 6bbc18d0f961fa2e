import { similarTo } from "./compared-names.js";
import type { NotAdded } from "./components/add-repository.js";
import { readName } from "./naming.js";
import type { PageRequest } from "./page-request.js";
import { offerTracking } from "./tracking-offer.js";

/** What may be meant by a name that is not tracked. */
export async function notAdded(request: PageRequest, written: string): Promise<NotAdded> {
  const [similar, offers] = await Promise.all([
    similarTo(request.modules, readName(written)?.fullNames[0] ?? written),
    offerTracking(request, [written]),
  ]);
  return { written, similar: written.trim() === "" ? [] : similar, offers };
}
