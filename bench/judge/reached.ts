/** The rankings that campaigns reach. */
import type { JudgedCampaign } from "./added.js";
import type { Archive } from "./archive.js";
import { boardsAt, type DayBoards, enteredLists, type List } from "./boards.js";

/** Days after the last stars of a campaign on which it is looked for: until the longest window has passed. */
const RANKED_DAYS = 31;

/** A place in a top 25, and the days since the campaign became visible. */
export interface Reached {
  list: List;
  day: number;
}

/** The places that campaigns reach, each alone among all real repositories of the day. */
export function placesOf(
  archive: Archive,
  campaigns: readonly JudgedCampaign[],
): Map<JudgedCampaign, Reached[]> {
  const boards = new Map<number, DayBoards>();
  const reached = new Map<JudgedCampaign, Reached[]>();
  for (const one of campaigns) {
    const { track, start } = one.place;
    const end = Math.min(track.readings.length, start + one.campaign.days + RANKED_DAYS);
    for (let index = start; index < end; index++) {
      const at = track.readings.at(index);
      const board = boards.get(at) ?? boardsAt(archive, at);
      boards.set(at, board);
      for (const list of enteredLists(board, { track, index, source: archive.source })) {
        const own = reached.get(one) ?? [];
        reached.set(one, [...own, { list, day: index - start - one.campaign.visible }]);
      }
    }
  }
  return reached;
}
