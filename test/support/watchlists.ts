import assert from "node:assert/strict";
import { type Answer, daily, observation, type World } from "./world.js";

/** Three repositories to put on lists, and as many others as make a list full. */
export const LISTED = [
  observation("a/one", daily(1, 2)),
  observation("b/two", daily(3, 4)),
  observation("c/three", daily(5, 6)),
  ...Array.from({ length: 497 }, (_, i) => observation(`more/r${i}`)),
];

/** The ids from one number to another, both included. */
export const idsFrom = (from: number, to: number): string[] =>
  Array.from({ length: to - from + 1 }, (_, i) => String(from + i));

/** What a token gets that is malformed, unknown or removed. */
export const NO_LIST = {
  status: 404,
  code: "NOT_FOUND",
  message: "No watchlist has this token.",
};

/** What a token gets that only reads, when it is used for a change. */
export const READS_ONLY = {
  status: 403,
  code: "FORBIDDEN",
  message: "This token can only read the watchlist. Use the token it was created with to change it.",
};

/** Makes a list and gives both its tokens. */
export async function createList(
  world: World,
  body: unknown = {},
): Promise<{ token: string; shareToken: string }> {
  const answer = await world.send("POST", "/api/watchlists", body);
  assert.equal(answer.status, 201, JSON.stringify(answer.body));
  return answer.body.data;
}

/** Every request that changes a list. */
export function changes(
  world: World,
  token: string,
  headers: Record<string, string> = {},
): Promise<Answer[]> {
  const path = `/api/watchlists/${token}`;
  return Promise.all([
    world.send("PATCH", path, { name: "New" }, headers),
    world.send("POST", `${path}/items`, { repositoryId: "3" }, headers),
    world.send("POST", `${path}/removals`, { ids: ["1"] }, headers),
    world.send("DELETE", `${path}/items/1`, undefined, headers),
    world.send("DELETE", `${path}/items`, undefined, headers),
    world.send("DELETE", path, undefined, headers),
  ]);
}

/** Every request that reads a list. */
export function reads(world: World, token: string): Promise<Answer[]> {
  return Promise.all(
    ["", "/repositories", "/metrics"].map((rest) => world.get(`/api/watchlists/${token}${rest}`)),
  );
}
