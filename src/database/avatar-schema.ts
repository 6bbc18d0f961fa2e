/** The tables of `avatars`. Times are in ms since 1970. */

/** The avatar of an owner that is or was on a list. */
export interface AvatarTable {
  provider: string;
  /** The owner in small letters. */
  owner_key: string;
  owner: string;
  /** Where its image is, as its forge reported it; null: not yet. */
  address: string | null;
  /** Its image in `avatar_images`; null: none. */
  version: string | null;
  /** Size of the image. */
  bytes: number;
  /** ETag of the last response. */
  etag: string | null;
  /** When it is due, or when a worker's lease on it ends. */
  next_at: number;
  /** Consecutive failed requests. */
  failures: number;
  /** Why there is no newer image, or none; null: no reason. */
  problem: string | null;
  /** When its owner was last on a list. */
  wanted_at: number;
  /** Position of its owner in the order of the lists, from 0; that of an owner on no list is behind all others. */
  position: number;
  /** When `version` last changed. */
  changed_at: number;
}

/** A served image. Owners with equal images share it. */
export interface AvatarImageTable {
  /** The beginning of the SHA-256 of its bytes, in hexadecimal. */
  version: string;
  png: Uint8Array;
}
