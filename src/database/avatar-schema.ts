/** The table of `avatars`. Times are in ms since 1970. */

/** The avatar of an owner that is or was on a list. */
export interface AvatarTable {
  provider: string;
  /** The owner in small letters. */
  owner_key: string;
  owner: string;
  /** Where its image is, as its forge reported it; null: not yet. */
  address: string | null;
  /** Changes with the image; null: none. */
  version: string | null;
  png: Uint8Array | null;
  /** When it is to be requested. */
  next_at: number;
  /** When its owner was last on a list. */
  wanted_at: number;
}
