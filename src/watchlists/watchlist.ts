import { AppError } from "../errors.js";

/** Maximum number of repositories in a list. */
export const MAX_ITEMS = 500;
export const DEFAULT_NAME = "Watchlist";

/**
 * Addresses one list and proves the right to it: a token for a list without an owner, or the account that owns its one list.
 * Every account has a list from the start; it is stored with its first change.
 */
export type WatchlistAccess = { token: string } | { accountId: string };

export interface WatchlistItem {
  repositoryId: number;
  addedAt: number;
}

export interface Watchlist {
  /** 0 for an account that has not saved anything yet: no stored list has this id. Its version and times are 0 too. */
  id: number;
  name: string;
  /** Oldest first. */
  items: WatchlistItem[];
  /** False for access by the share token, which only reads. */
  canEdit: boolean;
  /** Grows with every change. */
  version: number;
  createdAt: number;
  updatedAt: number;
  /** When it is deleted unless somebody opens it before; undefined for the list of an account, which is kept. */
  expiresAt: number | undefined;
}

/** A new list with its tokens, which cannot be read again later. */
export interface CreatedWatchlist {
  watchlist: Watchlist;
  token: string;
  shareToken: string;
}

/** Whether a change may proceed on a list at this version (If-Match). */
export type Precondition = (version: number) => boolean;

/** Thrown when a list is to hold repositories that do not exist. Nothing has been changed then. */
export class UnknownRepositories extends AppError {
  /** Indexes of their ids in the list passed in. */
  readonly indexes: readonly number[];

  constructor(indexes: readonly number[]) {
    super("VALIDATION_FAILED", "no repository has this id");
    this.indexes = indexes;
  }
}
