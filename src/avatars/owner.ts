/** Who an avatar belongs to. */
export interface Owner {
  provider: string;
  owner: string;
}

/** The owner in small letters, as in `owner_key`: forges ignore case in the names of owners. */
export const ownerKey = (owner: string): string => owner.toLowerCase();

/** Identifies an owner among those of all providers: no name contains a space. */
export const keyOf = ({ provider, owner }: Owner): string => `${provider} ${ownerKey(owner)}`;
